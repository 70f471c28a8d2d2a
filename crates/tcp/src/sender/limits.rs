//! Limits: the time for which something other than the network held a sender back, as Linux's `tcp_chrono` has it.

use units::{Duration, Instant};

use super::Sender;

/// What holds a sender back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    /// The application has nothing to send.
    Application,
    /// The window that the other end offers (`TCP_CHRONO_RWND_LIMITED`).
    ReceiveWindow,
    /// The application waits for room in the send buffer, and all it holds was sent (`TCP_CHRONO_SNDBUF_LIMITED`).
    SendBuffer,
    /// The congestion window, pacing or loss: the network.
    Network,
}

/// Times of a sender under each limit since its first data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    current: Option<(Limit, Instant)>,
    application: Duration,
    receive_window: Duration,
    send_buffer: Duration,
}

/// Time for which a sender was held back, by what held it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) application: Duration,
    pub(crate) receive_window: Duration,
    pub(crate) send_buffer: Duration,
}

impl Limits {
    /// Notes that `limit` holds from `now` on.
    fn set(&mut self, now: Instant, limit: Limit) {
        let HeldBack {
            application,
            receive_window,
            send_buffer,
        } = self.held_back(now);
        *self = Self {
            current: Some((limit, now)),
            application,
            receive_window,
            send_buffer,
        };
    }

    /// Returns the times until `now`.
    #[inline]
    pub(super) fn held_back(&self, now: Instant) -> HeldBack {
        let mut held = HeldBack {
            application: self.application,
            receive_window: self.receive_window,
            send_buffer: self.send_buffer,
        };
        if let Some((limit, since)) = self.current {
            let time = now.saturating_since(since);
            match limit {
                Limit::Application => held.application += time,
                Limit::ReceiveWindow => held.receive_window += time,
                Limit::SendBuffer => held.send_buffer += time,
                Limit::Network => {}
            }
        }
        held
    }
}

impl Sender {
    /// Notes what holds the sender back after it has sent what it may.
    pub(super) fn note_limit(&mut self, now: Instant) {
        let limit = if self.has_unsent() {
            let room = self.congestion.window.cwnd > self.board.in_flight();
            // Linux looks at the offered window last, where pacing and the congestion window have room.
            if room && !self.is_held_by_pacing(now) && !self.next_fits() {
                Limit::ReceiveWindow
            } else {
                Limit::Network
            }
        } else if !self.buffer.waits() {
            Limit::Application
        } else if self.is_cwnd_limited() {
            Limit::Network
        } else {
            Limit::SendBuffer
        };
        // Nothing limits a sender that has not begun.
        if self.limits.current.is_some() || self.snd_nxt > self.snd_una {
            self.limits.set(now, limit);
        }
    }

    /// Returns the time for which the sender was held back until its last event.
    #[inline]
    pub(crate) fn held_back(&self) -> HeldBack {
        self.limits.held_back(self.congestion.window.now)
    }
}
