//! Stalls: long silences of a receiver while data are in flight.

use std::collections::VecDeque;

/// Maximum number of stored stalls.
const MAX_STALLS: usize = 16;
/// Minimum length of a stall, ns: the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;
/// Maximum number of stored segments.
const MAX_SENT: usize = 64;
/// Minimum number of segments without an answer in an outage: one that is lost, and its repair, are none.
const MIN_UNANSWERED: usize = 3;

/// Silence of a receiver.
struct Stall {
    from_ns: u64,
    until_ns: u64,
    /// The highest byte that it had reported before.
    reported: u64,
    /// Whether several segments that had the time for an answer got none.
    is_outage: bool,
}

/// Stalls of one direction.
#[derive(Default)]
pub(super) struct Stalls {
    last_ns: Option<u64>,
    /// The latest stalls.
    recent: VecDeque<Stall>,
    /// Times and ends of the latest segments with payload.
    sent: VecDeque<(u64, u64)>,
    /// Time in stalls beyond their minimum length.
    pub(super) total_ns: u64,
}

impl Stalls {
    /// Processes a segment with payload up to `end`.
    pub(super) fn on_data(&mut self, at_ns: u64, end: u64) {
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((at_ns, end));
    }

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
        // What passed up to an RTT before the stall counts if it was not reported.
        let is_unanswered = |(sent_ns, end): &&(u64, u64)| {
            let since_ns = if *end > reported { rtt_ns } else { 0 };
            *sent_ns >= from_ns.saturating_sub(since_ns)
                && sent_ns.saturating_add(rtt_ns + rtt_ns / 4) < until_ns
        };
        self.recent.push_back(Stall {
            from_ns,
            until_ns,
            reported,
            is_outage: self.sent.iter().filter(is_unanswered).count() >= MIN_UNANSWERED,
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

    /// Returns the end of the outage in which a segment passed at `at_ns`, or up to an RTT, `rtt_ns`, before its start. Then
    /// the receiver had not reported `start`, the first byte of the segment, or later ones.
    pub(super) fn outage_end_around(&self, at_ns: u64, start: u64, rtt_ns: u64) -> Option<u64> {
        let is_within = |stall: &&Stall| {
            let since_ns = stall.from_ns.saturating_sub(rtt_ns);
            let is_last = at_ns >= stall.from_ns || start >= stall.reported;
            stall.is_outage && is_last && (since_ns..stall.until_ns).contains(&at_ns)
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
        for sent_ms in [1_100, 1_400, 1_900] {
            stalls.on_data(sent_ms * MS, 90);
        }
        let open = stalls.on_end(2_000 * MS, Some(1_000 * MS), 300 * MS, 90);
        assert_eq!(open, Some((1_600 * MS, 2_000 * MS)));
        assert_eq!(stalls.total_ns, 900 * MS);
        assert_eq!(stalls.outage_end_around(1_100 * MS, 0, 0), Some(u64::MAX));
    }

    /// A silence from 100 ms to 950 ms, after which 50 bytes are reported; the RTT is 20 ms.
    fn silence(sent_ms: &[u64]) -> Stalls {
        let mut stalls = Stalls::default();
        for sent_ms in sent_ms {
            stalls.on_data(sent_ms * MS, 60);
        }
        stalls.on_packet(100 * MS, None, 20 * MS, 0);
        stalls.on_packet(950 * MS, Some(90 * MS), 20 * MS, 50);
        stalls
    }

    #[test]
    fn what_passed_an_rtt_before_an_outage_belongs_to_it_unless_later_data_arrived() {
        let stalls = silence(&[80, 120, 400]);
        let end_at = |at_ms, start| stalls.outage_end_around(at_ms * MS, start, 30 * MS);
        assert_eq!(end_at(80, 50), Some(950 * MS));
        assert_eq!(end_at(80, 49), None);
        assert_eq!(end_at(60, 50), None);
        assert_eq!(end_at(120, 49), Some(950 * MS));
    }

    #[test]
    fn a_loss_and_that_of_its_repair_are_no_outage() {
        let is_outage = |sent_ms: &[u64]| {
            let stalls = silence(sent_ms);
            stalls.outage_end_around(120 * MS, 50, 20 * MS).is_some()
        };
        assert!(is_outage(&[120, 350, 700]));
        assert!(!is_outage(&[120, 350, 930]), "the last one was answered");
        assert!(!is_outage(&[70, 120, 350]), "the first one had its answer");
    }

    #[test]
    fn nobody_waits_for_a_receiver_that_was_never_captured() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.on_end(9_000 * MS, Some(MS), MS, 0), None);
    }
}
