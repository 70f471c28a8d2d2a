//! STARTUP and DRAIN (§4.3.2 and §4.3.3).

use super::Bbr;
use super::mode::Mode;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, Window};

/// Search of Startup for the bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// Whether the path is full (Linux `full_bw_reached`).
    pub(super) reached: bool,
    /// Bandwidth at its last growth (`full_bw`).
    bandwidth: Bandwidth,
    /// Rounds since then (`full_bw_cnt`).
    rounds: u32,
}

impl FullPipe {
    /// Creates a search that has ended: `bandwidth` fills the path.
    pub(super) fn with_bandwidth(bandwidth: Bandwidth) -> Self {
        Self {
            reached: true,
            bandwidth,
            rounds: 0,
        }
    }

    /// Resets the bandwidth after a time-out, because growth follows.
    pub(super) fn reset_bandwidth(&mut self) {
        self.bandwidth = Bandwidth::default();
    }

    /// Restarts the search after a spurious reduction.
    pub(super) fn reset(&mut self) {
        self.reset_bandwidth();
        self.rounds = 0;
    }
}

impl Bbr {
    /// Ends Startup after `full_bw_cnt` rounds with a bandwidth below `full_bw_thresh` times that of the last growth
    /// (§4.3.2.2).
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack) {
        if self.full.reached || !self.round_start || ack.rate.app_limited {
            return;
        }
        let bandwidth = self.max_bandwidth();
        if bandwidth
            >= self
                .full
                .bandwidth
                .scaled(Gain::of(self.config.full_bw_thresh))
        {
            self.full.bandwidth = bandwidth;
            self.full.rounds = 0;
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= self.config.full_bw_cnt;
    }

    /// Enters DRAIN after Startup, and leaves it when the segments in flight fit the path (§4.3.3).
    pub(super) fn check_drain(&mut self, window: &mut Window) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight_target(window, self.max_bandwidth(), Gain::ONE);
        }
        if self.mode == Mode::Drain
            && self.inflight_at_departure(window, window.inflight)
                <= self.inflight_target(window, self.max_bandwidth(), Gain::ONE)
        {
            self.enter_probe_bandwidth(window);
        }
    }
}
