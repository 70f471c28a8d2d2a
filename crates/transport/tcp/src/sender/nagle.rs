//! Delay of short segments: Nagle's algorithm, `TCP_CORK` and the flags of a write.

use units::Instant;

use super::Sender;
use super::transmit::Push;

/// Flags of a write (`send`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendFlags {
    /// None: Nagle's algorithm decides when a short segment leaves.
    #[default]
    Message,
    /// More data follows, for which a short segment waits (`MSG_MORE`).
    More,
    /// End of a record: later data does not join the last segment (`MSG_EOR`).
    Record,
}

/// Options that delay short segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nagle {
    /// Whether a short segment waits while another one is outstanding (off with `TCP_NODELAY`).
    is_on: bool,
    /// Whether a short segment always waits (`TCP_CORK`).
    is_corked: bool,
    /// Whether the current write has `MSG_MORE`.
    pub(super) has_more: bool,
}

impl Nagle {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            is_corked: false,
            has_more: false,
        }
    }
}

impl Sender {
    /// Turns Nagle's algorithm on, or off, which releases a delayed segment (`TCP_NODELAY`).
    pub(crate) fn set_nagle(&mut self, now: Instant, is_on: bool) {
        self.nagle.is_on = is_on;
        if !is_on {
            self.transmit_as(now, Push::All);
        }
    }

    /// Delays short segments, or releases them (`TCP_CORK`).
    pub(crate) fn set_cork(&mut self, now: Instant, is_corked: bool) {
        self.nagle.is_corked = is_corked;
        if !is_corked {
            let push = if self.nagle.is_on {
                Push::Pending
            } else {
                Push::All
            };
            self.transmit_as(now, push);
        }
    }

    /// Returns whether a short last segment has to wait (the kernel's `tcp_nagle_check`).
    pub(super) fn nagle_check(&self, push: Push) -> bool {
        push.may_hold()
            && (self.nagle.is_corked
                || self.nagle.has_more
                || self.nagle.is_on && self.minshall_check())
    }
}
