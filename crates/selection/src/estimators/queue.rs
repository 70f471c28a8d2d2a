//! Queue at the bottleneck, size of its buffer, and random losses.

use super::buffer::{BufferEstimator, Queued};
use units::{Duration, Instant};

use crate::estimate::Estimate;
use crate::sample::Sample;

/// Share of the longest queue below which a loss is not the buffer's. A drop-tail buffer is at least as large as the
/// longest queue that it held. An estimate of the queue is right to within a third.
const SHORT: f64 = 0.5;
/// Share of the RTT without a queue by which the RTT must exceed it for a loss to be the buffer's.
const NO_QUEUE: f64 = 0.1;
/// Number of smoothed RTTs for which losses belong to the same overflow. One is to notice it, one for the data in
/// flight, one for retransmissions that were lost.
const EPISODE: u64 = 3;
/// Number of segments after which the estimate of the loss rate has a confidence of 0.5. No loss in 3000 segments
/// excludes a rate of 0.1 % at 95 % (the rule of three).
const TELLING: f64 = 3_000.0;
/// Number of segments after which past segments count half.
const FORGOTTEN: f64 = 100_000.0;

/// Estimator of queue, buffer and random losses.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueEstimator {
    /// RTT above that without a queue, relative to it.
    excess: f64,
    queue: f64,
    /// Longest queue of the last one or two RTTs, and its time.
    recent: (f64, Instant),
    longest: f64,
    buffer: BufferEstimator,
    /// Longest queue at which segments were lost, and how often that was.
    max_queue_at_loss: f64,
    overflows: u32,
    overflowing_until: Instant,
    lost_at_random: f64,
    sent: f64,
    /// Segments delivered and retransmitted until the sample before.
    counts: Option<(u64, u64)>,
}

impl QueueEstimator {
    /// Takes the next sample; `rate` is in segments per second, `floor` is the RTT without a queue in s. Losses in an
    /// `outage` are neither random nor those of a full buffer. `noise` is the deviation of the RTT of single packets, s,
    /// and the relative one of the capacity.
    pub(super) fn observe(
        &mut self,
        sample: &Sample<'_>,
        rate: f64,
        floor: f64,
        noise: (f64, f64),
        outage: bool,
    ) {
        let floor = floor.min(sample.srtt.as_secs_f64()).max(1e-6);
        let waiting = sample.srtt.as_secs_f64() - floor;
        self.excess = waiting / floor;
        // The queue cannot hold more than is in flight.
        self.queue = (rate * waiting).min(f64::from(sample.sender.inflight));
        if self.queue >= self.recent.0 || sample.at > self.recent.1 + sample.srtt * 2 {
            self.recent = (self.queue, sample.at);
        }
        let counts = (sample.sender.delivered, sample.sender.retransmissions);
        let Some((delivered, retransmissions)) = self.counts.replace(counts) else {
            return;
        };
        self.sent += counts.0.saturating_sub(delivered) as f64;
        if self.sent > FORGOTTEN {
            self.sent /= 2.0;
            self.lost_at_random /= 2.0;
        }
        let again = counts.1.saturating_sub(retransmissions);
        let queued = Queued {
            queue: self.queue,
            waiting,
            floor,
            jitter: noise.0.max(floor - sample.min_rtt.as_secs_f64()),
            variability: noise.1,
        };
        self.buffer.observe(sample, queued, again, outage);
        if again > 0 && !outage {
            self.lost(sample, again);
        }
        self.longest = self.longest.max(self.queue);
    }

    fn lost(&mut self, sample: &Sample<'_>, again: u64) {
        if sample.at < self.overflowing_until {
            self.max_queue_at_loss = self.max_queue_at_loss.max(self.queue);
            return;
        }
        if self.recent.0 < SHORT * self.longest || self.excess < NO_QUEUE {
            self.lost_at_random += again as f64;
            return;
        }
        self.max_queue_at_loss = self.max_queue_at_loss.max(self.recent.0);
        self.overflows += 1;
        let lasts: Duration = sample.srtt * EPISODE;
        self.overflowing_until = sample.at + lasts;
    }

    /// Returns the estimate of the queue. Its confidence grows with the ratio of the queueing delay to the jitter.
    pub(super) fn queue(&self) -> Estimate<f64> {
        Estimate::new(self.queue, self.excess / (self.excess + NO_QUEUE))
    }

    /// Returns the estimate of the buffer; 0 without confidence before a loss.
    pub(super) fn buffer(&self) -> Estimate<f64> {
        self.buffer.buffer()
    }

    /// Returns the longest queue at which segments were lost, other than in a short queue; the confidence grows with the
    /// number of times. It is the buffer only where the buffer overflowed.
    pub(super) fn loss_queue(&self) -> Estimate<f64> {
        let overflows = f64::from(self.overflows);
        Estimate::new(self.max_queue_at_loss, overflows / (overflows + 1.0))
    }

    pub(super) fn random_loss(&self) -> Estimate<f64> {
        let share = (self.lost_at_random / self.sent.max(1.0)).min(1.0);
        Estimate::new(share, self.sent / (self.sent + TELLING))
    }
}
