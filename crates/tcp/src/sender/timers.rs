//! The one timer of a sender, and what happens when it fires.

use units::{Duration, Instant};

use super::Sender;
use crate::cca::CaState;

/// Linux never arms these timers for less (`TCP_TIMEOUT_MIN`, two ticks of 1 ms).
pub(super) const TIMEOUT_MIN: Duration = Duration::from_millis(2);

/// What the timer waits for; only one of these at a time, as in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Nothing,
    /// Retransmission time-out (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 §7).
    Probe,
    /// End of the reordering window (RFC 8985 §6.2).
    Reordering,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    ZeroWindow,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    waits: Waits,
    at: Instant,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            waits: Waits::Nothing,
            at: Instant::NEVER,
        }
    }
}

impl Timer {
    pub(super) fn set_reordering(&mut self, at: Instant) {
        *self = Self {
            waits: Waits::Reordering,
            at,
        };
    }

    pub(super) fn set_probe(&mut self, at: Instant) {
        *self = Self {
            waits: Waits::Probe,
            at,
        };
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Sender {
    /// When the sender wants to be called again.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer.at.min(self.pacer.deadline())
    }

    /// The deadline has come.
    pub(crate) fn on_deadline(&mut self, now: Instant) {
        self.set_now(now);
        if self.pacer.deadline() <= now {
            self.pacer.released();
            self.retransmit_lost(now);
            self.transmit(now);
        }
        if self.timer.at > now {
            return;
        }
        let fired = core::mem::take(&mut self.timer);
        match fired.waits {
            Waits::Nothing => {}
            Waits::Retransmission => self.on_retransmission_timeout(now),
            Waits::Probe => self.send_loss_probe(now),
            Waits::Reordering => self.on_reordering_timeout(now),
            Waits::ZeroWindow => self.send_zero_window_probe(now),
        }
        self.transmit(now);
        self.refresh_window();
    }

    /// Starts the retransmission timer anew; `elapsed` is what has passed since the segment that it
    /// guards was sent.
    pub(super) fn rearm_retransmission(&mut self, now: Instant, elapsed: Duration) {
        if self.board.packets_out() == 0 {
            self.timer.clear();
            return;
        }
        let wait = self
            .rto()
            .saturating_sub(elapsed)
            .max(Duration::from_millis(1));
        self.timer = Timer {
            waits: Waits::Retransmission,
            at: now + wait,
        };
    }

    /// New data was acknowledged: the timer starts anew (RFC 6298 §5.3), as a probe if it can.
    pub(super) fn rearm_after_ack(&mut self, now: Instant) {
        if !self.schedule_loss_probe(now) {
            self.rearm_retransmission(now, Duration::ZERO);
        }
    }

    /// Something was sent while no timer ran, or the first of the queue was sent again.
    pub(super) fn ensure_retransmission(&mut self, now: Instant) {
        if matches!(self.timer.waits, Waits::Nothing | Waits::ZeroWindow) {
            self.rearm_retransmission(now, Duration::ZERO);
        }
    }

    /// Whether the timer waits for the end of a reordering window.
    pub(super) fn waits_for_reordering(&self) -> bool {
        self.timer.waits == Waits::Reordering
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        if self.board.packets_out() == 0 {
            return;
        }
        self.counts.timeouts += 1;
        self.refresh_window();
        self.enter_loss(now);
        self.retransmits += 1;
        if let Some(first) = self.board.next_to_retransmit() {
            self.retransmit(now, first);
        }
        // RFC 6298 §5.5: back off.
        self.backoff += 1;
        self.rearm_retransmission(now, Duration::ZERO);
    }

    fn on_reordering_timeout(&mut self, now: Instant) {
        let before = self.board.lost_out();
        let (_, wait) = self.mark_losses(now);
        if self.board.lost_out() > before {
            if self.congestion.window.state != CaState::Recovery {
                self.enter_recovery();
                if !self.congestion.owns_window() {
                    self.reduce_window(1, self.board.lost_out() - before, false);
                }
            }
            self.retransmit_lost(now);
        }
        if let Some(wait) = wait {
            self.timer.set_reordering(now + wait + TIMEOUT_MIN);
        } else if self.timer.waits != Waits::Retransmission {
            self.rearm_retransmission(now, Duration::ZERO);
        }
    }

    /// Nothing is in flight, data waits and the window is shut: asks for it now and then.
    pub(super) fn ensure_zero_window_probe(&mut self, now: Instant) {
        if self.timer.waits == Waits::Nothing && self.board.packets_out() == 0 && self.has_unsent()
        {
            self.timer = Timer {
                waits: Waits::ZeroWindow,
                at: now + self.rto(),
            };
        }
    }

    fn send_zero_window_probe(&mut self, now: Instant) {
        if self.send_window_open() {
            return;
        }
        // One byte below the window: the receiver must answer (RFC 9293 §3.8.6.1).
        self.push_probe_of_window();
        self.backoff += 1;
        self.timer = Timer {
            waits: Waits::ZeroWindow,
            at: now + self.rto(),
        };
    }

    /// An ACK while nothing was in flight: the window may have opened.
    pub(super) fn after_zero_window_probe(&mut self, now: Instant) {
        if self.send_window_open() {
            self.backoff = 0;
            self.timer.clear();
        } else {
            self.timer.clear();
            self.ensure_zero_window_probe(now);
        }
    }
}
