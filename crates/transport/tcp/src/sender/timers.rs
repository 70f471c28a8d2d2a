//! Retransmission, probe and reordering timer of the sender, and its expiry.

use units::{Duration, Instant};

use super::{Sender, WindowProbes};
use cca::CaState;

/// Minimum of these timers in Linux (`TCP_TIMEOUT_MIN`, two ticks of 1 ms).
pub(super) const TIMEOUT_MIN: Duration = Duration::from_millis(2);

/// Kind of the timer; as in Linux, only one runs at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimerKind {
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

/// Timer of the sender, and the time at which it expires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) kind: TimerKind,
    at: Instant,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            kind: TimerKind::Nothing,
            at: Instant::NEVER,
        }
    }
}

impl Timer {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Sender {
    /// Returns the time of the next call of [`Sender::on_deadline`].
    pub(crate) fn deadline(&self) -> Instant {
        if self.signals.is_suspended() {
            return Instant::NEVER;
        }
        let sending = self.pacer.deadline().min(self.device_deadline());
        self.timer.at.min(sending)
    }

    /// Handles the deadline.
    pub(crate) fn on_deadline(&mut self, now: Instant) {
        self.set_now(now);
        if self.pacer.deadline().min(self.device_deadline()) <= now {
            self.pacer.is_waiting = false;
            self.small_queue.release(now);
            self.retransmit_lost(now);
            self.transmit(now);
        }
        if self.timer.at > now {
            return;
        }
        // The kind of the timer stays set while it is handled.
        self.timer.at = Instant::NEVER;
        match self.timer.kind {
            TimerKind::Nothing => {}
            TimerKind::Retransmission => self.on_retransmission_timeout(now),
            TimerKind::Probe => self.send_loss_probe(now),
            TimerKind::Reordering => self.on_reordering_timeout(now),
            TimerKind::ZeroWindow => {
                self.timer.clear();
                self.send_zero_window_probe(now);
                self.transmit(now);
            }
        }
        self.note_limit_after_timer(now);
        self.refresh_window();
    }

    /// Returns the time until the head of the queue has been outstanding for an RTO; zero if it has.
    pub(super) fn time_until_rto(&self, now: Instant) -> Duration {
        self.board.head().map_or(self.rto(), |head| {
            (head.tx.sent_at + self.rto()).saturating_since(now)
        })
    }

    /// Starts a timer of this kind instead of the current one.
    pub(super) fn start_timer(&mut self, kind: TimerKind, now: Instant, wait: Duration) {
        let at = self.config.timers.expiry(now, wait);
        self.timer = Timer { kind, at };
    }

    /// Starts the retransmission timer. If it replaces a probe or reordering timer, it runs only for the rest of the RTO of
    /// the head (the kernel's `tcp_rearm_rto`).
    pub(super) fn rearm_retransmission(&mut self, now: Instant) {
        if self.board.packets_out() == 0 {
            self.timer.clear();
            return;
        }
        let wait = match self.timer.kind {
            TimerKind::Reordering | TimerKind::Probe => {
                self.time_until_rto(now).max(Duration::from_millis(1))
            }
            _ => self.rto(),
        };
        self.start_timer(
            TimerKind::Retransmission,
            now,
            wait + self.pacing_delay(now),
        );
    }

    /// Starts the retransmission timer for a whole RTO.
    pub(super) fn restart_retransmission(&mut self, now: Instant) {
        self.start_timer(
            TimerKind::Retransmission,
            now,
            self.rto() + self.pacing_delay(now),
        );
    }

    /// Returns whether the timer runs for the end of a reordering window.
    pub(super) fn waits_for_reordering(&self) -> bool {
        self.timer.kind == TimerKind::Reordering
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        self.timer.clear();
        if self.board.packets_out() == 0 {
            return;
        }
        // If the receiver has withdrawn its window, the retransmission is a window probe, not a time-out (the kernel's
        // `tcp_retransmit_timer`).
        let withdrawn = self.seq.snd_wnd == 0;
        let has_expired = if withdrawn {
            self.rtx_probe0_timed_out(now)
        } else {
            self.timeouts.write_timed_out(now, &self.config)
        };
        if has_expired {
            self.timeouts.has_expired = true;
            return;
        }
        self.refresh_window();
        self.timeouts.note_first(now, withdrawn);
        if withdrawn {
            self.enter_loss(now);
        } else {
            self.counts.timeouts += 1;
            self.note_rto(now);
            self.enter_loss(now);
            self.timeouts.retransmits += 1;
        }
        let first = self.board.ordinals().start;
        if !self.still_in_host_queue(now, first) && self.fit_retransmission(first, 1) > 0 {
            self.retransmit(now, first, 1);
        }
        if self.has_linear_timeouts() {
            self.timeouts.backoff = 0;
        } else {
            // RFC 6298 §5.5: back off.
            self.timeouts.backoff += 1;
        }
        let wait = self
            .timeouts
            .clamp_to_user_timeout(now, self.rto(), self.config.user_timeout);
        self.start_timer(TimerKind::Retransmission, now, wait);
    }

    /// Handles the end of a reordering window (the kernel's `tcp_rack_reo_timeout`).
    fn on_reordering_timeout(&mut self, now: Instant) {
        let previous = self.congestion.window.lost;
        let in_flight = self.board.in_flight();
        self.mark_losses(now);
        if self.board.in_flight() != in_flight {
            if self.congestion.window.state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.congestion.owns_window() {
                    let lost = (self.congestion.window.lost - previous) as u32;
                    self.reduce_window(1, lost, false);
                }
            }
            self.retransmit_lost(now);
        }
        if self.timer.kind != TimerKind::Retransmission {
            self.rearm_retransmission(now);
        }
    }

    /// Starts the zero-window probe timer if no timer runs, nothing is outstanding, and data waits.
    pub(super) fn ensure_zero_window_probe(&mut self, now: Instant) {
        if self.timer.kind == TimerKind::Nothing
            && self.board.packets_out() == 0
            && self.seq.has_unsent()
        {
            self.start_timer(TimerKind::ZeroWindow, now, self.rto());
        }
    }

    /// Probes a window without room for the next segment (the kernel's `tcp_send_probe0`).
    fn send_zero_window_probe(&mut self, now: Instant) {
        if self.next_fits() {
            // Nagle's algorithm or `TCP_CORK` delays the segment.
            self.send_delayed_short(now);
            return;
        }
        if self.window_probes.timed_out(now, &self.config) {
            self.timeouts.has_expired = true;
            return;
        }
        self.window_probes.probes_out += 1;
        if self.seq.window_room() > 0 {
            self.timeouts.backoff = 0;
            self.send_window_part(now);
            return;
        }
        self.push_window_probe(now);
        self.timeouts.backoff += 1;
        self.start_timer(TimerKind::ZeroWindow, now, self.rto());
    }

    /// Handles an ACK while nothing was outstanding: the window may have opened (the kernel's `tcp_ack_probe`).
    pub(super) fn after_zero_window_probe(&mut self, now: Instant) {
        self.timer.clear();
        self.window_probes = WindowProbes::default();
        if self.next_fits() {
            self.timeouts.backoff = 0;
        } else {
            self.ensure_zero_window_probe(now);
        }
    }
}

#[cfg(test)]
mod tests;
