//! Undo of spurious reductions: by D-SACK (RFC 3708), by timestamps (Eifel, RFC 3522 and 4015) and by F-RTO (RFC 5682).

use units::Instant;

use super::tlp::LossProbe;
use super::{Rexmit, Sender};
use cca::{CaState, Window};

/// State for the undo of a reduction.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// `snd_una` when the reduction began (`undo_marker`).
    undo_marker: Option<u64>,
    /// Retransmissions that are not reported as duplicates (`undo_retrans`); `None` before the first.
    undo_retrans: Option<u32>,
    /// Threshold before the reduction.
    prior_ssthresh: Option<u32>,
}

impl Undo {
    /// Starts a reduction while `retrans_out` retransmissions and the tail loss probe `tlp` are in flight.
    pub(super) fn start(&mut self, snd_una: u64, retrans_out: u32, tlp: &LossProbe) {
        self.undo_marker = Some(snd_una);
        let undo_retrans = retrans_out + u32::from(tlp.is_retransmission_out());
        self.undo_retrans = (undo_retrans > 0).then_some(undo_retrans);
    }

    /// Saves the threshold, to which an undo returns.
    pub(super) fn save_prior_ssthresh(&mut self, window: &Window) {
        self.prior_ssthresh = Some(window.current_ssthresh());
    }

    /// Counts a retransmission.
    pub(super) fn count_retransmission(&mut self) {
        *self.undo_retrans.get_or_insert(0) += 1;
    }

    /// Handles a D-SACK for duplicates of `segments` that end at `right`.
    pub(super) fn on_dsack(&mut self, right: u64, segments: u32) {
        if self.undo_marker.is_some_and(|marker| right > marker)
            && let Some(pending) = &mut self.undo_retrans
        {
            *pending = pending.saturating_sub(segments);
        }
    }

    /// Returns whether there is a reduction that could be undone.
    pub(super) fn is_possible(&self) -> bool {
        self.undo_marker.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.undo_marker = None;
    }

    /// Makes the reduction irreversible.
    pub(super) fn forget_prior_ssthresh(&mut self) {
        self.prior_ssthresh = None;
    }

    fn all_were_duplicates(&self) -> bool {
        self.undo_retrans == Some(0)
    }
}

impl Sender {
    /// Returns whether an ACK came for the original of a retransmitted segment: it echoes a timestamp older than the first
    /// retransmission (RFC 3522 §3), or there was none yet (the kernel's `tcp_packet_delayed`). At the end of a recovery
    /// without SACK, the time of the first retransmission is lost.
    fn original_acked(&self) -> bool {
        match self.recovery.retrans_stamp {
            Some(stamp) => self
                .last_ack
                .echoes_before(self.congestion.window.now, stamp),
            None => !self.is_reno() || self.seq.snd_una < self.recovery.high_seq,
        }
    }

    fn may_undo(&self) -> bool {
        self.undo.is_possible() && (self.undo.all_were_duplicates() || self.original_acked())
    }

    /// Restores cwnd and ssthresh (the kernel's `tcp_undo_cwnd_reduction`).
    fn undo_reduction(&mut self, clear_losses: bool) {
        if clear_losses {
            self.board.clear_losses();
        }
        self.end_eln_recovery();
        if let Some(prior_ssthresh) = self.undo.prior_ssthresh {
            self.refresh_window();
            self.congestion.undo(true, prior_ssthresh);
            self.counts.undone += 1;
        }
        self.cwnd_usage.touch(self.congestion.window.now);
        self.undo.clear();
        self.rack.advanced = true;
    }

    /// Ends a recovery when all data outstanding at its start is acknowledged, and undoes it if it was spurious. Returns
    /// whether the state stays: without SACK, until later data is acknowledged, so that duplicate ACKs of the same data
    /// start no other recovery (RFC 6582 §4.1).
    pub(super) fn undo_finished_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.on_recovery_end();
        }
        if self.is_reno() && self.seq.snd_una == self.recovery.high_seq {
            self.retrans_stamp_cleanup();
            return true;
        }
        self.set_state(CaState::Open);
        self.rate.reneged = false;
        false
    }

    /// Undoes a recovery if a partial ACK came for an original transmission. Returns true if retransmissions are still in
    /// flight (the kernel's `tcp_try_undo_partial`).
    pub(super) fn undo_on_partial_ack(&mut self, prior_una: u64) -> bool {
        if !(self.undo.is_possible() && self.original_acked()) {
            return false;
        }
        // A late packet filled the hole, not a retransmission.
        self.reordering.check_sack(prior_una, self.config.mss);
        if self.board.retrans_out > 0 {
            return true;
        }
        self.retrans_stamp_cleanup();
        self.undo_reduction(true);
        self.try_keep_open();
        false
    }

    /// Undoes a reduction if every retransmission was reported as a duplicate.
    pub(super) fn undo_by_dsack(&mut self) -> bool {
        if self.undo.is_possible() && self.undo.all_were_duplicates() {
            self.rack.on_recovery_undone();
            self.undo_reduction(false);
            return true;
        }
        false
    }

    /// Undoes a spurious time-out: by F-RTO if `by_f_rto`, else by timestamps or D-SACK. Returns whether it did.
    pub(super) fn undo_loss(&mut self, by_f_rto: bool) -> bool {
        if !(by_f_rto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(true);
        self.timeouts.retransmits = 0;
        self.recovery.frto = false;
        self.set_state(CaState::Open);
        self.rate.reneged = false;
        true
    }

    /// Sends retransmissions or new data after an ACK (the kernel's `tcp_xmit_recovery`).
    pub(super) fn xmit_recovery(&mut self, now: Instant, rexmit: Rexmit) {
        match rexmit {
            Rexmit::Nothing => {}
            Rexmit::Lost => self.retransmit_lost(now),
            Rexmit::New => {
                self.transmit(now);
                if self.seq.snd_nxt <= self.recovery.high_seq {
                    self.recovery.frto = false;
                    self.retransmit_lost(now);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
