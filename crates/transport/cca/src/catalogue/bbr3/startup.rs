//! Startup and Drain (draft-ietf-ccwg-bbr-06 §5.3.1, §5.3.2).

use super::Bbr3;
use super::state::State;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, CaState, Lost, Window};

/// Search for the full bandwidth by acceleration (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// Whether it was ever found (`full_bw_reached`).
    pub(super) reached: bool,
    /// Whether it was found since the current search began (`full_bw_now`).
    pub(super) reached_now: bool,
    /// Bandwidth at its last growth (`full_bw`).
    base: Bandwidth,
    /// Rounds since then (`full_bw_count`).
    rounds: u32,
}

impl FullBandwidth {
    /// `ResetFullBW`: restarts the search at `base`.
    pub(super) fn search_from(&mut self, base: Bandwidth) {
        *self = Self {
            reached: self.reached,
            base,
            ..Self::default()
        };
    }
}

/// Separate ranges of the stream that were lost in the current round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostRanges {
    count: u32,
    /// End of the last range.
    end: u64,
}

impl LostRanges {
    pub(super) fn add(&mut self, lost: &Lost) {
        if self.count == 0 || lost.seq != self.end {
            self.count = self.count.saturating_add(1);
        }
        self.end = lost.end;
    }
}

impl Bbr3 {
    /// `CheckFullBWReached`: `full_bw_count` rounds with samples below `full_bw_thresh` times that of the last growth.
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack) {
        if self.full.reached_now || !self.rounds.is_start || ack.rate.app_limited {
            return;
        }
        let threshold = self.full.base.scaled(Gain::of(self.config.full_bw_thresh));
        if self.sample >= threshold {
            self.full.search_from(self.sample);
            return;
        }
        self.full.rounds += 1;
        self.full.reached_now = self.full.rounds >= self.config.full_bw_count;
        self.full.reached |= self.full.reached_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, window: &mut Window, ack: &Ack) {
        self.check_startup_loss(window, ack);
        if self.loss_round.is_start {
            self.lost_ranges = LostRanges::default();
        }
        if self.state == State::Startup && self.full.reached {
            self.enter_drain(window);
        }
    }

    /// Ends Startup after a round of recovery with more loss than is tolerated, in several ranges (§5.3.1.3).
    /// Such loss shows that the path is full, even if the application limits the samples.
    fn check_startup_loss(&mut self, window: &Window, ack: &Ack) {
        let threshold = self.config.startup_full_loss_count;
        if self.state != State::Startup
            || !self.loss_round.is_start
            || window.state != CaState::Recovery
            || threshold == 0
            || self.lost_ranges.count < threshold
            || !self.is_too_high(ack.rate.lost, ack.rate.tx_in_flight)
        {
            return;
        }
        self.undo.state = Some(State::Startup);
        self.full.reached = true;
        self.bounds.longterm = self.bdp(Gain::ONE).max(self.latest.inflight);
    }

    /// `EnterDrain`.
    pub(super) fn enter_drain(&mut self, window: &mut Window) {
        self.state = State::Drain;
        self.drain_start_round = self.rounds.count;
        self.set_threshold(window);
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, window: &mut Window) {
        let last_round = self.drain_start_round + u64::from(self.config.drain_max_rounds);
        let is_drained = window.inflight <= self.inflight(window, Gain::ONE);
        if self.state == State::Drain && (is_drained || self.rounds.count > last_round) {
            self.start_down(window);
        }
    }
}
