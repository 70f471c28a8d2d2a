//! Counter of the round trips of data.

use cca::SenderInfo;

/// Counter of round trips: one ends when all that was in flight at its start has been delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundCounter {
    count: u32,
    /// Number of delivered segments at which the current round ends; `None` while nothing is in flight.
    end: Option<u64>,
}

impl RoundCounter {
    pub(super) fn observe(&mut self, sender: &SenderInfo) {
        let ended = self.end.is_some_and(|end| sender.delivered >= end);
        self.count = self.count.saturating_add(u32::from(ended));
        if ended || self.end.is_none() {
            let inflight = u64::from(sender.inflight);
            self.end = (inflight > 0).then(|| sender.delivered.saturating_add(inflight));
        }
    }

    /// Returns the number of round trips so far.
    pub(super) fn count(&self) -> u32 {
        self.count
    }
}
