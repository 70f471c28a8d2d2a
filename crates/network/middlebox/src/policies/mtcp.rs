//! M-TCP: the sender is acknowledged as the far end acknowledges. It is frozen (zero window) when the far end falls
//! silent (Brown and Singh, "M-TCP: TCP for mobile cellular networks", 1997).
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
    progress: Progress,
    /// Whether the sender has no window.
    frozen: bool,
    /// Time at which the silence of the far end counts as a disconnection.
    expires: Instant,
}

impl MTcp {
    pub(crate) fn new(freeze_after: Duration) -> Self {
        let progress = Progress {
            confirmed: 0,
            all_confirmed: true,
            rtt: Duration::ZERO,
        };
        Self {
            freeze_after,
            progress,
            frozen: false,
            expires: Instant::NEVER,
        }
    }

    /// Withdraws the sender's window by an ACK for the byte that was left unacknowledged.
    pub(super) fn freeze(&mut self, now: Instant, inbound: &mut Connection) {
        self.prepare_to_freeze(inbound);
        inbound.acknowledge(now);
    }

    /// Makes the next ACK advertise a zero window.
    fn prepare_to_freeze(&mut self, inbound: &mut Connection) {
        self.expires = Instant::NEVER;
        self.frozen = true;
        inbound.confirm(self.progress.confirmed);
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

    /// Restarts the silence timer if data is outstanding.
    fn wait(&mut self, now: Instant) {
        self.expires = if self.progress.all_confirmed || self.frozen {
            Instant::NEVER
        } else {
            now + self.progress.rtt + self.freeze_after
        };
    }

    /// Notes progress of the far end.
    pub(super) fn note(&mut self, progress: &Progress) {
        self.progress = *progress;
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
            // The sender's RTO fired before our freeze deadline. The ACK of the retransmission carries the zero window.
            self.prepare_to_freeze(inbound);
        }
    }

    fn on_data(&mut self, now: Instant, _: &mut Connection) {
        let idle = core::mem::take(&mut self.progress.all_confirmed);
        if idle || self.expires == Instant::NEVER {
            self.wait(now);
        }
    }

    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        self.note(progress);
        if progress.all_confirmed {
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
