//! Silence: time in which data are in flight and nothing comes from the receiver.

use std::collections::VecDeque;

/// Silences that are kept.
const KEPT: usize = 16;
/// Least length of a silence, ns: that of the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;

/// Silences of a receiver.
#[derive(Default)]
pub(super) struct Stalls {
    last_ns: Option<u64>,
    recent: VecDeque<(u64, u64)>,
    /// Time in silences beyond their least length.
    pub(super) total_ns: u64,
}

impl Stalls {
    /// Notes a packet of the receiver. Data have been in flight since `waiting_since`; `rtt_ns` is the usual RTT.
    pub(super) fn on_packet(&mut self, at_ns: u64, waiting_since: Option<u64>, rtt_ns: u64) {
        let last = self.last_ns.replace(at_ns);
        let Some(since) = waiting_since else {
            return;
        };
        let from = last.map_or(since, |last| last.max(since));
        let least = MIN_NS.max(2 * rtt_ns);
        let silent = at_ns.saturating_sub(from);
        if silent < least {
            return;
        }
        self.total_ns += silent - least;
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back((from, at_ns));
    }

    /// Returns when the receiver was heard last.
    pub(super) fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }

    /// Returns the end of the silence into which came what passed at `at_ns`; it takes up to `rtt_ns` until one shows.
    pub(super) fn end_around(&self, at_ns: u64, rtt_ns: u64) -> Option<u64> {
        self.recent
            .iter()
            .find(|(from, until)| (from.saturating_sub(rtt_ns)..*until).contains(&at_ns))
            .map(|(_, until)| *until)
    }
}
