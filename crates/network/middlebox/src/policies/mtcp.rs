//! M-TCP: ACKs follow those of the far end, and the sender is frozen (zero window) while the far end is silent (Brown and
//! Singh, "M-TCP: TCP for mobile cellular networks", 1997).
//!
//! The split host acknowledges what the far end has confirmed, except its last byte. When the far end falls silent, an
//! ACK for that byte withdraws the window. The sender then waits for a window instead of timing out. The next ACK of the
//! far end opens the window again.
//!
//! M-TCP+ is M-TCP that is notified of disconnections before they happen (Omueti and Trajković, SPECTS 2007). There the
//! mobile host announces them; here the link does, to which only M-TCP+ subscribes. The sender is frozen before the
//! interruption, and its window opens as soon as the link is back. The buffer then fills while the local sender
//! continues from its former state.

use net::LinkChange;
use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::{Policy, Progress, pause_with_link};

/// Policy of M-TCP and M-TCP+.
pub(crate) struct MTcp {
    /// Silence of the far end beyond its RTT after which the sender is frozen.
    freeze_after: Duration,
    progress: Progress,
    /// Whether the sender has no window.
    is_frozen: bool,
    /// Whether the link is interrupted, or will be soon; known to M-TCP+ only.
    is_disconnected: bool,
    /// Time at which the silence of the far end counts as a disconnection.
    deadline: Instant,
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
            is_frozen: false,
            is_disconnected: false,
            deadline: Instant::NEVER,
        }
    }

    /// Withdraws the sender's window by an ACK for the byte that was left unacknowledged.
    fn freeze(&mut self, now: Instant, inbound: &mut Connection) {
        self.prepare_to_freeze(inbound);
        inbound.acknowledge(now);
    }

    /// Makes the next ACK advertise a zero window.
    fn prepare_to_freeze(&mut self, inbound: &mut Connection) {
        self.deadline = Instant::NEVER;
        self.is_frozen = true;
        inbound.confirm(self.progress.confirmed);
        inbound.set_frozen(true);
    }

    /// Opens the sender's window again.
    fn thaw(&mut self, now: Instant, inbound: &mut Connection) {
        if self.is_frozen {
            self.is_frozen = false;
            inbound.set_frozen(false);
            inbound.acknowledge(now);
        }
        self.restart_timer(now);
    }

    /// Restarts the silence timer if data is outstanding.
    fn restart_timer(&mut self, now: Instant) {
        self.deadline = if self.progress.all_confirmed || self.is_frozen {
            Instant::NEVER
        } else {
            now + self.progress.rtt + self.freeze_after
        };
    }
}

impl Policy for MTcp {
    fn reserve(&self) -> u64 {
        Connection::CONFIRMED_ONLY
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if inbound.repeats(segment) {
            // The sender's RTO fired before our freeze deadline. The ACK of the retransmission carries the zero window.
            self.prepare_to_freeze(inbound);
        }
    }

    fn on_data(&mut self, now: Instant, _: &mut Connection, far_rtt: Duration) {
        self.progress.rtt = far_rtt;
        let idle = core::mem::take(&mut self.progress.all_confirmed);
        if idle || self.deadline == Instant::NEVER {
            self.restart_timer(now);
        }
    }

    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        self.progress = *progress;
        if progress.all_confirmed {
            progress.confirmed
        } else {
            progress.confirmed.saturating_sub(1)
        }
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, _: bool) {
        if self.is_disconnected {
            // An ACK that was under way is passed on, but the window stays closed.
            inbound.acknowledge(now);
            return;
        }
        self.is_frozen = false;
        inbound.set_frozen(false);
        inbound.acknowledge(now);
        self.restart_timer(now);
    }

    fn on_link(
        &mut self,
        now: Instant,
        inbound: &mut Connection,
        outbound: &mut Connection,
        change: LinkChange,
    ) {
        pause_with_link(now, outbound, change);
        self.is_disconnected = change != LinkChange::Restored;
        if !self.is_disconnected {
            self.thaw(now, inbound);
        } else if !self.is_frozen {
            self.freeze(now, inbound);
        }
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.freeze(now, inbound);
    }
}
