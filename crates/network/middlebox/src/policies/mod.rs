//! Policies: rules by which a split host acknowledges data that has not reached the far end.

mod as_tcp;
mod es_tcp;
mod mtcp;
mod pam;
mod split;

use net::LinkChange;
use tcp::{Connection, Segment};
use units::{Duration, Instant};

use crate::{Kind, Middlebox};
use as_tcp::AsTcp;
use es_tcp::EsTcp;
use mtcp::MTcp;
use pam::Pam;
use split::Split;

/// Confirmation by the far end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Payload that the far end has confirmed, bytes.
    pub(crate) confirmed: u64,
    /// Whether that is all data that the split host has received.
    pub(crate) all_confirmed: bool,
    /// Smoothed RTT between the split host and the far end.
    pub(crate) rtt: Duration,
}

/// Policy of one direction of a connection. It steers the acknowledgements of `inbound`, the split host's end of the
/// leg on which the data arrives. `outbound` is its end of the other leg.
pub(crate) trait Policy: Send {
    /// Returns the number of bytes at the end of the data that ACKs leave unacknowledged.
    fn reserve(&self) -> u64;

    /// Applies the options of `inbound`, which have just been negotiated, before any data.
    fn negotiated(&mut self, inbound: &mut Connection) {
        let _ = inbound;
    }

    /// Prepares for a segment with data, which `inbound` is about to handle.
    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        let _ = (inbound, segment);
    }

    /// Handles in-order data that has arrived. `far_rtt` is the smoothed RTT between the split host and the far end.
    fn on_data(&mut self, now: Instant, inbound: &mut Connection, far_rtt: Duration) {
        let _ = (now, inbound, far_rtt);
    }

    /// Returns the number of payload bytes that ACKs may cover after this progress of the far end.
    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        progress.confirmed
    }

    /// Handles progress of the far end, which has confirmed more data, or all of it (`all_confirmed`).
    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool);

    /// Handles a change of the link to the far end.
    fn on_link(
        &mut self,
        now: Instant,
        inbound: &mut Connection,
        outbound: &mut Connection,
        change: LinkChange,
    ) {
        let _ = (now, inbound, outbound, change);
    }

    /// Returns the time of the next call of [`Policy::on_deadline`]; [`Instant::NEVER`] for none.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// Handles the deadline.
    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        let _ = (now, inbound);
    }
}

/// Pauses a sender while its link is interrupted; its state does not change.
fn pause_with_link(now: Instant, outbound: &mut Connection, change: LinkChange) {
    match change {
        LinkChange::Expected => {}
        LinkChange::Interrupted => outbound.suspend(now),
        LinkChange::Restored => outbound.resume(now),
    }
}

/// Returns the policy of one direction through a split host with these settings.
pub(crate) fn policy(settings: &Middlebox) -> Box<dyn Policy> {
    let es = || EsTcp::new(settings.reserve(), settings.freeze_after());
    match settings.kind {
        Kind::Es => Box::new(es()),
        Kind::As => Box::new(AsTcp::new(settings.max_ack_wait(), es())),
        Kind::Mtcp | Kind::MtcpPlus => Box::new(MTcp::new(settings.freeze_after())),
        Kind::Pam => Box::new(Pam::new(settings.freeze_after())),
        _ => Box::new(Split),
    }
}
