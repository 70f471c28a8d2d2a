//! Undo: the window and the bounds from before a loss episode, restored if the losses were spurious
//! (draft-ietf-ccwg-bbr-06 §5.5.11, §5.6.4.4).

use super::Bbr3;
use super::bounds::Bounds;
use super::state::State;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Event, Window};

/// State that the undo of a spurious episode restores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// State that BBR left because of the losses.
    pub(super) state: Option<State>,
    bounds: Option<Bounds>,
}

impl Bbr3 {
    /// `SaveCwnd`: saves the last window that neither recovery nor ProbeRTT has reduced.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        self.prior_cwnd = if window.state.in_recovery() || self.state == State::ProbeRtt {
            self.prior_cwnd.max(window.cwnd)
        } else {
            window.cwnd
        };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd).min(window.cwnd_clamp);
    }

    /// `NoteLoss`. An undo restores the state before the first loss of an episode, so later rounds of the
    /// same episode save nothing.
    pub(super) fn note_loss(&mut self, window: &Window) {
        if !self.loss_round.has_loss {
            self.loss_round.end = window.delivered;
            if !window.state.in_recovery() {
                self.save_state(window);
            }
        }
        self.loss_round.has_loss = true;
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_state(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            state: None,
            bounds: Some(self.bounds),
        };
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo_losses(&mut self, window: &mut Window) {
        self.restore_cwnd(window);
        self.loss_round.has_loss = false;
        self.full.search_from(Bandwidth::default());
        let Undo { state, bounds } = core::mem::take(&mut self.undo);
        if let Some(before) = bounds {
            self.bounds = self.bounds.loosest(before);
        }
        match state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill(window);
            }
            _ => {}
        }
    }

    /// `HandleRestartFromIdle` (§5.4.1): restarts at the bandwidth, not above it.
    pub(super) fn restart_from_idle(&mut self, window: &mut Window, event: Event) {
        if event != Event::TxStart || !window.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(window.now);
        if self.state.is_probe_bandwidth() {
            self.set_pacing_rate(window, Gain::ONE);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window);
        }
    }
}
