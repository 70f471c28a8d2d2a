//! Receive window: estimates whether it limits the connection.

use cca::SenderInfo;

use crate::estimate::Estimate;

/// Number of samples over which the answer is smoothed: a second.
const SMOOTHING_SAMPLES: f64 = 100.0;
/// Share of samples above which the window counts as limiting. A full window shows only between two ACKs.
const LIMITING_SHARE: f64 = 0.5;

/// Smoothed share of samples in which the receive window was full while the congestion window had room.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowEstimator {
    share: f64,
    seen: f64,
}

impl WindowEstimator {
    pub(super) fn observe(&mut self, sender: &SenderInfo) {
        let mss = u64::from(sender.mss);
        let flying = u64::from(sender.inflight) * mss;
        let full = |offered| flying + 2 * mss > offered;
        let allowed = |offered| u64::from(sender.cwnd) * mss > offered;
        let limits = |offered: u64| full(offered) && allowed(offered);
        self.seen = (self.seen + 1.0).min(SMOOTHING_SAMPLES);
        self.share +=
            (f64::from(u8::from(sender.send_window.is_some_and(limits))) - self.share) / self.seen;
    }

    /// Returns the answer of most samples of the last second; the confidence is the degree to which they agree.
    pub(super) fn limited(&self) -> Estimate<bool> {
        let agreed = (2.0 * self.share - 1.0).abs();
        Estimate::new(
            self.share > LIMITING_SHARE,
            agreed * self.seen / SMOOTHING_SAMPLES,
        )
    }
}
