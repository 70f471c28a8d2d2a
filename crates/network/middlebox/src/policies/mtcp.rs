//! M-TCP: ACKs of the far end decide, and its silence freezes the sender (Brown and Singh, "M-TCP: TCP for mobile
//! cellular networks", 1997).
//!
//! The split host acknowledges what the far end has confirmed, less the last byte. When the far end falls silent, an
//! ACK for that byte withdraws the window. The sender then waits for a window instead of timing out. The next sign of
//! the far end opens the window again.

use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::{Policy, Progress};

/// Policy of M-TCP.
pub(crate) struct MTcp {
    /// Time by which the silence of the far end exceeds its RTT before the sender is frozen.
    freeze_after: Duration,
    far: Progress,
    /// Whether the sender has no window.
    frozen: bool,
    /// Time at which the silence of the far end counts as a disconnection.
    expires: Instant,
}

impl MTcp {
    pub(crate) fn new(freeze_after: Duration) -> Self {
        let far = Progress {
            confirmed: 0,
            everything: true,
            rtt: Duration::ZERO,
        };
        Self {
            freeze_after,
            far,
            frozen: false,
            expires: Instant::NEVER,
        }
    }

    /// Withdraws the sender's window by an ACK for the byte that was left unacknowledged.
    pub(super) fn freeze(&mut self, now: Instant, inbound: &mut Connection) {
        self.prepare_to_freeze(inbound);
        inbound.acknowledge(now);
    }

    /// Lets the next ACK withdraw the sender's window.
    fn prepare_to_freeze(&mut self, inbound: &mut Connection) {
        self.expires = Instant::NEVER;
        self.frozen = true;
        inbound.confirm(self.far.confirmed);
        inbound.freeze(true);
    }

    /// Opens the sender's window again.
    pub(super) fn thaw(&mut self, now: Instant, inbound: &mut Connection) {
        if self.frozen {
            self.frozen = false;
            inbound.freeze(false);
            inbound.acknowledge(now);
        }
        self.wait(now);
    }

    /// Begins to wait for the next sign of the far end, if it owes one.
    fn wait(&mut self, now: Instant) {
        self.expires = if self.far.everything || self.frozen {
            Instant::NEVER
        } else {
            now + self.far.rtt + self.freeze_after
        };
    }

    /// Notes progress of the far end.
    pub(super) fn note(&mut self, progress: &Progress) {
        self.far = *progress;
    }

    /// Returns whether the sender has no window.
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen
    }
}

impl Policy for MTcp {
    fn reserve(&self) -> u64 {
        Connection::KEEPS_ALL
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if inbound.repeats(segment) {
            // The sender's time-out has come before our estimate of it: the answer to the repetition freezes it.
            self.prepare_to_freeze(inbound);
        }
    }

    fn on_data(&mut self, now: Instant, _: &mut Connection) {
        let idle = core::mem::take(&mut self.far.everything);
        if idle || self.expires == Instant::NEVER {
            self.wait(now);
        }
    }

    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        self.note(progress);
        if progress.everything {
            progress.confirmed
        } else {
            progress.confirmed.saturating_sub(1)
        }
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, _: bool) {
        self.frozen = false;
        inbound.freeze(false);
        inbound.acknowledge(now);
        self.wait(now);
    }

    fn deadline(&self) -> Instant {
        self.expires
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.freeze(now, inbound);
    }
}
