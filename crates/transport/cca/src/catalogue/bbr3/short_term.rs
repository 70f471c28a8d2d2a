//! Deliveries of the last round, and the short-term bounds that a round with loss sets
//! (draft-ietf-ccwg-bbr-06 §5.5.10.3).

use super::Bbr3;
use super::bounds::{ANY_RATE, UNBOUNDED};
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, Window};

/// Round trips counted by packets (§5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Rounds so far.
    pub(super) count: u64,
    /// Whether the current ACK begins a round (`round_start`).
    pub(super) is_start: bool,
    /// Delivery count at which the current round ends.
    pub(super) end: u64,
}

/// Round that is counted from the first loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRound {
    /// Whether the current ACK ends one such round and begins the next (`loss_round_start`).
    pub(super) is_start: bool,
    /// Whether a segment was marked lost in it (`loss_in_round`).
    pub(super) has_loss: bool,
    /// Delivery count at which it ends (`loss_round_delivered`).
    pub(super) end: u64,
}

/// Best values of one round trip: `bw_latest`, `inflight_latest`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestValues {
    pub(super) rate: Bandwidth,
    pub(super) inflight: u32,
}

impl Bbr3 {
    /// `StartRound`.
    pub(super) fn start_round(&mut self, window: &Window) {
        self.rounds.end = window.delivered;
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, window: &Window, ack: &Ack) {
        self.loss_round.is_start = false;
        let Some(delivered) = ack.rate.delivered else {
            return;
        };
        self.latest.rate = self.latest.rate.max(self.sample);
        self.latest.inflight = self.latest.inflight.max(delivered);
        if ack.rate.prior_delivered >= self.loss_round.end {
            self.loss_round.end = window.delivered;
            self.loss_round.is_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest(&mut self, ack: &Ack) {
        if self.loss_round.is_start {
            self.latest = LatestValues {
                rate: self.sample,
                inflight: ack.rate.delivered.unwrap_or(0),
            };
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_round.has_loss = false;
        self.latest = LatestValues::default();
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, window: &Window, ack: &Ack) {
        self.update_max_bandwidth(window, ack);
        if !self.loss_round.is_start {
            return;
        }
        if self.loss_round.has_loss && !self.state.is_accelerating() {
            self.lower_bounds(window);
        }
        self.loss_round.has_loss = false;
    }

    /// Updates the largest rate (§5.5.5) and counts rounds (§5.5.1).
    fn update_max_bandwidth(&mut self, window: &Window, ack: &Ack) {
        self.rounds.is_start = false;
        if ack.rate.delivered.is_none() || self.sample == Bandwidth::default() {
            return;
        }
        if ack.rate.prior_delivered >= self.rounds.end {
            self.start_round(window);
            self.rounds.count += 1;
            self.rounds_since_up += 1;
            self.rounds.is_start = true;
        }
        if self.sample >= self.max_bandwidth.get() || !ack.rate.app_limited {
            self.max_bandwidth.update(self.sample);
        }
    }

    /// `InitLowerBounds` and `LossLowerBounds`. After a time-out the bound starts from the window before it.
    fn lower_bounds(&mut self, window: &Window) {
        let beta = Gain::of(self.config.beta);
        if self.bounds.rate == ANY_RATE {
            self.bounds.rate = self.max_bandwidth.get();
        }
        if self.bounds.inflight == UNBOUNDED {
            self.bounds.inflight = if window.state.in_recovery() {
                window.cwnd.max(self.prior_cwnd)
            } else {
                window.cwnd
            };
        }
        self.bounds.rate = self.latest.rate.max(self.bounds.rate.scaled(beta));
        self.bounds.inflight = self
            .latest
            .inflight
            .max(beta.of_segments(self.bounds.inflight));
    }
}
