//! Ranks of a feature among measured moments, by which differences are comparable.

/// Greatest rank.
pub(super) const TOP: u8 = 255;
/// Difference in rank that counts where a feature is known on one side only, above its distance from the middle.
const MISSING: u16 = 64;

/// Ranks of a feature among the moments.
#[derive(Debug)]
pub(super) struct Column {
    /// Number of the feature.
    pub(super) feature: usize,
    /// Values from which on each rank above 0 is reached, in ascending order.
    steps: Vec<f64>,
    ranks: Vec<u8>,
    /// Whether the feature is unknown; its rank is then that of the middle.
    unknown: Vec<bool>,
}

impl Column {
    pub(super) fn new(feature: usize, values: &[Option<f64>]) -> Self {
        let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let steps = if sorted.is_empty() {
            Vec::new()
        } else {
            let at = |rank: usize| sorted[(rank * sorted.len()) / (usize::from(TOP) + 1)];
            (1..=usize::from(TOP)).map(at).collect()
        };
        let mut column = Self {
            feature,
            steps,
            ranks: Vec::new(),
            unknown: values.iter().map(Option::is_none).collect(),
        };
        column.ranks = values.iter().map(|value| column.rank(*value)).collect();
        column
    }

    /// Returns the rank of a value: half of the ranks of equal values lie below it. An unknown one is in the middle.
    fn rank(&self, value: Option<f64>) -> u8 {
        let Some(value) = value else { return TOP / 2 };
        let below = self.steps.partition_point(|step| *step < value);
        let until = self.steps.partition_point(|step| *step <= value);
        ((below + until) / 2) as u8
    }

    /// Adds the weighted differences to `value` to the distance of each row.
    pub(super) fn add(&self, value: Option<f64>, weight: u16, distances: &mut [u32]) {
        let (rank, unknown) = (self.rank(value), value.is_none());
        let rows = self.ranks.iter().zip(&self.unknown);
        for (distance, (&other, &other_unknown)) in distances.iter_mut().zip(rows) {
            let missing = MISSING * u16::from(unknown != other_unknown);
            *distance += u32::from(weight * (u16::from(rank.abs_diff(other)) + missing));
        }
    }
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
            let mut distances = [0; 3];
            column.add(value, 2, &mut distances);
            distances
        };
        assert_eq!(distances(None)[2], 0);
        assert_eq!(distances(Some(1.0))[0], 0);
        assert!(distances(Some(1.0))[2] >= 128 && distances(None)[0] >= 128);
    }
}
