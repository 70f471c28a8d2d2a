//! SACK history: the highest acknowledged or selectively acknowledged byte over the recent past.
//!
//! A capture on the path sees an ACK before the sender does. From the time follows whether the sender knew of it.

use std::collections::VecDeque;

/// Maximum number of stored reports.
const MAX_REPORTS: usize = 512;
/// Time between two stored reports, ns.
const SPACING_NS: u64 = 200_000;

/// Highest reported bytes, each behind the time of its report.
#[derive(Default)]
pub(super) struct SackHistory {
    recent: VecDeque<(u64, u64)>,
    /// The highest byte reported before the stored reports.
    before: u64,
}

impl SackHistory {
    /// Adds a report that is higher than all before.
    pub(super) fn add(&mut self, at_ns: u64, highest: u64) {
        // A report shortly after another one counts as coming a little later, with the next one.
        if let [.., earlier, last] = self.recent.make_contiguous()
            && at_ns < earlier.0 + SPACING_NS
        {
            *last = (at_ns, highest);
            return;
        }
        if self.recent.len() == MAX_REPORTS
            && let Some((_, highest)) = self.recent.pop_front()
        {
            self.before = highest;
        }
        self.recent.push_back((at_ns, highest));
    }

    /// Returns the highest byte that had been reported at `at_ns`.
    pub(super) fn highest_at(&self, at_ns: u64) -> u64 {
        let later = self.recent.partition_point(|report| report.0 <= at_ns);
        later
            .checked_sub(1)
            .map_or(self.before, |index| self.recent[index].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reported_depends_on_the_time() {
        let mut reports = SackHistory::default();
        for number in 1..=2_000 {
            reports.add(number * 1_000_000, number * 10);
        }
        assert_eq!(reports.highest_at(1_999_500_000), 19_990);
        assert_eq!(reports.highest_at(2_000_000_000), 20_000);
        // Data from too long ago counts as known.
        assert_eq!(reports.highest_at(1_000_000), 14_880);
    }

    #[test]
    fn many_reports_at_once_are_kept_as_few() {
        let mut reports = SackHistory::default();
        for number in 1..=100_000 {
            reports.add(number * 1_000, number);
        }
        assert_eq!(reports.highest_at(100_000_000), 100_000);
        assert!(reports.highest_at(90_000_000).abs_diff(90_000) <= 200);
    }
}
