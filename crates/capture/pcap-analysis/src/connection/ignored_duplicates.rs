//! Duplicate ACKs that a sender ignores: it retransmits the segment only after a time-out.
//!
//! At the third duplicate ACK a sender retransmits at once (RFC 5681 §3.2). Some senders wait although such ACKs come, for
//! instance because a firewall rewrites sequence numbers but not SACK blocks.

/// Number of duplicate ACKs that cause a retransmission (RFC 5681 §3.2).
const DUP_THRESHOLD: u32 = 3;
/// Minimum wait, ns: the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;

/// Duplicate ACKs for the first segment in flight, since the acknowledgement last advanced.
#[derive(Default)]
pub(super) struct IgnoredDuplicates {
    count: u32,
    /// Time of the third one.
    since_ns: Option<u64>,
    /// The sender has retransmitted since.
    has_retransmitted: bool,
}

impl IgnoredDuplicates {
    pub(super) fn on_advance(&mut self) {
        *self = Self::default();
    }

    pub(super) fn on_duplicate(&mut self, at_ns: u64) {
        self.count += 1;
        if self.count == DUP_THRESHOLD {
            self.since_ns = Some(at_ns);
        }
    }

    /// Processes a retransmission; returns start and end of its wait, ns, if that is far longer than the RTT. `near_ns` is
    /// the RTT between capture and sender, `rtt_ns` that between capture and receiver.
    pub(super) fn on_retransmission(
        &mut self,
        at_ns: u64,
        near_ns: u64,
        rtt_ns: u64,
    ) -> Option<(u64, u64)> {
        let is_first = !core::mem::replace(&mut self.has_retransmitted, true);
        let due_ns = self.since_ns.filter(|_| is_first)? + near_ns;
        let waited_ns = at_ns.saturating_sub(due_ns);
        (waited_ns >= MIN_NS.max(2 * rtt_ns)).then_some((due_ns, at_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn after_duplicates(count: u64) -> IgnoredDuplicates {
        let mut duplicates = IgnoredDuplicates::default();
        for number in 0..count {
            duplicates.on_duplicate(number * MS);
        }
        duplicates
    }

    #[test]
    fn a_sender_that_ignores_duplicate_acks_waits_from_the_third_one_on() {
        let mut duplicates = after_duplicates(30);
        let wait = duplicates.on_retransmission(320 * MS, 0, 20 * MS);
        assert_eq!(wait, Some((2 * MS, 320 * MS)));
        assert_eq!(duplicates.on_retransmission(900 * MS, 0, 20 * MS), None);
    }

    #[test]
    fn fast_retransmit_is_no_wait() {
        let seen_at_receiver = after_duplicates(3).on_retransmission(302 * MS, 300 * MS, MS);
        assert_eq!(seen_at_receiver, None);
        let long_path = after_duplicates(3).on_retransmission(302 * MS, 0, 300 * MS);
        assert_eq!(long_path, None);
        assert_eq!(after_duplicates(2).on_retransmission(900 * MS, 0, MS), None);
        let mut advanced = after_duplicates(3);
        advanced.on_advance();
        assert_eq!(advanced.on_retransmission(900 * MS, 0, MS), None);
    }
}
