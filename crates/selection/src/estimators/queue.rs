//! Queue at the bottleneck, size of its buffer, and random losses.

use super::buffer::{BufferEstimator, OVERFLOW_RTTS, QueueSample};
use units::Instant;

use crate::estimate::Estimate;
use crate::sample::Sample;

/// A loss at a queue below this share of the longest one is no overflow. A drop-tail buffer is at least as large as the
/// longest queue that it held. An estimate of the queue is right to within a third.
const MIN_OVERFLOW_QUEUE: f64 = 0.5;
/// A loss is no overflow if the RTT exceeds the one without a queue by less than this share. At it the confidence in
/// the queue is 0.5.
const MIN_EXCESS_RTT: f64 = 0.1;

/// Number of segments after which the estimate of the loss rate has a confidence of 0.5. No loss in 3000 segments
/// excludes a rate of 0.1 % at 95 % (the rule of three).
const HALF_CONFIDENCE_SEGMENTS: f64 = 3_000.0;
/// Number of segments after which the weight of earlier ones is halved.
const HALVING_SEGMENTS: f64 = 100_000.0;

/// Noise of the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// Standard deviation of the RTT of single packets, s.
    pub(super) rtt_sd_s: f64,
    /// Standard deviation of the capacity, relative to its mean.
    pub(super) capacity_cv: f64,
}

/// Estimator of queue, buffer and random losses.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueEstimator {
    /// Queueing delay relative to the RTT without a queue.
    excess: f64,
    /// Queue, segments; so are the next ones.
    queue: f64,
    /// Longest queue of the last one or two RTTs.
    recent_peak: f64,
    /// Time of that queue.
    recent_peak_at: Instant,
    /// Longest queue so far.
    max_queue: f64,
    pub(super) buffer: BufferEstimator,
    /// Longest queue at a loss that was not random.
    max_queue_at_loss: f64,
    /// Number of overflows.
    overflows: u32,
    overflowing_until: Instant,
    /// Segments lost at random.
    random_losses: f64,
    /// Segments delivered.
    delivered: f64,
    /// Counters of the sender at the last sample.
    last: Option<Counters>,
}

/// Counters of a sender, segments.
#[derive(Clone, Copy, Debug)]
struct Counters {
    delivered: u64,
    retransmissions: u64,
}

impl QueueEstimator {
    /// Adds the next sample; `rate` is in segments per second, `baseline_rtt` is the RTT without a queue in s. Losses in
    /// an outage are neither random nor those of a full buffer.
    pub(super) fn observe(
        &mut self,
        sample: &Sample<'_>,
        rate: f64,
        baseline_rtt: f64,
        noise: Noise,
        is_outage: bool,
    ) {
        let baseline_rtt = baseline_rtt.min(sample.srtt.as_secs_f64()).max(1e-6);
        let queueing_delay = sample.srtt.as_secs_f64() - baseline_rtt;
        self.excess = queueing_delay / baseline_rtt;
        // The queue cannot hold more than is in flight.
        self.queue = (rate * queueing_delay).min(f64::from(sample.sender.inflight));
        if self.queue >= self.recent_peak || sample.at > self.recent_peak_at + sample.srtt * 2 {
            self.recent_peak = self.queue;
            self.recent_peak_at = sample.at;
        }
        let now = Counters {
            delivered: sample.sender.delivered,
            retransmissions: sample.sender.retransmissions,
        };
        let Some(last) = self.last.replace(now) else {
            return;
        };
        self.delivered += now.delivered.saturating_sub(last.delivered) as f64;
        if self.delivered > HALVING_SEGMENTS {
            self.delivered /= 2.0;
            self.random_losses /= 2.0;
        }
        let retransmitted = now.retransmissions.saturating_sub(last.retransmissions);
        let queue_sample = QueueSample {
            segments: self.queue,
            queueing_delay,
            baseline_rtt,
            jitter: noise
                .rtt_sd_s
                .max(baseline_rtt - sample.min_rtt.as_secs_f64()),
            variability: noise.capacity_cv,
        };
        self.buffer
            .observe(sample, queue_sample, retransmitted, is_outage);
        if retransmitted > 0 && !is_outage {
            self.on_loss(sample, retransmitted);
        }
        self.max_queue = self.max_queue.max(self.queue);
    }

    fn on_loss(&mut self, sample: &Sample<'_>, retransmitted: u64) {
        if sample.at < self.overflowing_until {
            self.max_queue_at_loss = self.max_queue_at_loss.max(self.queue);
            return;
        }
        if self.recent_peak < MIN_OVERFLOW_QUEUE * self.max_queue || self.excess < MIN_EXCESS_RTT {
            self.random_losses += retransmitted as f64;
            return;
        }
        self.max_queue_at_loss = self.max_queue_at_loss.max(self.recent_peak);
        self.overflows += 1;
        self.overflowing_until = sample.at + sample.srtt * OVERFLOW_RTTS;
    }

    /// Returns the estimate of the queue. Its confidence grows with the ratio of the queueing delay to the jitter.
    pub(super) fn queue(&self) -> Estimate<f64> {
        Estimate::new(self.queue, self.excess / (self.excess + MIN_EXCESS_RTT))
    }

    /// Returns the longest queue at a loss that was not random; the confidence grows with the number of overflows. It
    /// is the buffer size only if the buffer overflowed.
    pub(super) fn queue_at_loss(&self) -> Estimate<f64> {
        let overflows = f64::from(self.overflows);
        Estimate::new(self.max_queue_at_loss, overflows / (overflows + 1.0))
    }

    pub(super) fn random_loss(&self) -> Estimate<f64> {
        let share = (self.random_losses / self.delivered.max(1.0)).min(1.0);
        Estimate::new(
            share,
            self.delivered / (self.delivered + HALF_CONFIDENCE_SEGMENTS),
        )
    }
}
