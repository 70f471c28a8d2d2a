//! Stalls: long silences of a receiver while data are in flight.

use std::collections::VecDeque;

/// Maximum number of stored stalls.
const MAX_STALLS: usize = 16;
/// Minimum length of a stall, ns: the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;

/// Silence of a receiver.
struct Stall {
    from_ns: u64,
    until_ns: u64,
    /// The highest byte that it had reported before.
    reported: u64,
}

/// Stalls of one direction.
#[derive(Default)]
pub(super) struct Stalls {
    last_ns: Option<u64>,
    /// The latest stalls.
    recent: VecDeque<Stall>,
    /// Time in stalls beyond their minimum length.
    pub(super) total_ns: u64,
}

impl Stalls {
    /// Processes a packet of the receiver. Data have been in flight since `waiting_since`; `rtt_ns` is the smoothed RTT,
    /// `reported` the highest byte reported before the packet. Returns start and end of the stall before it beyond the
    /// minimum length, ns.
    pub(super) fn on_packet(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
        reported: u64,
    ) -> Option<(u64, u64)> {
        let last = self.last_ns.replace(at_ns);
        let since = waiting_since?;
        let from = last.map_or(since, |last| last.max(since));
        self.add(from, at_ns, at_ns, rtt_ns, reported)
    }

    /// Processes the end of the connection while data wait. A receiver without any captured packet has no stall.
    pub(super) fn on_end(
        &mut self,
        at_ns: u64,
        waiting_since: Option<u64>,
        rtt_ns: u64,
        reported: u64,
    ) -> Option<(u64, u64)> {
        let from = waiting_since?.max(self.last_ns?);
        // No answer ends this stall.
        self.add(from, at_ns, u64::MAX, rtt_ns, reported)
    }

    fn add(
        &mut self,
        from_ns: u64,
        at_ns: u64,
        until_ns: u64,
        rtt_ns: u64,
        reported: u64,
    ) -> Option<(u64, u64)> {
        let min_length_ns = MIN_NS.max(2 * rtt_ns);
        let length = at_ns.saturating_sub(from_ns);
        if length < min_length_ns {
            return None;
        }
        self.total_ns += length - min_length_ns;
        if self.recent.len() == MAX_STALLS {
            self.recent.pop_front();
        }
        self.recent.push_back(Stall {
            from_ns,
            until_ns,
            reported,
        });
        Some((from_ns + min_length_ns, at_ns))
    }

    /// Returns the time of the last packet of the receiver.
    pub(super) fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }

    /// Returns whether the latest stall had not ended at `at_ns`.
    pub(super) fn is_in_latest(&self, at_ns: u64) -> bool {
        self.recent
            .back()
            .is_some_and(|stall| at_ns < stall.until_ns)
    }

    /// Returns the end of the stall in which a segment passed at `at_ns`, or up to an RTT, `rtt_ns`, before its start. Then
    /// the receiver had not reported `start`, the first byte of the segment, or later ones.
    pub(super) fn end_around(&self, at_ns: u64, start: u64, rtt_ns: u64) -> Option<u64> {
        let is_within = |stall: &&Stall| {
            let since_ns = stall.from_ns.saturating_sub(rtt_ns);
            let is_last = at_ns >= stall.from_ns || start >= stall.reported;
            is_last && (since_ns..stall.until_ns).contains(&at_ns)
        };
        self.recent
            .iter()
            .find(is_within)
            .map(|stall| stall.until_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_silence_counts_beyond_its_least_length_whatever_ends_it() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.on_packet(100 * MS, None, 20 * MS, 0), None);
        assert_eq!(stalls.on_packet(250 * MS, Some(90 * MS), 20 * MS, 50), None);
        let answered = stalls.on_packet(950 * MS, Some(90 * MS), 20 * MS, 50);
        assert_eq!(answered, Some((450 * MS, 950 * MS)));
        let open = stalls.on_end(2_000 * MS, Some(1_000 * MS), 300 * MS, 90);
        assert_eq!(open, Some((1_600 * MS, 2_000 * MS)));
        assert_eq!(stalls.total_ns, 900 * MS);
        assert_eq!(stalls.end_around(1_100 * MS, 0, 0), Some(u64::MAX));
    }

    #[test]
    fn what_passed_an_rtt_before_a_silence_belongs_to_it_unless_later_data_arrived() {
        let mut stalls = Stalls::default();
        stalls.on_packet(100 * MS, None, 20 * MS, 0);
        stalls.on_packet(950 * MS, Some(90 * MS), 20 * MS, 50);
        let end_at = |at_ms, start| stalls.end_around(at_ms * MS, start, 30 * MS);
        assert_eq!(end_at(80, 50), Some(950 * MS));
        assert_eq!(end_at(80, 49), None);
        assert_eq!(end_at(60, 50), None);
        assert_eq!(end_at(120, 49), Some(950 * MS));
    }

    #[test]
    fn nobody_waits_for_a_receiver_that_was_never_captured() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.on_end(9_000 * MS, Some(MS), MS, 0), None);
    }
}
