//! Stalls: long silences of a receiver while data are in flight.

use std::collections::VecDeque;

/// Maximum number of stored stalls.
const MAX_STALLS: usize = 16;
/// Minimum length of a stall, ns: the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;

/// Stalls of one direction.
#[derive(Default)]
pub(super) struct Stalls {
    last_ns: Option<u64>,
    /// Start and end of the latest stalls, ns.
    recent: VecDeque<(u64, u64)>,
    /// Time in stalls beyond their minimum length.
    pub(super) total_ns: u64,
}

impl Stalls {
    /// Processes a packet of the receiver. Data have been in flight since `waiting_since`; `rtt_ns` is the smoothed RTT.
    /// Returns start and end of the stall before it beyond the minimum length, ns.
    pub(super) fn on_packet(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
    ) -> Option<(u64, u64)> {
        let last = self.last_ns.replace(at_ns);
        let since = waiting_since?;
        let from = last.map_or(since, |last| last.max(since));
        self.add(from, at_ns, at_ns, rtt_ns)
    }

    /// Processes the end of the connection while data wait. A receiver without any captured packet has no stall.
    pub(super) fn on_end(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
    ) -> Option<(u64, u64)> {
        let from = waiting_since?.max(self.last_ns?);
        // No answer ends this stall.
        self.add(from, at_ns, u64::MAX, rtt_ns)
    }

    fn add(&mut self, from: u64, at_ns: u64, end_ns: u64, rtt_ns: u64) -> Option<(u64, u64)> {
        let min_length_ns = MIN_NS.max(2 * rtt_ns);
        let length = at_ns.saturating_sub(from);
        if length < min_length_ns {
            return None;
        }
        self.total_ns += length - min_length_ns;
        if self.recent.len() == MAX_STALLS {
            self.recent.pop_front();
        }
        self.recent.push_back((from, end_ns));
        Some((from + min_length_ns, at_ns))
    }

    /// Returns the time of the last packet of the receiver.
    pub(super) fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }

    /// Returns whether the latest stall had not ended at `at_ns`.
    pub(super) fn is_in_latest(&self, at_ns: u64) -> bool {
        self.recent.back().is_some_and(|(_, until)| at_ns < *until)
    }

    /// Returns the end of the stall in which a segment passed at `at_ns`, or up to an RTT, `rtt_ns`, before its start.
    pub(super) fn end_around(&self, at_ns: u64, rtt_ns: u64) -> Option<u64> {
        self.recent
            .iter()
            .find(|(from, until)| (from.saturating_sub(rtt_ns)..*until).contains(&at_ns))
            .map(|(_, until)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_silence_counts_beyond_its_least_length_whatever_ends_it() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.on_packet(100 * MS, None, 20 * MS), None);
        assert_eq!(stalls.on_packet(250 * MS, Some(90 * MS), 20 * MS), None);
        let answered = stalls.on_packet(950 * MS, Some(90 * MS), 20 * MS);
        assert_eq!(answered, Some((450 * MS, 950 * MS)));
        let open = stalls.on_end(2_000 * MS, Some(1_000 * MS), 300 * MS);
        assert_eq!(open, Some((1_600 * MS, 2_000 * MS)));
        assert_eq!(stalls.total_ns, 900 * MS);
        assert_eq!(stalls.end_around(1_100 * MS, 0), Some(u64::MAX));
    }

    #[test]
    fn nobody_waits_for_a_receiver_that_was_never_captured() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.on_end(9_000 * MS, Some(MS), MS), None);
    }
}
