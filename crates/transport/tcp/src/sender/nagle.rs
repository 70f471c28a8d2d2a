//! Nagle, TCP_CORK, MSG_MORE, MSG_EOR.

use units::Instant;

use super::Sender;
use super::transmit::Push;

/// End of a write, by the flags of `send`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendFlags {
    /// Message: what is written may leave, by Nagle's algorithm.
    #[default]
    Message,
    /// More follows: a short segment waits for it (`MSG_MORE`).
    More,
    /// Record: later data does not join the last segment (`MSG_EOR`).
    Record,
}

/// Options that decide on the hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nagle {
    /// Whether a short segment waits while another one is outstanding; not so with `TCP_NODELAY`.
    nagle: bool,
    /// Whether a short segment always waits (`TCP_CORK`).
    cork: bool,
    /// Whether the current write announces more.
    pub(super) more: bool,
}

impl Nagle {
    pub(super) fn new(nagle: bool) -> Self {
        Self {
            nagle,
            cork: false,
            more: false,
        }
    }
}

impl Sender {
    /// Turns Nagle's algorithm on or off; off, everything that is held leaves (`TCP_NODELAY`).
    pub(crate) fn set_nagle(&mut self, now: Instant, nagle: bool) {
        self.hold.nagle = nagle;
        if !nagle {
            self.transmit_as(now, Push::All);
        }
    }

    /// Holds short segments, or releases those that are held (`TCP_CORK`).
    pub(crate) fn set_cork(&mut self, now: Instant, cork: bool) {
        self.hold.cork = cork;
        if !cork {
            let push = if self.hold.nagle {
                Push::Pending
            } else {
                Push::All
            };
            self.transmit_as(now, push);
        }
    }

    /// Returns whether a short last segment waits (the kernel's `tcp_nagle_check`).
    pub(super) fn nagle_check(&self, push: Push) -> bool {
        push.may_hold()
            && (self.hold.cork || self.hold.more || self.hold.nagle && self.minshall_check())
    }
}
