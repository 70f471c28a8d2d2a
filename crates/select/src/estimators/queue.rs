//! What waits at the bottleneck, how much room there is, and what is lost without a queue.

use units::{Duration, Instant};

use crate::estimate::Estimate;
use crate::sample::Sample;

/// Losses at less than this share of the longest queue are not the buffer's: a drop-tail buffer has no less
/// room than what once stood in it, and an estimate of the queue is good to a third.
const SHORT: f64 = 0.5;
/// Nor are losses where the RTT exceeds that without a queue by less than this share of it.
const NO_QUEUE: f64 = 0.1;
/// Smoothed RTTs for which losses belong to the overflow that the first of them told of: one to see it, one
/// for what was in flight, one for what was lost again.
const EPISODE: u64 = 3;
/// Segments sent after which an estimate of their losses is half certain: none lost out of 3000 excludes one
/// in a thousand at 95 % (the rule of three).
const TELLING: f64 = 3_000.0;
/// Segments after which those of the past count half.
const FORGOTTEN: f64 = 100_000.0;

/// Queue, buffer and random losses.
#[derive(Clone, Debug)]
pub(super) struct QueueEstimator {
    /// RTT above that without a queue, over it.
    excess: f64,
    queue: f64,
    /// Longest queue of the last RTT or two, and when it stood.
    recent: (f64, Instant),
    longest: f64,
    buffer: f64,
    overflows: u32,
    overflowing_until: Instant,
    lost_at_random: f64,
    sent: f64,
    /// Segments delivered and sent again until the sample before.
    counts: Option<(u64, u64)>,
}

impl QueueEstimator {
    pub(super) fn new() -> Self {
        Self {
            excess: 0.0,
            queue: 0.0,
            recent: (0.0, Instant::ZERO),
            longest: 0.0,
            buffer: 0.0,
            overflows: 0,
            overflowing_until: Instant::ZERO,
            lost_at_random: 0.0,
            sent: 0.0,
            counts: None,
        }
    }

    /// Takes the next sample; `rate` in segments per second, `floor` the RTT without a queue, s.
    pub(super) fn observe(&mut self, sample: &Sample<'_>, rate: f64, floor: f64) {
        let floor = floor.min(sample.srtt.as_secs_f64()).max(1e-6);
        let waiting = sample.srtt.as_secs_f64() - floor;
        self.excess = waiting / floor;
        // There cannot wait more than is in flight.
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
        if again > 0 {
            self.lost(sample, again);
        }
        self.longest = self.longest.max(self.queue);
    }

    fn lost(&mut self, sample: &Sample<'_>, again: u64) {
        if sample.at < self.overflowing_until {
            self.buffer = self.buffer.max(self.queue);
            return;
        }
        if self.recent.0 < SHORT * self.longest || self.excess < NO_QUEUE {
            self.lost_at_random += again as f64;
            return;
        }
        self.buffer = self.buffer.max(self.recent.0);
        self.overflows += 1;
        let lasts: Duration = sample.srtt * EPISODE;
        self.overflowing_until = sample.at + lasts;
    }

    /// As certain as the delay that it makes stands out of jitter.
    pub(super) fn queue(&self) -> Estimate<f64> {
        Estimate::new(self.queue, self.excess / (self.excess + NO_QUEUE))
    }

    /// The more overflows have agreed, the more certain.
    pub(super) fn buffer(&self) -> Estimate<f64> {
        let overflows = f64::from(self.overflows);
        Estimate::new(self.buffer, overflows / (overflows + 1.0))
    }

    pub(super) fn random_loss(&self) -> Estimate<f64> {
        let share = (self.lost_at_random / self.sent.max(1.0)).min(1.0);
        Estimate::new(share, self.sent / (self.sent + TELLING))
    }
}
