//! Delays: mean, percentiles and minimum of the delays of a connection.

use units::Duration;

/// Sum and number of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DelaySum {
    pub(crate) sum: Duration,
    pub(crate) count: u64,
}

impl DelaySum {
    pub(crate) fn add(&mut self, delay: Duration) {
        self.sum += delay;
        self.count += 1;
    }

    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    /// Returns the mean, ms; NaN without any delay.
    pub(crate) fn mean_ms(&self) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        self.sum.as_secs_f64() * 1e3 / self.count as f64
    }
}

/// Delays of a connection, rounded to the microsecond.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    micros: Vec<u32>,
    sum_nanos: u128,
    lowest: Option<Duration>,
}

impl Delays {
    /// Adds a delay.
    pub fn push(&mut self, delay: Duration) {
        self.micros
            .push(u32::try_from(delay.as_micros()).unwrap_or(u32::MAX));
        self.sum_nanos += u128::from(delay.as_nanos());
        self.lowest = Some(self.lowest.map_or(delay, |lowest| lowest.min(delay)));
    }

    /// Returns the lowest delay.
    pub(crate) fn lowest(&self) -> Option<Duration> {
        self.lowest
    }

    /// Returns the lowest delay, ms; NaN without any.
    pub(crate) fn lowest_ms(&self) -> f64 {
        self.lowest
            .map_or(f64::NAN, |lowest| lowest.as_secs_f64() * 1e3)
    }

    /// Returns the mean delay, ms; NaN without any.
    pub(crate) fn mean_ms(&self) -> f64 {
        if self.micros.is_empty() {
            return f64::NAN;
        }
        self.sum_nanos as f64 / self.micros.len() as f64 * 1e-6
    }

    /// Returns the delay that `percent` of all do not exceed (nearest rank), ms; NaN without any.
    pub(crate) fn percentile_ms(&mut self, percent: usize) -> f64 {
        if self.micros.is_empty() {
            return f64::NAN;
        }
        let rank = (percent * self.micros.len()).div_ceil(100).max(1) - 1;
        let (_, value, _) = self.micros.select_nth_unstable(rank);
        f64::from(*value) * 1e-3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rank_is_a_value_that_was_seen() {
        let mut delays = Delays::default();
        for ms in 1..=100 {
            delays.push(Duration::from_millis(ms));
        }
        assert!((delays.percentile_ms(95) - 95.0).abs() < 1e-9);
        assert!((delays.mean_ms() - 50.5).abs() < 1e-9);
        assert!((delays.lowest_ms() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_delay() {
        let mut none = Delays::default();
        assert!(none.mean_ms().is_nan() && none.percentile_ms(95).is_nan());
    }
}
