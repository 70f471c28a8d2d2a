//! Long-term bound of the segments in flight: it falls where probing caused too much loss, and rises where it
//! did not (draft-ietf-ccwg-bbr-06 §5.5.10.2, §5.3.3.9).

use super::Bbr3;
use super::bounds::UNBOUNDED;
use super::probe_bw::AckPhase;
use super::state::State;
use crate::bandwidth::Gain;
use crate::{Ack, Lost, Window};

/// Maximum number of rounds for which the growth of the bound doubles.
const MAX_DOUBLINGS: u32 = 30;

/// Growth of the long-term bound while probing: 1, 2, 4 … segments per round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeUpRamp {
    pub(super) rounds: u32,
    pub(super) acked: u32,
    /// Segments to be acknowledged for each segment added to the bound.
    per_segment: u32,
}

impl Bbr3 {
    /// `IsInflightTooHigh`.
    pub(super) fn is_too_high(&self, lost: u32, tx_in_flight: u32) -> bool {
        f64::from(lost) > f64::from(tx_in_flight) * self.config.loss_thresh
    }

    /// `InflightAtLoss`: segments in flight when the losses reached the threshold.
    pub(super) fn inflight_at_loss(&self, lost: &Lost) -> u32 {
        let threshold = self.config.loss_thresh;
        let before = lost.tx_in_flight.saturating_sub(1);
        let lost_before = f64::from(lost.lost.saturating_sub(1));
        let prefix = (threshold * f64::from(before) - lost_before) / (1.0 - threshold);
        before.saturating_add(prefix.max(0.0) as u32)
    }

    /// `HandleInflightTooHigh`: once per probe.
    pub(super) fn handle_too_high(
        &mut self,
        window: &mut Window,
        inflight: u32,
        app_limited: bool,
    ) {
        self.probe_was_too_high = true;
        self.is_probe_sample = false;
        if !app_limited {
            let min_longterm = Gain::of(self.config.beta).of_segments(self.target_inflight(window));
            self.bounds.longterm = inflight.max(min_longterm);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(window);
        }
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self, window: &Window) -> u32 {
        self.bdp(Gain::ONE).min(window.cwnd)
    }

    /// `InflightWithHeadroom`.
    pub(super) fn with_headroom(&self) -> u32 {
        let longterm = self.bounds.longterm;
        if longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = Gain::of(self.config.headroom).of_segments(longterm).max(1);
        longterm
            .saturating_sub(headroom)
            .max(self.config.min_pipe_cwnd)
    }

    /// `AdaptLongTermModel`; returns whether the state has changed.
    pub(super) fn adapt_long_term(&mut self, window: &mut Window, ack: &Ack) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.is_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.is_start {
            self.is_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            let in_probe_bw = self.state.is_probe_bandwidth();
            if in_probe_bw && !ack.rate.app_limited {
                self.max_bandwidth.advance();
            }
            if in_probe_bw && self.probe_was_precautionary && !self.probe_was_too_high {
                // §5.3.3.6: the cautious probe did no harm, so the next one may last longer.
                self.start_refill(window);
                return true;
            }
        }
        if self.is_too_high(ack.rate.lost, ack.rate.tx_in_flight)
            || self.bounds.longterm == UNBOUNDED
        {
            return false;
        }
        self.bounds.longterm = self.bounds.longterm.max(ack.rate.tx_in_flight);
        if self.state == State::Up {
            self.probe_longterm_upward(window, ack);
        }
        false
    }

    /// `RaiseInflightLongtermSlope`.
    pub(super) fn raise_longterm_slope(&mut self, window: &Window) {
        let growth = 1 << self.probe_up_ramp.rounds;
        self.probe_up_ramp.rounds = (self.probe_up_ramp.rounds + 1).min(MAX_DOUBLINGS);
        self.probe_up_ramp.per_segment = (window.cwnd / growth).max(1);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_longterm_upward(&mut self, window: &Window, ack: &Ack) {
        if !window.cwnd_limited || window.cwnd < self.bounds.longterm {
            return;
        }
        self.probe_up_ramp.acked = self.probe_up_ramp.acked.saturating_add(ack.delivered);
        let per_segment = self.probe_up_ramp.per_segment.max(1);
        let growth = self.probe_up_ramp.acked / per_segment;
        self.probe_up_ramp.acked -= growth * per_segment;
        self.bounds.longterm = self
            .bounds
            .longterm
            .saturating_add(growth)
            .min(UNBOUNDED - 1);
        if self.rounds.is_start {
            self.raise_longterm_slope(window);
        }
    }
}
