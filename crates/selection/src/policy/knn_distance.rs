//! Ranks of a feature among the rows of a table, which make differences of features comparable.

/// Highest rank.
pub(super) const MAX_RANK: u8 = 255;
/// Distance added where a feature is known on one side only, to the distance of the known rank from the middle one.
const MISSING_DISTANCE: u8 = 64;

/// Ranks of a feature in the rows.
#[derive(Debug)]
pub(super) struct Column {
    /// Index of the feature.
    pub(super) feature: usize,
    /// Lowest value of each rank above 0, in ascending order.
    steps: Vec<f64>,
    ranks: Vec<u8>,
    /// By row: [`MISSING_DISTANCE`] where the feature is unknown, else 0.
    missing: Vec<u8>,
    /// Whether all rows have the feature.
    is_complete: bool,
}

/// Rank of a queried value among the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryRank {
    rank: u8,
    /// [`MISSING_DISTANCE`] if the value is unknown, else 0.
    missing: u8,
}

impl Column {
    pub(super) fn new(feature: usize, values: &[Option<f64>]) -> Self {
        let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let steps = if sorted.is_empty() {
            Vec::new()
        } else {
            let at = |rank: usize| sorted[(rank * sorted.len()) / (usize::from(MAX_RANK) + 1)];
            (1..=usize::from(MAX_RANK)).map(at).collect()
        };
        let mut column = Self {
            feature,
            steps,
            ranks: Vec::new(),
            missing: values.iter().map(missing).collect(),
            is_complete: values.iter().all(Option::is_some),
        };
        column.ranks = values.iter().map(|value| column.rank(*value)).collect();
        column
    }

    /// Returns the rank of a value: half of the ranks of equal values lie below it. An unknown one is in the middle.
    fn rank(&self, value: Option<f64>) -> u8 {
        let Some(value) = value else {
            return MAX_RANK / 2;
        };
        let below = self.steps.partition_point(|step| *step < value);
        let not_above = self.steps.partition_point(|step| *step <= value);
        ((below + not_above) / 2) as u8
    }

    /// Returns the rank of a queried value.
    pub(super) fn query_rank(&self, value: Option<f64>) -> QueryRank {
        QueryRank {
            rank: self.rank(value),
            missing: missing(&value),
        }
    }

    /// Adds the weighted differences between `query` and the rows from `first` on to their sums.
    pub(super) fn add(&self, query: QueryRank, weight: u16, first: usize, sums: &mut [u16]) {
        let ranks = &self.ranks[first..][..sums.len()];
        if self.is_complete && query.missing == 0 {
            add_distance(query.rank, ranks, weight, sums);
        } else {
            let missing = &self.missing[first..][..sums.len()];
            add_distance_or_missing(query, ranks, missing, weight, sums);
        }
    }
}

/// Adds the weighted differences between a rank and those of rows to the sums of the rows.
fn add_distance(query: u8, ranks: &[u8], weight: u16, sums: &mut [u16]) {
    for (sum, rank) in sums.iter_mut().zip(ranks) {
        *sum += weight * u16::from(abs_diff(query, *rank));
    }
}

/// Does the same as [`add_distance`] where the feature is unknown in the query or in some rows.
fn add_distance_or_missing(
    query: QueryRank,
    ranks: &[u8],
    missing: &[u8],
    weight: u16,
    sums: &mut [u16],
) {
    for ((sum, rank), missing) in sums.iter_mut().zip(ranks).zip(missing) {
        // The middle rank is at most half of all ranks away, so that this stays within 8 bits, which is fast.
        let difference = abs_diff(query.rank, *rank) + (query.missing ^ missing);
        *sum += weight * u16::from(difference);
    }
}

/// Returns the smallest of these sums.
pub(super) fn min_sum(sums: &[u16]) -> u16 {
    sums.iter().copied().fold(u16::MAX, u16::min)
}

/// Returns the difference of two ranks. Unlike `u8::abs_diff` it is compiled to operations on 16 ranks at a time.
#[inline(always)]
fn abs_diff(a: u8, b: u8) -> u8 {
    a.max(b) - a.min(b)
}

/// Returns the distance that a missing value adds.
fn missing(value: &Option<f64>) -> u8 {
    if value.is_some() { 0 } else { MISSING_DISTANCE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_grow_with_the_values_and_equal_values_share_the_middle_of_theirs() {
        let values: Vec<_> = (0..1000)
            .map(|value| Some(f64::from(value / 500)))
            .collect();
        let column = Column::new(0, &values);
        let ranks = [-1.0, 0.0, 0.5, 1.0, 2.0].map(|value| column.rank(Some(value)));
        assert_eq!(ranks, [0, 63, 127, 191, 255]);
    }

    #[test]
    fn a_feature_that_is_known_on_one_side_only_is_a_difference() {
        let column = Column::new(0, &[Some(1.0), Some(2.0), None]);
        let distances = |value| {
            let mut sums = [0; 3];
            column.add(column.query_rank(value), 2, 0, &mut sums);
            sums
        };
        assert_eq!(distances(None)[2], 0);
        assert_eq!(distances(Some(1.0))[0], 0);
        assert!(distances(Some(1.0))[2] >= 128 && distances(None)[0] >= 128);
    }
}
