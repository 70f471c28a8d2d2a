//! Metrics: the performance metric PM of atxutegi2018 §6, and fairness.
//!
//! PM = (αA + βB + γC)/(α + β + γ) for each slot, with A = K/Kt, B = Dmin/D, C = (BDP − R·MSS)/BDP.
//! Edge cases are decided here:
//!
//! - Dmin is longer than a slot: the measures are those of the slots up to it that last Dmin.
//! - Kt = 0 (the bottleneck could carry nothing for the flow): A and C are undefined and left out, their
//!   weights with them. A slot in which only B is left counts by B.
//! - K > Kt (some of the data that arrived was queued before the slot): A is 1.
//! - No RTT sample in the slot: if data is outstanding, the age of the oldest unacknowledged segment
//!   stands for D, if that exceeds Dmin; if nothing is outstanding, B is undefined and left out.
//! - BDP < R·MSS: C is 0.
//! - Nothing is defined: the slot has no PM and does not count in the mean.

use units::Duration;

/// Weights of the parts of PM: capacity use, delay and retransmissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Weight of A, the share of the capacity that is used.
    pub alpha: f64,
    /// Weight of B, lowest RTT over mean RTT.
    pub beta: f64,
    /// Weight of C, the share of the BDP that is not retransmitted.
    pub gamma: f64,
}

impl Weights {
    /// Equal weights.
    pub const BALANCED: Self = Self {
        alpha: 1.0,
        beta: 1.0,
        gamma: 1.0,
    };
    /// Weights in which delay counts ten times.
    pub const DELAY: Self = Self {
        alpha: 1.0,
        beta: 10.0,
        gamma: 1.0,
    };

    /// Returns PM of the parts A, B and C. Parts that are NaN are left out together with their weights; PM is
    /// NaN if no part with a weight is left.
    pub fn pm(&self, parts: [f64; 3]) -> f64 {
        let weights = [self.alpha, self.beta, self.gamma];
        let defined = parts.into_iter().zip(weights);
        let (sum, total) = defined
            .filter(|(part, _)| !part.is_nan())
            .fold((0.0, 0.0), |(sum, total), (part, weight)| {
                (sum + part * weight, total + weight)
            });
        if total > 0.0 { sum / total } else { f64::NAN }
    }
}

/// Measures of a slot from which the parts of PM follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlotInput {
    /// Length of the slot.
    pub slot: Duration,
    /// Payload delivered (K), bytes.
    pub delivered: u64,
    /// Payload that the bottleneck could have carried for this flow (Kt), bytes.
    pub capacity: u64,
    /// Lowest RTT of the connection (Dmin).
    pub lowest_rtt: Option<Duration>,
    /// Mean RTT of the slot (D).
    pub mean_rtt: Option<Duration>,
    /// Age of the oldest unacknowledged segment at the end of the slot.
    pub oldest_age: Option<Duration>,
    /// Retransmitted payload (R·MSS), bytes.
    pub retransmitted: u64,
}

/// Returns the parts A, B and C of PM in a slot; NaN where undefined.
pub(crate) fn pm_parts(input: &SlotInput) -> [f64; 3] {
    let a = (input.capacity > 0).then(|| (input.delivered as f64 / input.capacity as f64).min(1.0));
    let delay = input.mean_rtt.or(input
        .oldest_age
        .filter(|age| input.lowest_rtt.is_some_and(|lowest| *age > lowest)));
    let b = match (input.lowest_rtt, delay) {
        (Some(lowest), Some(delay)) if !delay.is_zero() => {
            Some((lowest.as_secs_f64() / delay.as_secs_f64()).min(1.0))
        }
        _ => None,
    };
    let c = input
        .lowest_rtt
        .filter(|_| input.capacity > 0)
        .map(|lowest| {
            let per_second = input.capacity as f64 / input.slot.as_secs_f64();
            let bdp = per_second * lowest.as_secs_f64();
            ((bdp - input.retransmitted as f64) / bdp).max(0.0)
        });
    [a, b, c].map(|part| part.unwrap_or(f64::NAN))
}

/// Returns Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): 1 if all shares are equal, 1/n if
/// one has all. NaN without any share.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOT: SlotInput = SlotInput {
        slot: Duration::from_millis(100),
        delivered: 100_000,
        capacity: 200_000,
        lowest_rtt: Some(Duration::from_millis(50)),
        mean_rtt: Some(Duration::from_millis(100)),
        oldest_age: None,
        retransmitted: 25_000,
    };

    /// A = 1/2, B = 1/2, BDP = 2 MB/s · 50 ms = 100 kB, so C = 3/4.
    #[test]
    fn the_three_parts_and_their_weights() {
        let parts = pm_parts(&SLOT);
        assert_eq!(parts, [0.5, 0.5, 0.75]);
        let balanced = Weights::BALANCED.pm(parts);
        assert!((balanced - 1.75 / 3.0).abs() < 1e-12);
        let delay = Weights::DELAY.pm(parts);
        assert!((delay - (0.5 + 5.0 + 0.75) / 12.0).abs() < 1e-12);
    }

    #[test]
    fn without_capacity_only_the_delay_counts() {
        let outage = SlotInput {
            capacity: 0,
            delivered: 0,
            mean_rtt: None,
            oldest_age: Some(Duration::from_millis(500)),
            ..SLOT
        };
        let [a, b, c] = pm_parts(&outage);
        assert!(a.is_nan() && b == 0.1 && c.is_nan());
        assert_eq!(Weights::BALANCED.pm([a, b, c]), 0.1);
    }

    #[test]
    fn undefined_parts_are_left_out_with_their_weights() {
        let weights = Weights {
            alpha: 1.0,
            beta: 5.0,
            gamma: 2.0,
        };
        assert!((weights.pm([f64::NAN, 0.2, 1.0]) - 3.0 / 7.0).abs() < 1e-12);
        let goodput = Weights {
            alpha: 1.0,
            beta: 0.0,
            gamma: 0.0,
        };
        assert!(goodput.pm([f64::NAN, 0.2, 1.0]).is_nan());
    }

    #[test]
    fn an_idle_flow_without_capacity_has_no_pm() {
        let idle = SlotInput {
            capacity: 0,
            mean_rtt: None,
            ..SLOT
        };
        assert!(Weights::DELAY.pm(pm_parts(&idle)).is_nan());
    }

    #[test]
    fn more_than_the_capacity_and_more_retransmissions_than_the_bdp_are_cut() {
        let burst = SlotInput {
            delivered: 300_000,
            retransmitted: 200_000,
            ..SLOT
        };
        let [a, _, c] = pm_parts(&burst);
        assert_eq!((a, c), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn every_part_lies_between_zero_and_one(
            delivered in any::<u32>(), capacity in any::<u32>(), retransmitted in any::<u32>(),
            lowest in prop::option::of(1_u64..1_000_000_000),
            more in prop::option::of(0_u64..10_000_000_000), age in prop::option::of(any::<u32>())
        ) {
            let lowest_rtt = lowest.map(Duration::from_nanos);
            let input = SlotInput {
                delivered: delivered.into(),
                capacity: capacity.into(),
                retransmitted: retransmitted.into(),
                lowest_rtt,
                mean_rtt: lowest_rtt.zip(more).map(|(l, m)| l + Duration::from_nanos(m)),
                oldest_age: age.map(|a| Duration::from_nanos(a.into())),
                ..SLOT
            };
            let parts = pm_parts(&input);
            let pms = [Weights::BALANCED.pm(parts), Weights::DELAY.pm(parts)];
            for value in parts.into_iter().chain(pms) {
                prop_assert!(value.is_nan() || (0.0..=1.0).contains(&value), "{:?}", parts);
            }
        }
    }

    #[test]
    fn jain_is_one_for_equals_and_one_over_n_for_a_monopoly() {
        assert!((jain(&[3.0, 3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[5.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
    }
}
