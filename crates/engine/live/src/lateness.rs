//! Lateness: delay of each packet after its planned time, which shows whether the run was in real time.

use hdrhistogram::Histogram;
use units::Duration;

use crate::traffic::new_histogram;

/// Lateness above which a departure counts as late.
const MAX_LATENESS: Duration = Duration::from_millis(1);
/// Maximum share of late departures in a valid run.
const MAX_LATE_SHARE: f64 = 0.001;

/// Lateness of the departures of a run.
#[derive(Clone, Debug)]
pub struct Lateness {
    times: Histogram<u32>,
    late: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            times: new_histogram(),
            late: 0,
        }
    }
}

impl Lateness {
    /// Adds the lateness of a departure.
    pub fn add(&mut self, lateness: Duration) {
        self.late += u64::from(lateness > MAX_LATENESS);
        self.times.saturating_record(lateness.as_micros());
    }

    /// Returns the number of departures.
    pub fn departures(&self) -> u64 {
        self.times.len()
    }

    /// Returns the lateness that a share of the departures, from 0 to 1, does not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_micros(self.times.value_at_quantile(share))
    }

    /// Returns the largest lateness.
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.times.max())
    }

    /// Returns the share of departures that were late by over 1 ms; 0 without any.
    pub fn late_share(&self) -> f64 {
        if self.times.is_empty() {
            return 0.0;
        }
        self.late as f64 / self.times.len() as f64
    }

    /// Returns whether the run was in real time: at most 0.1 % of the departures were late by over 1 ms.
    pub fn is_valid(&self) -> bool {
        self.late_share() <= MAX_LATE_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_valid_while_one_departure_in_a_thousand_is_late() {
        let mut lateness = Lateness::default();
        for _ in 0..999 {
            lateness.add(Duration::from_micros(60));
        }
        assert!(lateness.is_valid());
        lateness.add(Duration::from_micros(1_001));
        assert!(lateness.is_valid(), "{}", lateness.late_share());
        lateness.add(Duration::from_millis(3));
        assert!(!lateness.is_valid());
        assert_eq!(lateness.departures(), 1_001);
        assert_eq!(lateness.quantile(0.5), Duration::from_micros(60));
        assert_eq!(lateness.quantile(1.0), lateness.max());
        assert!(lateness.max().as_micros().abs_diff(3_000) < 5);
    }

    #[test]
    fn a_run_without_departures_is_valid() {
        assert!(Lateness::default().is_valid());
    }
}
