//! Waits: the time in which a connection made no progress, without double counting.
//!
//! Silences of both receivers, closed windows and the handshake can overlap.

use std::collections::VecDeque;

/// Maximum number of stored waits. New ones do not overlap those before.
const MAX_WAITS: usize = 64;

/// Union of the intervals in which a connection waited.
#[derive(Default)]
pub(super) struct Waits {
    /// Start and end of disjoint intervals in their order, ns.
    recent: VecDeque<(u64, u64)>,
    /// Time in the intervals before the stored ones.
    before_ns: u64,
}

impl Waits {
    /// Adds the time from `from` to `until`.
    pub(super) fn add(&mut self, (mut from, mut until): (u64, u64)) {
        let first = self.recent.partition_point(|(_, end)| *end < from);
        let end = self.recent.partition_point(|(start, _)| *start <= until);
        if first < end {
            from = from.min(self.recent[first].0);
            until = until.max(self.recent[end - 1].1);
            self.recent.drain(first..end);
        }
        self.recent.insert(first, (from, until));
        if self.recent.len() > MAX_WAITS
            && let Some((from, until)) = self.recent.pop_front()
        {
            self.before_ns += until - from;
        }
    }

    /// Returns the total time of the waits.
    pub(super) fn total_ns(&self) -> u64 {
        let recent = self.recent.iter().map(|(from, until)| until - from);
        self.before_ns + recent.sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(waits: &[(u64, u64)]) -> u64 {
        let mut all = Waits::default();
        for wait in waits {
            all.add(*wait);
        }
        all.total_ns()
    }

    #[test]
    fn a_moment_counts_once() {
        assert_eq!(total(&[(10, 20), (15, 30), (40, 50)]), 30);
        assert_eq!(total(&[(40, 50), (10, 20), (12, 45)]), 40);
        assert_eq!(total(&[(10, 90), (20, 30)]), 80);
        assert_eq!(total(&[(10, 20), (20, 30), (5, 5)]), 20);
    }

    #[test]
    fn any_number_of_waits_adds_up() {
        let many: Vec<_> = (0..1_000).map(|n| (10 * n, 10 * n + 4)).collect();
        assert_eq!(total(&many), 4_000);
    }
}
