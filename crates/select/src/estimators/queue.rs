//! What waits at the bottleneck, how much room there is, and what is lost without a queue.

use super::View;
use crate::estimate::Estimate;
use crate::sample::Sample;

/// Losses at less than this share of the longest queue are not the buffer's.
const SHORT: f64 = 0.5;

/// Queue, buffer and random losses.
#[derive(Clone, Debug)]
pub(super) struct QueueEstimator {
    queue: f64,
    longest: f64,
    buffer: f64,
    lost_at_random: u64,
    sent: u64,
}

impl QueueEstimator {
    pub(super) fn new() -> Self {
        Self {
            queue: 0.0,
            longest: 0.0,
            buffer: 0.0,
            lost_at_random: 0,
            sent: 0,
        }
    }

    pub(super) fn observe(&mut self, sample: &Sample, before: Option<&Sample>, view: &View) {
        let rate = view.rate.bits_per_second() as f64 / 8.0 / f64::from(sample.mss.max(1));
        let waiting = (sample.srtt.as_secs_f64() - sample.min_rtt.as_secs_f64()).max(0.0);
        self.queue = rate * waiting;
        self.longest = self.longest.max(self.queue);
        let Some(before) = before else { return };
        self.sent += sample.delivered - before.delivered;
        let again = sample.retransmissions - before.retransmissions;
        if again == 0 {
            return;
        }
        if self.queue < SHORT * self.longest {
            self.lost_at_random += again;
        } else {
            self.buffer = self.buffer.max(self.queue);
        }
    }

    pub(super) fn queue(&self) -> Estimate<f64> {
        Estimate::new(self.queue, 0.5)
    }

    pub(super) fn buffer(&self) -> Estimate<f64> {
        Estimate::new(self.buffer, if self.buffer > 0.0 { 0.8 } else { 0.0 })
    }

    pub(super) fn random_loss(&self) -> Estimate<f64> {
        let share = self.lost_at_random as f64 / self.sent.max(1) as f64;
        Estimate::new(share, (self.sent as f64 / 10_000.0).min(1.0))
    }
}
