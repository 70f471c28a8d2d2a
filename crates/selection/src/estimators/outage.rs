//! Outages: from a retransmission time-out until the recovery from it has ended.

use cca::{CaState, SenderInfo};

/// Number of round trips after the recovery until samples show the path again, with the one in which the recovery ends.
const SETTLING_ROUNDS: u32 = 2;

/// Detector of outages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutageDetector {
    timeouts: u64,
    /// Number of the round trip at which the outage is over; `None` outside of an outage.
    end_round: Option<u32>,
}

impl OutageDetector {
    /// Adds the next sample, in round trip number `round`.
    pub(super) fn observe(&mut self, sender: &SenderInfo, round: u32) {
        let timeouts = sender.timeouts.unwrap_or_default();
        if sender.ca_state == CaState::Loss || timeouts > self.timeouts {
            self.end_round = Some(round.saturating_add(SETTLING_ROUNDS));
        } else if self.end_round.is_some_and(|end| round >= end) {
            self.end_round = None;
        }
        self.timeouts = timeouts;
    }

    /// Returns whether there is an outage, or the recovery from one.
    pub(super) fn is_ongoing(&self) -> bool {
        self.end_round.is_some()
    }
}
