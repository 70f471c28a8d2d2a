//! Tail loss probe (RFC 8985 §7).

use units::Instant;

use super::timers::{TIMEOUT_MIN, TimerKind};
use super::{AckEffects, Sender};
use cca::CaState;

/// Outstanding probe, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct LossProbe {
    /// `snd_nxt` when the probe was sent.
    high_seq: Option<u64>,
    /// Whether the probe is a retransmission.
    is_retransmission: bool,
}

impl LossProbe {
    /// Ends the probe.
    pub(super) fn clear(&mut self) {
        self.high_seq = None;
    }

    /// Returns whether a probe is outstanding that is a retransmission.
    pub(super) fn is_retransmission_out(&self) -> bool {
        self.high_seq.is_some() && self.is_retransmission
    }

    /// Returns whether a probe is outstanding that was sent when data up to `end` was outstanding.
    pub(super) fn ended_at(&self, end: u64) -> bool {
        self.high_seq == Some(end)
    }
}

impl Sender {
    /// Starts the probe timer instead of the retransmission timer, if a probe is useful (RFC 8985 §7.2). After an ACK that
    /// advances (`una_advanced`), the RTO restarts now.
    pub(super) fn schedule_loss_probe(&mut self, now: Instant, una_advanced: bool) -> bool {
        let state = self.congestion.window.state;
        if !self.config.settings.tlp
            || self.is_reno()
            || self.board.packets_out() == 0
            || !matches!(state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let srtt = self.rtt.srtt;
        let mut wait = if srtt.is_zero() {
            self.config.initial_rto
        } else {
            let delayed_ack = if self.board.packets_out() == 1 {
                self.rtt.min_rto
            } else {
                TIMEOUT_MIN
            };
            srtt * 2 + delayed_ack
        };
        let rto = if una_advanced {
            self.rto()
        } else {
            self.time_until_rto(now)
        };
        if !rto.is_zero() {
            wait = wait.min(rto);
        }
        self.start_timer(TimerKind::Probe, now, wait + self.pacing_delay(now));
        true
    }

    /// Handles the probe timer: sends new data if there is some, else retransmits the last segment (RFC 8985 §7.3).
    pub(super) fn send_loss_probe(&mut self, now: Instant) {
        if self.tlp.high_seq.is_some() || self.board.packets_out() == 0 {
            self.rearm_retransmission(now);
            return;
        }
        let is_retransmission = !(self.seq.has_unsent() && self.next_fits());
        let has_sent = if is_retransmission {
            let last = self.board.ordinals().end - 1;
            !self.still_in_host_queue(now, last) && self.retransmit_as_tlp(now, last)
        } else {
            self.send_one_beyond_cwnd(now)
        };
        if !has_sent {
            self.rearm_retransmission(now);
            return;
        }
        self.counts.loss_probes += 1;
        self.tlp.is_retransmission = is_retransmission;
        self.tlp.high_seq = Some(self.seq.snd_nxt);
        self.restart_retransmission(now);
    }

    /// Handles an ACK while a probe is outstanding, to find out whether the probe repaired a loss (RFC 8985
    /// §7.4).
    pub(super) fn finish_loss_probe(&mut self, ack: u64, effects: &AckEffects) {
        let Some(high_seq) = self.tlp.high_seq else {
            return;
        };
        if ack < high_seq {
            return;
        }
        if !self.tlp.is_retransmission || effects.dsack_of_probe {
            self.tlp.clear();
        } else if ack > high_seq {
            // No D-SACK arrived for the probe: the original was lost, which is congestion.
            self.start_reduction();
            self.set_state(CaState::Cwr);
            self.end_reduction();
            self.try_keep_open();
        } else if !effects.una_advanced && !effects.not_duplicate && !effects.data_sacked {
            // A pure duplicate ACK: the probe was unneeded.
            self.tlp.clear();
        }
    }
}
