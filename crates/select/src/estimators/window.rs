//! Whether the receive window limits.

use crate::estimate::Estimate;
use crate::sample::Sample;

/// Samples over which the answer is smoothed: a second.
const SMOOTHED: f64 = 100.0;
/// Share of samples that belong to the last RTTs, in which a full window shows between two ACKs only.
const HALF: f64 = 0.5;

/// How often the window of the receiver was full while the congestion window had room.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowEstimator {
    share: f64,
    seen: f64,
}

impl WindowEstimator {
    pub(super) fn observe(&mut self, sample: &Sample) {
        let mss = u64::from(sample.mss);
        let flying = u64::from(sample.inflight) * mss;
        let full = flying + 2 * mss > sample.send_window;
        let allowed = u64::from(sample.cwnd) * mss > sample.send_window;
        self.seen = (self.seen + 1.0).min(SMOOTHED);
        self.share += (f64::from(u8::from(full && allowed)) - self.share) / self.seen;
    }

    /// The answer of most samples of the last second, as certain as they agree.
    pub(super) fn limited(&self) -> Estimate<bool> {
        let agreed = (2.0 * self.share - 1.0).abs();
        Estimate::new(self.share > HALF, agreed * self.seen / SMOOTHED)
    }
}
