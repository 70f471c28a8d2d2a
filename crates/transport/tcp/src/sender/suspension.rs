//! Suspension: a sender whose link is interrupted sends nothing, and its state remains.

use units::{Duration, Instant};

use super::Sender;

impl Sender {
    /// Sends nothing from now on. Timers stand still.
    pub(crate) fn suspend(&mut self, now: Instant) {
        self.signals.suspend(now);
    }

    /// Resumes: outstanding segments count as sent later by the length of the pause, and their
    /// time-out starts anew.
    pub(crate) fn resume(&mut self, now: Instant) {
        let Some(since) = self.signals.resume() else {
            return;
        };
        self.set_now(now);
        self.board.postpone(now.saturating_since(since));
        self.output.lsndtime = self.output.lsndtime.max(now);
        if self.board.packets_out() > 0 {
            self.restart_retransmission(now);
        } else {
            self.stop_timer();
        }
        self.retransmit_lost(now);
        self.transmit(now);
    }
}

impl super::Scoreboard {
    /// Moves the transmissions of all outstanding segments forward in time.
    fn postpone(&mut self, pause: Duration) {
        for sent in self.all_mut() {
            sent.sent_at += pause;
            sent.first_tx += pause;
            sent.delivered_at += pause;
        }
    }
}
