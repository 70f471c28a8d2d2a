//! Stalls: times in which data are in flight and nothing arrives from the receiver.

use std::collections::VecDeque;

/// Maximum number of stored stalls.
const KEPT: usize = 16;
/// Minimum length of a silence, ns: that of the shortest retransmission time-out of Linux.
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
    /// Returns the time of the silence before it beyond the least length.
    pub(super) fn on_packet(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
    ) -> Option<(u64, u64)> {
        let last = self.last_ns.replace(at_ns);
        let since = waiting_since?;
        let from = last.map_or(since, |last| last.max(since));
        self.note(from, at_ns, at_ns, rtt_ns)
    }

    /// Notes that the connection ends while data wait. A receiver of which no packet was captured is not silent.
    pub(super) fn on_end(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
    ) -> Option<(u64, u64)> {
        let from = waiting_since?.max(self.last_ns?);
        // No answer ends this silence.
        self.note(from, at_ns, u64::MAX, rtt_ns)
    }

    fn note(&mut self, from: u64, at_ns: u64, answered_ns: u64, rtt_ns: u64) -> Option<(u64, u64)> {
        let min_silence_ns = MIN_NS.max(2 * rtt_ns);
        let silent = at_ns.saturating_sub(from);
        if silent < min_silence_ns {
            return None;
        }
        self.total_ns += silent - min_silence_ns;
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back((from, answered_ns));
        Some((from + min_silence_ns, at_ns))
    }

    /// Returns the time of the last segment of the receiver.
    pub(super) fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }

    /// Returns whether what passed at `at_ns` waited for the end of the latest silence.
    pub(super) fn held(&self, at_ns: u64) -> bool {
        self.recent.back().is_some_and(|(_, until)| at_ns < *until)
    }

    /// Returns the end of the silence into which came what passed at `at_ns`; it takes up to `rtt_ns` until one shows.
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
