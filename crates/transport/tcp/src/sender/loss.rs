//! States of loss recovery and the transitions between them (the kernel's `tcp_fastretrans_alert`).

use units::Instant;

use super::reordering::INITIAL_REORDERING;
use super::{AckEffects, Rexmit, Sender};
use cca::{CaState, Event, Lost};

impl Sender {
    /// Handles a dubious ACK: detects losses, changes the state, and returns the kind of data to send.
    pub(super) fn fastretrans_alert(
        &mut self,
        now: Instant,
        prior_una: u64,
        is_dupack: bool,
        effects: &mut AckEffects,
    ) -> Rexmit {
        let state = self.congestion.window.state;
        if effects.ecn_echo {
            // A reduction that marks request cannot be undone.
            self.undo.forget_prior_ssthresh();
        }
        if self.check_sack_reneging(now, effects) {
            return Rexmit::Nothing;
        }
        if state == CaState::Open {
            self.recovery.retrans_stamp = None;
        } else if self.seq.snd_una >= self.recovery.high_seq {
            match state {
                // A reduction lasts until data sent after its start is acknowledged.
                CaState::Cwr if self.seq.snd_una != self.recovery.high_seq => {
                    self.end_reduction();
                    self.set_state(CaState::Open);
                }
                CaState::Recovery => {
                    self.reset_reno_sacks();
                    if self.undo_finished_recovery() {
                        return Rexmit::Nothing;
                    }
                    self.end_reduction();
                }
                _ => {}
            }
        }
        let mut rexmit = Rexmit::Nothing;
        match self.congestion.window.state {
            CaState::Recovery => {
                if is_dupack && self.is_reno() {
                    self.add_reno_sack();
                }
                if effects.una_advanced && self.undo_on_partial_ack(prior_una) {
                    return Rexmit::Nothing;
                }
                if self.undo_by_dsack() {
                    self.try_to_open(effects.ecn_echo);
                }
                let lost = self.congestion.window.lost;
                self.detect_loss(now, effects);
                if self.congestion.window.state == CaState::Recovery {
                    if self.signals.is_eln_recovery()
                        && !self.signals.radio_loss
                        && self.congestion.window.lost > lost
                    {
                        self.enter_late_reduction();
                    }
                    return Rexmit::Lost;
                }
                if self.board.lost_out == 0 {
                    return Rexmit::Nothing;
                }
            }
            state => {
                if state == CaState::Loss {
                    rexmit = self.process_loss(is_dupack, effects);
                    self.detect_loss(now, effects);
                    let is_open = self.congestion.window.state == CaState::Open;
                    if !(is_open || effects.lost_retransmission) {
                        return rexmit;
                    }
                }
                if self.is_reno() {
                    if effects.una_advanced {
                        self.reset_reno_sacks();
                    }
                    if is_dupack {
                        self.add_reno_sack();
                    }
                }
                if self.congestion.window.state <= CaState::Disorder {
                    self.undo_by_dsack();
                }
                self.detect_loss(now, effects);
                if self.board.lost_out == 0 {
                    self.try_to_open(effects.ecn_echo);
                    return rexmit;
                }
            }
        }
        self.enter_recovery(effects.ecn_echo);
        Rexmit::Lost
    }

    /// Marks a segment as lost; returns whether it was a retransmission.
    pub(super) fn mark_lost(&mut self, ordinal: u64) -> bool {
        let previous = self.board.lost_out;
        let was_retransmission = self.board.mark_lost(ordinal);
        if was_retransmission || self.board.lost_out > previous {
            self.congestion.window.lost += 1;
            let sent = self.board.get(ordinal);
            self.congestion.on_lost(&Lost {
                seq: sent.seq,
                end: sent.end,
                tx_in_flight: sent.tx.tx_in_flight,
                lost: (self.congestion.window.lost - sent.tx.lost) as u32,
                app_limited: sent.tx.app_limited,
            });
        }
        was_retransmission
    }

    /// Starts a recovery: the window is reduced over the next round trip. With `ecn_echo`, marks request the reduction
    /// as well, and it cannot be undone.
    pub(super) fn enter_recovery(&mut self, ecn_echo: bool) {
        self.retrans_stamp_cleanup();
        self.undo.forget_prior_ssthresh();
        self.undo
            .start(self.seq.snd_una, self.board.retrans_out, &self.tlp);
        let state = self.congestion.window.state;
        if !matches!(state, CaState::Cwr | CaState::Recovery) {
            if !ecn_echo {
                self.undo.save_prior_ssthresh(&self.congestion.window);
            }
            if self.signals.radio_loss {
                self.start_eln_recovery();
            } else {
                self.start_reduction();
            }
        }
        self.counts.fast_recoveries += 1;
        self.set_state(CaState::Recovery);
    }

    /// Starts a reduction of the window (the kernel's `tcp_init_cwnd_reduction`).
    pub(super) fn start_reduction(&mut self) {
        let ecn = self.congestion.window.ecn;
        self.recovery.start_reduction(self.seq.snd_nxt, ecn);
        self.tlp.clear();
        self.prr.start();
        self.refresh_window();
        let w = &mut self.congestion.window;
        w.cwnd_cnt = 0;
        w.prior_cwnd = w.cwnd;
        let ssthresh = self.congestion.ssthresh();
        self.congestion.window.ssthresh = ssthresh;
    }

    /// Starts a reduction that marks or the CCA request, at most once per window of data (RFC 3168 §6.1.2; the kernel's
    /// `tcp_enter_cwr`). It cannot be undone.
    fn enter_cwr(&mut self) {
        self.undo.forget_prior_ssthresh();
        if self.congestion.window.state < CaState::Cwr {
            self.undo.clear();
            self.start_reduction();
            self.set_state(CaState::Cwr);
        }
    }

    /// Starts the reduction that the CCA has requested in its congestion avoidance.
    pub(super) fn enter_requested_cwr(&mut self) {
        if core::mem::take(&mut self.congestion.window.cwr_requested) {
            self.enter_cwr();
        }
    }

    /// Ends a reduction: the window becomes the threshold.
    pub(super) fn end_reduction(&mut self) {
        if self.congestion.owns_window() {
            return;
        }
        let w = &mut self.congestion.window;
        if w.ssthresh < cca::INFINITE_SSTHRESH
            && (w.state == CaState::Cwr || self.undo.is_possible())
        {
            w.cwnd = w.ssthresh;
            self.cwnd_usage.touch(w.now);
        }
        self.end_eln_recovery();
        self.congestion.cwnd_event(Event::CompleteCwr);
    }

    /// Handles a time-out: all outstanding segments count as lost, except those sent too recently for RACK, and slow start
    /// begins again (RFC 5681 §3.1, RFC 8985 §6.3).
    pub(super) fn enter_loss(&mut self, now: Instant) {
        self.mark_all_lost(now);
        let state = self.congestion.window.state;
        let new_recovery = !matches!(state, CaState::Recovery | CaState::Loss);
        let was_eln = self.signals.is_eln_recovery();
        self.end_eln_recovery();
        if was_eln
            || state <= CaState::Disorder
            || self.recovery.high_seq <= self.seq.snd_una
            || (state == CaState::Loss && self.timeouts.retransmits == 0)
        {
            self.undo.save_prior_ssthresh(&self.congestion.window);
            self.refresh_window();
            self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
            let ssthresh = self.congestion.ssthresh();
            self.congestion.window.ssthresh = ssthresh;
            self.congestion.cwnd_event(Event::Loss);
            self.undo
                .start(self.seq.snd_una, self.board.retrans_out, &self.tlp);
        }
        let in_flight = self.board.in_flight();
        let w = &mut self.congestion.window;
        w.cwnd = in_flight + 1;
        w.cwnd_cnt = 0;
        self.cwnd_usage.touch(now);
        if state <= CaState::Disorder && self.board.sacked_out >= INITIAL_REORDERING {
            // The time-out shows that the degree of reordering was overestimated.
            self.reordering.reset_degree();
        }
        self.refresh_window();
        self.set_state(CaState::Loss);
        let ecn = self.congestion.window.ecn;
        self.recovery.start_reduction(self.seq.snd_nxt, ecn);
        self.tlp.clear();
        self.recovery.frto =
            self.config.settings.f_rto && (new_recovery || self.timeouts.retransmits > 0);
    }

    /// Marks all segments as lost, except those sent too recently unless the receiver has reneged (the kernel's
    /// `tcp_timeout_mark_lost`).
    fn mark_all_lost(&mut self, now: Instant) {
        let reneged = self.board.head().is_some_and(|head| head.sacked);
        if reneged {
            // The oldest segment was reported and is still not acknowledged.
            self.board.clear_sacks();
            self.rate.reneged = true;
            self.sack_cache.clear();
        }
        self.reset_reno_sacks();
        let range = self.board.ordinals();
        for ordinal in range.clone() {
            let sent = *self.board.get(ordinal);
            let is_recent = !reneged
                && ordinal != range.start
                && !self
                    .time_until_lost(now, &sent, units::Duration::ZERO)
                    .is_zero();
            if !is_recent {
                self.mark_lost(ordinal);
            }
        }
    }

    /// Handles an ACK in the Loss state: F-RTO first, then plain recovery (the kernel's `tcp_process_loss`;
    /// RFC 5682 §3.1).
    fn process_loss(&mut self, is_dupack: bool, effects: &AckEffects) -> Rexmit {
        let recovered = self.seq.snd_una >= self.recovery.high_seq;
        if effects.una_advanced && self.undo_loss(false) {
            return Rexmit::Nothing;
        }
        if self.recovery.frto {
            // Step 3b: data that was never retransmitted arrived; the time-out was spurious.
            if effects.original_delivered && self.undo_loss(true) {
                return Rexmit::Nothing;
            }
            if self.seq.snd_nxt > self.recovery.high_seq {
                // Step 3a: new data was sent, and the loss was real.
                if effects.data_sacked || is_dupack {
                    self.recovery.frto = false;
                }
            } else if effects.una_advanced && !recovered {
                // Step 2b: send new data to find out.
                self.recovery.high_seq = self.seq.snd_nxt;
                if self.seq.has_unsent() && self.seq.window_room() > 0 {
                    return Rexmit::New;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.undo_finished_recovery();
            return Rexmit::Nothing;
        }
        if self.is_reno() {
            if self.seq.snd_nxt > self.recovery.high_seq && is_dupack {
                self.add_reno_sack();
            } else if effects.una_advanced {
                self.reset_reno_sacks();
            }
        }
        Rexmit::Lost
    }

    /// Enters or leaves Disorder, or starts the reduction that marks request (the kernel's `tcp_try_to_open`).
    fn try_to_open(&mut self, ecn_echo: bool) {
        self.retrans_stamp_cleanup();
        if ecn_echo {
            self.enter_cwr();
        }
        if self.congestion.window.state != CaState::Cwr {
            self.try_keep_open();
        }
    }

    /// Returns whether a retransmission is not acknowledged yet (the kernel's `tcp_any_retrans_done`, which
    /// looks at the head of the queue).
    pub(super) fn any_retransmission_out(&self) -> bool {
        self.board.retrans_out > 0
            || self
                .board
                .head()
                .is_some_and(|head| head.ever_retransmitted)
    }

    /// Clears the time of the first retransmission if all are acknowledged (`tcp_retrans_stamp_cleanup`).
    pub(super) fn retrans_stamp_cleanup(&mut self) {
        if !self.any_retransmission_out() {
            self.recovery.retrans_stamp = None;
        }
    }

    /// Enters Open if there is no sign of loss, else Disorder.
    pub(super) fn try_keep_open(&mut self) {
        let has_loss_signs =
            self.board.sacked_out > 0 || self.board.lost_out > 0 || self.any_retransmission_out();
        let state = if has_loss_signs {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.congestion.window.state != state {
            self.set_state(state);
            self.recovery.high_seq = self.seq.snd_nxt;
        }
    }

    pub(super) fn set_state(&mut self, state: CaState) {
        self.refresh_window();
        self.congestion.set_state(state);
    }
}

#[cfg(test)]
mod tests;
