//! Receive window: estimates whether it limits the connection.

use cca::SenderInfo;

use crate::estimate::Estimate;

/// Number of samples over which the share is smoothed: a second.
const SMOOTHING_SAMPLES: f64 = 100.0;
/// Share of samples above which the window counts as limiting. A full window shows only between two ACKs.
const LIMITING_SHARE: f64 = 0.5;

/// Smoothed share of samples in which the receive window was full while the congestion window had room.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowEstimator {
    share: f64,
    /// Number of samples in the share, up to [`SMOOTHING_SAMPLES`].
    samples: f64,
}

impl WindowEstimator {
    pub(super) fn observe(&mut self, sender: &SenderInfo) {
        let mss = u64::from(sender.mss);
        let inflight = u64::from(sender.inflight) * mss;
        let cwnd = u64::from(sender.cwnd) * mss;
        let limits = |window: u64| inflight + 2 * mss > window && cwnd > window;
        let is_limited = sender.send_window.is_some_and(limits);
        self.samples = (self.samples + 1.0).min(SMOOTHING_SAMPLES);
        self.share += (f64::from(u8::from(is_limited)) - self.share) / self.samples;
    }

    /// Returns whether most samples of the last second were limited; the confidence is the degree to which they agree.
    pub(super) fn window_limited(&self) -> Estimate<bool> {
        let agreement = (2.0 * self.share - 1.0).abs();
        Estimate::new(
            self.share > LIMITING_SHARE,
            agreement * self.samples / SMOOTHING_SAMPLES,
        )
    }
}
