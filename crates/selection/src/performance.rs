//! Performance of a connection as its sender can measure it.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::estimators::PathEstimates;
use crate::requirement::{Performance, Requirement};
use crate::sample::SAMPLE_INTERVAL;

/// Confidence above which a queue has shown the capacity in the last second; an older estimate has less.
const CONFIRMED_CAPACITY: f64 = 0.5;

/// Performance at one sample, or its sum over several: what a sender knows of the parts of PM.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct PmSums {
    samples: f64,
    /// Delivery rate, bit/s; divided by the capacity it gives A.
    bps: f64,
    /// Lowest RTT over smoothed RTT, for B.
    b: f64,
    /// Share of segments that were not retransmitted, for C.
    c: f64,
    /// Lowest RTT, s.
    base_rtt: f64,
    /// Delivery rate while the RTT was within the bound of `goodput@`, bit/s; 0 for another requirement.
    bounded_bps: f64,
    /// Number of samples at which a queue showed the capacity.
    capacity_samples: f64,
    /// Capacity at these samples, bit/s.
    capacity_bps: f64,
}

impl PmSums {
    fn of(estimates: &PathEstimates) -> Self {
        let is_confirmed = estimates.capacity.confidence > CONFIRMED_CAPACITY;
        let capacity_samples = f64::from(u8::from(is_confirmed));
        let bps = estimates.rate.bits_per_second() as f64;
        let is_within = estimates
            .rtt_over_bound(estimates.srtt)
            .is_some_and(|ratio| ratio <= 1.0);
        Self {
            samples: 1.0,
            bps,
            bounded_bps: f64::from(u8::from(is_within)) * bps,
            b: 1.0 / (1.0 + estimates.queue_ratio()),
            c: 1.0 - estimates.retransmitted,
            base_rtt: estimates.base_rtt.value.as_secs_f64(),
            capacity_samples,
            capacity_bps: capacity_samples * estimates.capacity.value.bits_per_second() as f64,
        }
    }

    /// Adds a sample.
    pub(crate) fn observe(&mut self, estimates: &PathEstimates) {
        self.add(&Self::of(estimates));
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.bps += other.bps;
        self.b += other.b;
        self.c += other.c;
        self.base_rtt += other.base_rtt;
        self.bounded_bps += other.bounded_bps;
        self.capacity_samples += other.capacity_samples;
        self.capacity_bps += other.capacity_bps;
    }

    /// Returns the time that the samples cover.
    pub(crate) fn time(&self) -> Duration {
        SAMPLE_INTERVAL * self.samples as u64
    }

    /// Returns the mean of a sum over all samples.
    fn mean(&self, sum: f64) -> f64 {
        sum / self.samples.max(1.0)
    }

    /// Returns the mean capacity, bit/s, if a queue showed it in most samples.
    fn capacity(&self) -> Option<f64> {
        (2.0 * self.capacity_samples > self.samples)
            .then(|| self.capacity_bps / self.capacity_samples)
    }
}

/// Samples of the latest time.
#[derive(Clone, Debug)]
pub(crate) struct PerfWindow {
    samples: VecDeque<(Instant, PmSums)>,
    length: Duration,
}

impl PerfWindow {
    /// Creates a window that stores samples for this time.
    pub(crate) fn new(length: Duration) -> Self {
        let samples = length.as_nanos() / SAMPLE_INTERVAL.as_nanos() + 2;
        Self {
            samples: VecDeque::with_capacity(samples as usize),
            length,
        }
    }

    /// Adds a sample.
    pub(crate) fn observe(&mut self, at: Instant, estimates: &PathEstimates) {
        while let Some(&(first, _)) = self.samples.front() {
            if at.saturating_since(first) <= self.length {
                break;
            }
            self.samples.pop_front();
        }
        self.samples.push_back((at, PmSums::of(estimates)));
    }

    /// Returns the sums over all stored samples.
    pub(crate) fn sums(&self) -> PmSums {
        let mut sums = PmSums::default();
        self.samples.iter().for_each(|(_, sample)| sums.add(sample));
        sums
    }
}

/// Returns the relative decline of the requirement's measure from `before` to `after`. The higher of both rates serves
/// as the capacity of both.
///
/// If queues have shown that the capacity fell, the values before are converted to the capacity after, with the same
/// inflight. The rate falls by the ratio of the capacities and, by Little's law, the RTT rises by it.
pub(crate) fn decline(requirement: Requirement, before: &PmSums, after: &PmSums) -> f64 {
    let capacity_ratio = match (before.capacity(), after.capacity()) {
        (Some(before), Some(after)) if after < before => after / before,
        _ => 1.0,
    };
    // A mean RTT says nothing about how often the RTT was within a bound.
    if let Requirement::GoodputAtRtt(_) = requirement {
        let expected = before.mean(before.bounded_bps) * capacity_ratio;
        return if expected > 0.0 {
            1.0 - after.mean(after.bounded_bps) / expected
        } else {
            0.0
        };
    }
    let expected_bps = before.mean(before.bps) * capacity_ratio;
    let after_bps = after.mean(after.bps);
    let capacity_bps = expected_bps.max(after_bps).max(1.0);
    let measure = |sums: &PmSums, bps: f64, b: f64| {
        requirement.measure(&Performance {
            mbps: bps / 1e6,
            rtt_s: sums.mean(sums.base_rtt) / b,
            parts: [bps / capacity_bps, b, sums.mean(sums.c)],
        })
    };
    let expected = measure(before, expected_bps, before.mean(before.b) * capacity_ratio);
    1.0 - measure(after, after_bps, after.mean(after.b)) / expected.max(f64::MIN_POSITIVE)
}

/// Returns the ratio of the rate after to that before, if it is below the starvation limit of the requirement.
pub(crate) fn starved_ratio(
    requirement: Requirement,
    before: &PmSums,
    after: &PmSums,
) -> Option<f64> {
    let ratio = after.mean(after.bps) / before.mean(before.bps).max(1.0);
    (ratio < requirement.starvation_limit()).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;
    use crate::estimate::Estimate;

    /// Returns two seconds of a sender that delivers `rate` Mbit/s of `capacity`, with this RTT and a lowest RTT of 50
    /// ms.
    fn measure(rate: f64, capacity: (f64, f64), rtt_ms: u64) -> PmSums {
        let estimates = PathEstimates {
            rate: Rate::from_mbps(rate),
            capacity: Estimate::new(Rate::from_mbps(capacity.0), capacity.1),
            base_rtt: Estimate::new(Duration::from_millis(50), 1.0),
            srtt: Duration::from_millis(rtt_ms),
            ..PathEstimates::default()
        };
        let mut sum = PmSums::default();
        (0..200).for_each(|_| sum.observe(&estimates));
        sum
    }

    fn lost(requirement: Requirement, before: &PmSums, after: &PmSums) -> f64 {
        (decline(requirement, before, after) * 1e6).round() / 1e6
    }

    #[test]
    fn a_rate_that_falls_with_the_capacity_is_no_loss() {
        let before = measure(20.0, (20.0, 1.0), 100);
        assert_eq!(
            lost(
                Requirement::Goodput,
                &before,
                &measure(8.0, (8.0, 1.0), 100)
            ),
            0.0
        );
        // Only the loss beyond the fall of the capacity counts.
        assert_eq!(
            lost(
                Requirement::Goodput,
                &before,
                &measure(6.0, (8.0, 1.0), 100)
            ),
            0.25
        );
    }

    #[test]
    fn a_capacity_that_no_queue_shows_explains_nothing() {
        let (seen, after) = (
            measure(20.0, (20.0, 1.0), 100),
            measure(8.0, (8.0, CONFIRMED_CAPACITY), 100),
        );
        assert_eq!(lost(Requirement::Goodput, &seen, &after), 0.6);
        let (unseen, after) = (
            measure(20.0, (20.0, 0.2), 100),
            measure(8.0, (8.0, 1.0), 100),
        );
        assert_eq!(lost(Requirement::Goodput, &unseen, &after), 0.6);
    }

    /// An RTT of 80 ms at 20 Mbit/s becomes 200 ms at 8 Mbit/s.
    #[test]
    fn what_is_in_flight_takes_longer_where_the_capacity_is_less() {
        let before = measure(20.0, (20.0, 1.0), 80);
        let delay = Requirement::Delay;
        assert_eq!(lost(delay, &before, &measure(8.0, (8.0, 1.0), 200)), 0.0);
        assert!(lost(delay, &before, &measure(8.0, (8.0, 1.0), 400)) > 0.2);
        assert!(lost(delay, &before, &measure(8.0, (8.0, 1.0), 100)) < 0.0);
    }

    /// Half of the time an RTT of 20 ms and half of it one of 200 ms is within 100 ms half of the time, and not on average.
    #[test]
    fn only_the_rate_within_the_bound_counts() {
        let bounded = |rtts_ms: [u64; 2]| {
            let requirement = Requirement::GoodputAtRtt(Duration::from_millis(100));
            let mut sum = PmSums::default();
            for rtt_ms in rtts_ms {
                sum.observe(&PathEstimates {
                    rate: Rate::from_mbps(8.0),
                    srtt: Duration::from_millis(rtt_ms),
                    requirement,
                    ..PathEstimates::default()
                });
            }
            (requirement, sum)
        };
        let (requirement, within) = bounded([20, 90]);
        let (_, half) = bounded([20, 200]);
        let (_, beyond) = bounded([150, 200]);
        assert_eq!(lost(requirement, &within, &half), 0.5);
        assert_eq!(lost(requirement, &half, &beyond), 1.0);
        assert!(lost(requirement, &half, &within) < 0.0);
        assert_eq!(lost(requirement, &beyond, &beyond), 0.0, "nothing to lose");
    }

    #[test]
    fn a_capacity_that_rises_is_no_merit() {
        let before = measure(8.0, (8.0, 1.0), 100);
        let after = measure(8.0, (20.0, 1.0), 100);
        assert_eq!(lost(Requirement::Goodput, &before, &after), 0.0);
    }

    /// A rate that falls with the capacity can also fall because others take a share.
    #[test]
    fn a_rate_below_the_floor_is_starvation() {
        let before = measure(12.0, (12.0, 1.0), 200);
        let after = measure(1.2, (1.2, 1.0), 150);
        assert!(lost(Requirement::Goodput, &before, &after) < 1e-6);
        let left = starved_ratio(Requirement::Delay, &before, &after).expect("starved");
        assert!((left - 0.1).abs() < 1e-6, "{left}");
        let fair = measure(5.0, (5.0, 1.0), 100);
        assert_eq!(starved_ratio(Requirement::Delay, &before, &fair), None);
        assert!(starved_ratio(Requirement::Balanced, &before, &fair).is_some());
    }
}
