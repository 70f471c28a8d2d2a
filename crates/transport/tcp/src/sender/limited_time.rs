//! Limited time: the times for which something other than the network limited a sender.

use units::Instant;

use super::Sender;
use super::chrono::PhaseTimes;

/// Limit of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    /// None: the sender has not begun.
    Start,
    /// The application has nothing to send.
    Application,
    /// The window that the peer offers (`TCP_CHRONO_RWND_LIMITED`).
    ReceiveWindow,
    /// The send buffer is full of data that was sent (`TCP_CHRONO_SNDBUF_LIMITED`).
    SendBuffer,
    /// The congestion window, pacing or loss: the network.
    Network,
}

impl From<Limit> for usize {
    fn from(limit: Limit) -> Self {
        limit as Self
    }
}

/// Times of a sender under each limit.
pub(super) type Limits = PhaseTimes<Limit, 5>;

impl Sender {
    /// Updates the limit of the sender after a transmission.
    pub(super) fn note_limit(&mut self, now: Instant) {
        let has_unsent = self.seq.has_unsent();
        let has_room = self.congestion.window.cwnd > self.board.in_flight();
        let limit = if has_unsent {
            // Linux checks the offered window last, after the congestion window and pacing.
            if has_room && !self.is_held_by_pacing(now) && !self.next_fits() {
                Limit::ReceiveWindow
            } else {
                Limit::Network
            }
        } else if !self.buffer.nospace {
            Limit::Application
        } else if self.is_cwnd_limited() {
            Limit::Network
        } else {
            Limit::SendBuffer
        };
        // Nothing limits a sender that has not begun.
        if self.limits.current != Limit::Start || self.seq.snd_nxt > self.seq.snd_una {
            self.limits.enter(now, limit);
        }
        if self.chronograph.current.is_busy() {
            let busy = self.busy_limit(now, has_unsent || self.buffer.nospace, has_room);
            self.chronograph.enter(now, busy);
        }
    }
}
