//! Comparison: counts with the committed ones, and the cases whose counts have grown too much.

use core::fmt;

use crate::committed::Counted;

/// Growth of a count that is let pass, as a share of the committed count. Counts repeat to 0.05 %.
const ALLOWED_GROWTH: f64 = 0.02;

/// Counts with the committed ones.
pub(crate) struct Comparison {
    /// Case, committed count and count now.
    rows: Vec<(&'static str, u64, u64)>,
    times: u32,
}

impl Comparison {
    /// Compares counts of `times` the lengths of the cases with the committed counts of the same cases.
    pub(crate) fn new(before: &[Counted], now: &[Counted], times: u32) -> Self {
        let both = before.iter().zip(now);
        let rows = both.map(|(before, now)| (now.case, before.count, now.count));
        Self {
            rows: rows.collect(),
            times,
        }
    }

    /// Returns the cases whose counts have grown too much. Counts of longer simulations are not judged.
    pub(crate) fn grown(&self) -> Vec<&'static str> {
        let judged = self.rows.iter().filter(|_| self.times == 1);
        let grown = judged.filter(|&&(_, before, now)| ratio(before, now) > 1.0 + ALLOWED_GROWTH);
        grown.map(|&(case, ..)| case).collect()
    }
}

fn ratio(before: u64, now: u64) -> f64 {
    now as f64 / before as f64
}

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:<14}{:>14}{:>10}", "case", "count", "change")?;
        for &(case, before, now) in &self.rows {
            let ratio = ratio(before, now);
            let change = if self.times == 1 {
                format!("{:+.2} %", 1e2 * (ratio - 1.0))
            } else {
                format!("x {ratio:.3}")
            };
            writeln!(out, "{case:<14}{now:>14}{change:>10}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(now: [u64; 3], times: u32) -> Comparison {
        let of = |counts: [u64; 3]| {
            let named = ["wired", "drive", "static"].into_iter().zip(counts);
            let counted = named.map(|(case, count)| Counted { case, count });
            counted.collect::<Vec<_>>()
        };
        Comparison::new(&of([10_000; 3]), &of(now), times)
    }

    #[test]
    fn growth_above_two_percent_is_too_much() {
        assert_eq!(compare([10_000, 10_200, 1], 1).grown(), [""; 0]);
        assert_eq!(
            compare([10_201, 10_200, 11_000], 1).grown(),
            ["wired", "static"]
        );
    }

    #[test]
    fn longer_simulations_are_not_judged() {
        let longer = compare([20_000, 19_000, 10_000], 2);
        assert_eq!(longer.grown(), [""; 0]);
        let text = longer.to_string();
        let last: Vec<_> = text.lines().map(|line| &line[28..]).collect();
        assert_eq!(
            last,
            ["    change", "   x 2.000", "   x 1.900", "   x 1.000"]
        );
    }

    #[test]
    fn the_table_has_case_count_and_change() {
        let text = compare([10_123, 9_900, 10_000], 1).to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "case                   count    change");
        assert_eq!(lines[1], "wired                  10123   +1.23 %");
        assert_eq!(lines[2], "drive                   9900   -1.00 %");
        assert_eq!(lines[3], "static                 10000   +0.00 %");
    }
}
