//! Duplicate ACKs in place of SACK, for a peer that does not support it (RFC 6582; the kernel's
//! `tcp_add_reno_sack` and what belongs to it).

use super::Sender;
use cca::CaState;

impl Sender {
    /// Returns whether the peer does not support SACK.
    pub(super) fn is_reno(&self) -> bool {
        !self.config.sack
    }

    /// Counts a duplicate ACK as a segment that has arrived out of order.
    pub(super) fn add_reno_sack(&mut self) {
        let previous = self.board.sacked_out;
        self.board.sacked_out = previous + 1;
        self.limit_reno_sacked(0);
        if self.board.sacked_out > previous {
            self.rate.delivered += 1;
        }
    }

    /// Handles a cumulative ACK of `acked` segments: duplicate ACKs that reported them no longer count.
    pub(super) fn remove_reno_sacks(&mut self, acked: u32) {
        let sacked_out = self.board.sacked_out;
        if acked > 0 {
            self.rate.delivered += u64::from(acked.saturating_sub(sacked_out).max(1));
            self.board.sacked_out = (sacked_out + 1).saturating_sub(acked);
        }
        self.limit_reno_sacked(acked);
    }

    /// Resets the count of duplicate ACKs.
    pub(super) fn reset_reno_sacks(&mut self) {
        if self.is_reno() {
            self.board.sacked_out = 0;
        }
    }

    /// Bounds the count to the segments that can have arrived; more duplicate ACKs show reordering.
    fn limit_reno_sacked(&mut self, acked: u32) {
        let holes = self.board.lost_out.max(1).min(self.board.packets_out());
        let max = self.board.packets_out() - holes;
        if self.board.sacked_out > max {
            self.board.sacked_out = max;
            self.reordering.check_reno(self.board.packets_out() + acked);
        }
    }

    /// Marks the head as lost after enough duplicate ACKs, or after a partial ACK in recovery (the kernel's
    /// `tcp_newreno_mark_lost`).
    pub(super) fn mark_head_lost(&mut self, una_advanced: bool) {
        let state = self.congestion.window.state;
        let has_enough_dup_acks =
            state < CaState::Recovery && self.board.sacked_out >= self.reordering.degree;
        let is_partial_ack = state == CaState::Recovery && una_advanced;
        if (has_enough_dup_acks || is_partial_ack) && self.board.packets_out() > 0 {
            self.mark_lost(self.board.ordinals().start);
        }
    }
}
