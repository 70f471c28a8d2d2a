//! RTT increments: positive differences between successive RTT samples.

use units::Duration;

use crate::delays::DelaySum;

/// Sum, number and largest of the positive differences between successive RTTs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Increments {
    total: DelaySum,
    largest: Duration,
}

impl Increments {
    /// Adds the difference from `before` to `rtt` if it is positive.
    pub(crate) fn push(&mut self, before: Duration, rtt: Duration) {
        let increment = rtt.saturating_sub(before);
        if !increment.is_zero() {
            self.total.add(increment);
            self.largest = self.largest.max(increment);
        }
    }

    /// Returns the mean, ms; NaN without any increment.
    pub(crate) fn mean_ms(&self) -> f64 {
        self.total.mean_ms()
    }

    /// Returns the largest, ms; NaN without any increment.
    pub(crate) fn largest_ms(&self) -> f64 {
        if self.total.count == 0 {
            return f64::NAN;
        }
        self.largest.as_secs_f64() * 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rises_count() {
        let mut increments = Increments::default();
        assert!(increments.mean_ms().is_nan() && increments.largest_ms().is_nan());
        for (before, rtt) in [(50, 60), (60, 40), (40, 40), (40, 70)] {
            increments.push(Duration::from_millis(before), Duration::from_millis(rtt));
        }
        assert!((increments.mean_ms() - 20.0).abs() < 1e-9);
        assert!((increments.largest_ms() - 30.0).abs() < 1e-9);
    }
}
