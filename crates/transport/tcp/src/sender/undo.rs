//! Undo of a reduction that proves to be unneeded: by D-SACK (RFC 3708), by timestamps (Eifel, RFC 3522 and
//! 4015) and by F-RTO (RFC 5682).

use units::Instant;

use super::tlp::LossProbe;
use super::{Rexmit, Sender};
use cca::{CaState, Window};

/// State that the undo of a reduction needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// `snd_una` when the reduction began.
    marker: Option<u64>,
    /// Retransmissions that are not yet reported as duplicates; `None` before the first.
    retransmissions: Option<u32>,
    /// Threshold before the reduction.
    prior_ssthresh: Option<u32>,
}

impl Undo {
    /// Begins a reduction while `retransmitted` segments are in flight a second time.
    pub(super) fn start(&mut self, snd_una: u64, retransmitted: u32, probe: &LossProbe) {
        self.marker = Some(snd_una);
        let in_flight_twice = retransmitted + u32::from(probe.is_retransmission());
        self.retransmissions = (in_flight_twice > 0).then_some(in_flight_twice);
    }

    /// Saves the threshold; outside of a reduction it is at least three quarters of the window.
    pub(super) fn remember_ssthresh(&mut self, window: &Window) {
        self.prior_ssthresh = Some(window.current_ssthresh());
    }

    /// Counts a retransmission.
    pub(super) fn retransmitted(&mut self) {
        *self.retransmissions.get_or_insert(0) += 1;
    }

    /// Handles a D-SACK for duplicates of `segments` that end at `right`.
    pub(super) fn duplicates_reported(&mut self, right: u64, segments: u32) {
        if self.marker.is_some_and(|marker| right > marker)
            && let Some(pending) = &mut self.retransmissions
        {
            *pending = pending.saturating_sub(segments);
        }
    }

    /// Returns whether there is a reduction that could be undone.
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.marker = None;
    }

    /// Makes the starting reduction irreversible.
    pub(super) fn forget_threshold(&mut self) {
        self.prior_ssthresh = None;
    }

    fn all_were_duplicates(&self) -> bool {
        self.retransmissions == Some(0)
    }
}

impl Sender {
    /// Returns whether an ACK came for the original of a retransmitted segment: it echoes a timestamp older
    /// than the first retransmission (RFC 3522 §3), or there was no retransmission yet. A recovery without SACK that has
    /// all its data acknowledged has lost the time of its retransmission (the kernel's `tcp_packet_delayed`).
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

    /// Restores window and threshold.
    fn undo_reduction(&mut self, forget_losses: bool) {
        if forget_losses {
            self.board.clear_losses();
        }
        self.end_eln_recovery();
        if let Some(prior) = self.undo.prior_ssthresh {
            self.refresh_window();
            self.congestion.undo(true, prior);
            self.counts.undone += 1;
        }
        self.usage.touch(self.congestion.window.now);
        self.undo.clear();
        self.rack.advanced = true;
    }

    /// Ends a recovery when all data outstanding at its start is acknowledged, and undoes it if it was unneeded. Returns
    /// whether the state is kept. Without SACK it is kept until later data is acknowledged, so that duplicate ACKs of the
    /// same data start no other recovery (RFC 6582 §4.1).
    pub(super) fn undo_finished_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.recovery_ended();
        }
        if self.is_reno() && self.seq.snd_una == self.recovery.high_seq {
            self.retrans_stamp_cleanup();
            return true;
        }
        self.set_state(CaState::Open);
        self.rate.reneged = false;
        false
    }

    /// Undoes a recovery if the first ACK that advances in it shows that nothing was lost.
    pub(super) fn undo_on_partial_ack(&mut self, prior_una: u64) -> bool {
        if !(self.undo.is_possible() && self.original_acked()) {
            return false;
        }
        // A late packet filled the hole, not a retransmission.
        self.reordering.check_sack(prior_una, self.config.mss);
        if self.board.retrans_out() > 0 {
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
            self.rack.recovery_undone();
            self.undo_reduction(false);
            return true;
        }
        false
    }

    /// Undoes a spurious time-out: by F-RTO if `by_f_rto`, else by timestamps or D-SACK.
    pub(super) fn undo_time_out(&mut self, by_f_rto: bool) -> bool {
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

    /// Sends the retransmissions or data that a processed ACK requests (the kernel's `tcp_xmit_recovery`).
    pub(super) fn xmit_recovery(&mut self, now: Instant, kind: Rexmit) {
        match kind {
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
