//! Policies: rules by which a split host acknowledges data that has not reached the far end.

mod advanced;
mod es;
mod split;

use tcp::{Connection, Segment};
use units::Instant;

use crate::{Kind, Middlebox};
use advanced::Advanced;
use es::Es;
use split::Split;

/// Policy of one direction of a connection. It steers the acknowledgements of `inbound`, the split host's end of the
/// leg on which the data comes.
pub(crate) trait Policy: Send {
    /// Returns the bytes at the end of the data that ACKs keep back.
    fn reserve(&self) -> u64;

    /// Takes the options of `inbound` into account, which have just been agreed on. Data may come next.
    fn negotiated(&mut self, inbound: &mut Connection) {
        let _ = inbound;
    }

    /// Prepares for a segment with data, which `inbound` is about to handle.
    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        let _ = (inbound, segment);
    }

    /// Handles data in order that has come.
    fn on_data(&mut self, now: Instant, inbound: &mut Connection) {
        let _ = (now, inbound);
    }

    /// Handles progress of the far end, which has confirmed more data; all that has come, if `everything`.
    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, everything: bool);

    /// Returns the time of the next call of [`Policy::on_deadline`]; [`Instant::NEVER`] for none.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// Handles the deadline.
    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        let _ = (now, inbound);
    }
}

/// Returns the policy of one direction through a split host with these settings.
pub(crate) fn policy(settings: &Middlebox) -> Box<dyn Policy> {
    let es = || Es::new(settings.reserve(), settings.freeze_after());
    match settings.kind {
        Kind::Es => Box::new(es()),
        Kind::As => Box::new(Advanced::new(settings.piggyback(), es())),
        Kind::Split | Kind::Snoop => Box::new(Split),
    }
}
