//! Taking back a reduction that proves to be needless: by D-SACK (RFC 3708), by timestamps (Eifel,
//! RFC 3522 and 4015) and by F-RTO (RFC 5682).

use units::Instant;

use super::tlp::LossProbe;
use super::{Resend, Sender};
use cca::{CaState, Window};

/// What is needed to take a reduction back.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// `snd_una` when the reduction began.
    marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates; `None` before the first.
    retransmissions: Option<u32>,
    /// The threshold before the reduction.
    prior_ssthresh: Option<u32>,
}

impl Undo {
    /// A reduction begins with `retransmitted` segments in flight a second time.
    pub(super) fn start(&mut self, snd_una: u64, retransmitted: u32, probe: &LossProbe) {
        self.marker = Some(snd_una);
        let repeated = retransmitted + u32::from(probe.is_retransmission());
        self.retransmissions = (repeated > 0).then_some(repeated);
    }

    /// Remembers the threshold; after a reduction it is not below three quarters of the window.
    pub(super) fn remember_ssthresh(&mut self, window: &Window) {
        self.prior_ssthresh = Some(window.current_ssthresh());
    }

    /// Something was retransmitted.
    pub(super) fn retransmitted(&mut self) {
        *self.retransmissions.get_or_insert(0) += 1;
    }

    /// D-SACK reports duplicates of `segments` that end at `right`.
    pub(super) fn duplicates_reported(&mut self, right: u64, segments: u32) {
        if self.marker.is_some_and(|marker| right > marker)
            && let Some(left) = &mut self.retransmissions
        {
            *left = left.saturating_sub(segments);
        }
    }

    /// Whether a reduction is there to be taken back.
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.marker = None;
    }

    /// The reduction that begins is not to be taken back.
    pub(super) fn forget_threshold(&mut self) {
        self.prior_ssthresh = None;
    }

    fn all_were_duplicates(&self) -> bool {
        self.retransmissions == Some(0)
    }
}

impl Sender {
    /// Whether an ACK came for the original of what was retransmitted: it echoes a timestamp older
    /// than the first retransmission (RFC 3522 §3), or there was no retransmission yet.
    fn original_acked(&self) -> bool {
        self.retransmission_stamp
            .is_none_or(|stamp| self.echo_ms.is_some_and(|echo| echo < stamp))
    }

    fn may_undo(&self) -> bool {
        self.undo.is_possible() && (self.undo.all_were_duplicates() || self.original_acked())
    }

    /// Restores window and threshold.
    fn undo_reduction(&mut self, forget_losses: bool) {
        if forget_losses {
            self.board.forget_losses();
        }
        if let Some(prior) = self.undo.prior_ssthresh {
            self.refresh_window();
            self.congestion.undo(true, prior);
            self.counts.undone += 1;
        }
        self.usage.touch(self.congestion.window.now);
        self.undo.clear();
        self.rack.advanced = true;
    }

    /// All that was out when recovery began is acknowledged.
    pub(super) fn undo_finished_recovery(&mut self) {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.recovery_ended();
        }
        self.set_state(CaState::Open);
    }

    /// The first ACK that advances in recovery shows that nothing was lost.
    pub(super) fn undo_on_partial_ack(&mut self, prior_una: u64) -> bool {
        if !(self.undo.is_possible() && self.original_acked()) {
            return false;
        }
        // The hole was filled by a late packet, not by a retransmission.
        self.note_reordering(prior_una);
        if self.board.retrans_out() > 0 {
            return true;
        }
        if !self.any_retransmission_out() {
            self.retransmission_stamp = None;
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// Every retransmission was reported as a duplicate.
    pub(super) fn undo_by_dsack(&mut self) -> bool {
        if self.undo.is_possible() && self.undo.all_were_duplicates() {
            self.rack.recovery_undone();
            self.undo_reduction(false);
            return true;
        }
        false
    }

    /// The time-out was spurious: by F-RTO if `by_f_rto`, else by timestamps or D-SACK.
    pub(super) fn undo_time_out(&mut self, by_f_rto: bool) -> bool {
        if !(by_f_rto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(true);
        self.retransmits = 0;
        self.f_rto = false;
        self.set_state(CaState::Open);
        true
    }

    /// Sends what a worked-on ACK asks for (the kernel's `tcp_xmit_recovery`).
    pub(super) fn resend(&mut self, now: Instant, what: Resend) {
        match what {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit_lost(now),
            Resend::New => {
                self.transmit(now);
                if self.snd_nxt <= self.high_seq {
                    self.f_rto = false;
                    self.retransmit_lost(now);
                }
            }
        }
    }
}
