//! Suspension: a sender whose link is interrupted sends nothing, and keeps its state.

use units::Instant;

use super::Sender;

impl Sender {
    /// Stops sending, and stops the timers.
    pub(crate) fn suspend(&mut self, now: Instant) {
        self.signals.suspended_since.get_or_insert(now);
    }

    /// Sends again: outstanding segments count as sent later by the length of the pause, and the RTO restarts.
    pub(crate) fn resume(&mut self, now: Instant) {
        let Some(since) = self.signals.suspended_since.take() else {
            return;
        };
        self.set_now(now);
        self.board.postpone(now.saturating_since(since));
        self.output.lsndtime = self.output.lsndtime.max(now);
        if self.board.packets_out() > 0 {
            self.restart_retransmission(now);
        } else {
            self.timer.clear();
        }
        self.retransmit_lost(now);
        self.transmit(now);
    }
}
