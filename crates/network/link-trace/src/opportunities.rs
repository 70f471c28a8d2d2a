//! Delivery opportunities of a link, as mahimahi defines them (Netravali et al., "Mahimahi: accurate
//! record-and-replay for HTTP", USENIX ATC 2015, §4.1).

use units::{Bytes, Duration, Instant};

/// Maximum number of bytes that one opportunity carries: a packet of 1500 bytes at the IP layer.
pub const OPPORTUNITY: Bytes = Bytes::new(1_500);

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Steps of linear search before bisection.
const LINEAR_STEPS: u64 = 8;

/// Error about a list of times that is no trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpportunitiesError {
    /// There is no opportunity at all.
    #[error("no delivery opportunity: at least one is needed")]
    Empty,
    /// The times are not in order.
    #[error(
        "opportunity {index} at {at} ms comes after one at {before} ms: times must not decrease"
    )]
    NotMonotonic {
        /// Position in the list, from zero.
        index: usize,
        /// The time that is too early, in milliseconds.
        at: u32,
        /// The time before it, in milliseconds.
        before: u32,
    },
    /// All opportunities are at time zero, which leaves no period.
    #[error("the last opportunity is at 0 ms: a trace must last at least 1 ms")]
    NoDuration,
}

/// Opportunities in whole milliseconds, repeated after the last one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opportunities {
    at_ms: Vec<u32>,
}

impl Opportunities {
    /// Returns the trace of opportunities at these times, in ms from the start and in order.
    /// Several may share a time.
    ///
    /// # Errors
    /// If there is none, if they are not in order, or if all are at zero.
    pub fn new(at_ms: Vec<u32>) -> Result<Self, OpportunitiesError> {
        if let Some(index) = (1..at_ms.len()).find(|&i| at_ms[i] < at_ms[i - 1]) {
            let (at, before) = (at_ms[index], at_ms[index - 1]);
            return Err(OpportunitiesError::NotMonotonic { index, at, before });
        }
        match at_ms.last() {
            None => Err(OpportunitiesError::Empty),
            Some(0) => Err(OpportunitiesError::NoDuration),
            Some(_) => Ok(Self { at_ms }),
        }
    }

    /// Returns the times of one period, in milliseconds.
    pub fn times_ms(&self) -> &[u32] {
        &self.at_ms
    }

    /// Returns the time of the last opportunity, after which the first follows again.
    pub fn period(&self) -> Duration {
        Duration::from_millis(u64::from(self.at_ms[self.at_ms.len() - 1]))
    }

    /// Returns the time of opportunity number `index`, counted from zero through all repetitions.
    pub fn time_of(&self, index: u64) -> Instant {
        let count = self.at_ms.len() as u64;
        let within = Duration::from_millis(u64::from(self.at_ms[(index % count) as usize]));
        Instant::ZERO + self.period() * (index / count) + within
    }

    /// Returns the number of opportunities up to and including `at`. O(log n).
    pub fn count_until(&self, at: Instant) -> u64 {
        let period = self.period().as_nanos();
        let (period_number, within) = (at.as_nanos() / period, at.as_nanos() % period);
        let limit = within / NANOS_PER_MILLI;
        let in_period = self.at_ms.partition_point(|&ms| u64::from(ms) <= limit);
        period_number * self.at_ms.len() as u64 + in_period as u64
    }

    /// Returns the number of the first opportunity after `at`, which is at least `min_index`. It is fast if the result
    /// is near `min_index`.
    pub fn first_after(&self, at: Instant, min_index: u64) -> u64 {
        (min_index..min_index + LINEAR_STEPS)
            .find(|&index| self.time_of(index) > at)
            .unwrap_or_else(|| self.count_until(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(at)
    }

    #[test]
    fn the_list_begins_again_after_its_last_time() {
        let trace = Opportunities::new(vec![0, 3, 3, 10]).unwrap();
        let times: Vec<_> = (0..9).map(|index| trace.time_of(index)).collect();
        assert_eq!(times, [0, 3, 3, 10, 10, 13, 13, 20, 20].map(ms));
        assert_eq!(trace.count_until(ms(10)), 5);
        assert_eq!(trace.count_until(ms(9)), 3);
    }

    #[test]
    fn lists_without_a_period_or_order_are_rejected() {
        assert_eq!(Opportunities::new(vec![]), Err(OpportunitiesError::Empty));
        assert_eq!(
            Opportunities::new(vec![0, 0]),
            Err(OpportunitiesError::NoDuration)
        );
        let error = Opportunities::new(vec![1, 5, 4]).unwrap_err();
        assert_eq!(
            error,
            OpportunitiesError::NotMonotonic {
                index: 2,
                at: 4,
                before: 5
            }
        );
    }

    proptest! {
        #[test]
        fn the_first_after_a_moment_is_found_from_anywhere_before(
            mut times in prop::collection::vec(0_u32..40, 1..20), at in 0_u64..200_000_000, back in 0_u64..30
        ) {
            times.sort_unstable();
            *times.last_mut().unwrap() += 1;
            let trace = Opportunities::new(times).unwrap();
            let at = Instant::from_nanos(at);
            let plain = (0..).find(|&index| trace.time_of(index) > at).unwrap();
            prop_assert_eq!(trace.first_after(at, plain.saturating_sub(back)), plain);
            prop_assert_eq!(trace.count_until(at), plain);
        }
    }
}
