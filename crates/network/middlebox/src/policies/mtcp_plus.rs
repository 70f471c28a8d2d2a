//! M-TCP+: M-TCP that is notified of disconnections before they happen (Omueti and Trajković, SPECTS 2007).
//!
//! In the publication the mobile host announces the disconnection; here the link notifies the split host. The sender is
//! frozen before the interruption, and its window opens as soon as the link is back. The buffer then fills while the
//! local sender continues from its former state.

use net::LinkChange;
use tcp::{Connection, Segment};
use units::Instant;

use super::mtcp::MTcp;
use super::{Policy, Progress, pause_with_link};

/// Policy of M-TCP+.
pub(crate) struct MTcpPlus {
    mtcp: MTcp,
    /// Whether the link is interrupted, or will be soon.
    disconnected: bool,
}

impl MTcpPlus {
    pub(crate) fn new(mtcp: MTcp) -> Self {
        Self {
            mtcp,
            disconnected: false,
        }
    }
}

impl Policy for MTcpPlus {
    fn reserve(&self) -> u64 {
        self.mtcp.reserve()
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        self.mtcp.before_data(inbound, segment);
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection) {
        self.mtcp.on_data(now, inbound);
    }

    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        self.mtcp.acknowledges(progress)
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool) {
        if self.disconnected {
            // An ACK that was under way: it goes on, and the window stays closed.
            inbound.acknowledge(now);
        } else {
            self.mtcp.on_confirmed(now, inbound, all_confirmed);
        }
    }

    fn on_link(
        &mut self,
        now: Instant,
        inbound: &mut Connection,
        outbound: &mut Connection,
        change: LinkChange,
    ) {
        pause_with_link(now, outbound, change);
        self.disconnected = change != LinkChange::Restored;
        if !self.disconnected {
            self.mtcp.thaw(now, inbound);
        } else if !self.mtcp.is_frozen() {
            self.mtcp.freeze(now, inbound);
        }
    }

    fn deadline(&self) -> Instant {
        self.mtcp.deadline()
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.mtcp.on_deadline(now, inbound);
    }
}
