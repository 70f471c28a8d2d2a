//! STARTUP and DRAIN (§4.3.2 and §4.3.3).

use super::Bbr;
use super::mode::Mode;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, Window};

/// Whether start-up has found the bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) reached: bool,
    bandwidth: Bandwidth,
    rounds: u32,
}

impl FullPipe {
    /// It is known that `bandwidth` fills the path.
    pub(super) fn known(bandwidth: Bandwidth) -> Self {
        Self {
            reached: true,
            bandwidth,
            rounds: 0,
        }
    }

    /// A time-out: what comes next is growth again.
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bandwidth::default();
    }

    /// A slow-down was spurious: the search starts anew.
    pub(super) fn forget_search(&mut self) {
        self.forget_bandwidth();
        self.rounds = 0;
    }
}

impl Bbr {
    /// §4.3.2.2: start-up is over when three rounds bring less than a quarter more.
    pub(super) fn check_full(&mut self, ack: &Ack) {
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

    /// §4.3.3: drains until what is in flight fits the path.
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
