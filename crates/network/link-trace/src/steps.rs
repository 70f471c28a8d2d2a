//! Steps: a rate that is constant between changes.

use units::{Bytes, Duration, Instant, Rate};

use crate::WORK_PER_BYTE;

/// Error about a list of steps that is no rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StepsError {
    /// There is no step at all.
    #[error("no step: at least one is needed")]
    Empty,
    /// The first step is not at the start.
    #[error("the first step is at {0}: it must be at 0s")]
    LateStart(Duration),
    /// Two steps are out of order or at the same time, or the last is not before the end.
    #[error("step {index} at {at} does not come after {before}: times must increase")]
    NotMonotonic {
        /// Position in the list, from zero; the number of steps for the end of the period.
        index: usize,
        /// The time that is too early.
        at: Duration,
        /// The time before it.
        before: Duration,
    },
    /// The rate is zero all the time.
    #[error("the rate is zero all the time: nothing would ever pass")]
    AllZero,
    /// The end is later than a time can be.
    #[error("the trace is longer than 584 years")]
    TooLong,
}

/// A rate that is constant between steps, with a period or without.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    starts: Vec<Duration>,
    rates: Vec<Rate>,
    /// Work that was possible before each step, in (bit/s)·ns.
    work_before: Vec<u128>,
    /// Work that is possible in one period.
    period_work: u128,
    period: Duration,
    /// Starts of pieces between which time is missing; the first is zero.
    pieces: Vec<Duration>,
}

impl Steps {
    /// Returns the steps with these starts and rates, repeated after `period`. If that is [`Duration::MAX`], the last rate
    /// stays for ever. Neighbours with the same rate become one step.
    ///
    /// # Errors
    /// If there is no step, the first is not at zero, times do not increase up to the period, or
    /// all rates are zero.
    pub fn new(steps: &[(Duration, Rate)], period: Duration) -> Result<Self, StepsError> {
        let &(first, _) = steps.first().ok_or(StepsError::Empty)?;
        if !first.is_zero() {
            return Err(StepsError::LateStart(first));
        }
        if steps.iter().all(|&(_, rate)| rate == Rate::ZERO) {
            return Err(StepsError::AllZero);
        }
        let ends = steps
            .iter()
            .skip(1)
            .map(|&(start, _)| start)
            .chain([period]);
        let mut result = Self::with_capacity(steps.len());
        for (index, (&(start, rate), end)) in steps.iter().zip(ends).enumerate() {
            if end <= start {
                return Err(StepsError::NotMonotonic {
                    index: index + 1,
                    at: end,
                    before: start,
                });
            }
            result.push(end - start, rate);
        }
        Ok(result)
    }

    /// Returns the steps of `intervals` (length, rate) in a row. A piece starts, after missing time, at each interval
    /// whose index is in `pieces`, which is sorted.
    ///
    /// # Errors
    /// If there is no interval, one has no length, all rates are zero, or they are longer than a time can be.
    pub fn from_intervals(
        intervals: impl ExactSizeIterator<Item = (Duration, Rate)>,
        pieces: &[usize],
    ) -> Result<Self, StepsError> {
        let mut result = Self::with_capacity(intervals.len());
        let mut pieces = pieces.iter().copied().filter(|&piece| piece > 0).peekable();
        for (index, (length, rate)) in intervals.enumerate() {
            let before = result.period;
            if length.is_zero() {
                return Err(StepsError::NotMonotonic {
                    index: index + 1,
                    at: before,
                    before,
                });
            }
            if length >= Duration::MAX - before {
                return Err(StepsError::TooLong);
            }
            if pieces.next_if_eq(&index).is_some() {
                result.pieces.push(before);
            }
            result.push(length, rate);
        }
        match (result.starts.is_empty(), result.period_work) {
            (true, _) => Err(StepsError::Empty),
            (false, 0) => Err(StepsError::AllZero),
            (false, _) => Ok(result),
        }
    }

    fn with_capacity(steps: usize) -> Self {
        Self {
            starts: Vec::with_capacity(steps),
            rates: Vec::with_capacity(steps),
            work_before: Vec::with_capacity(steps),
            period_work: 0,
            period: Duration::ZERO,
            pieces: vec![Duration::ZERO],
        }
    }

    /// Appends an interval.
    fn push(&mut self, length: Duration, rate: Rate) {
        if self.rates.last() != Some(&rate) {
            self.starts.push(self.period);
            self.rates.push(rate);
            self.work_before.push(self.period_work);
        }
        self.period_work += work(rate, length);
        self.period += length;
    }

    /// Returns the starts of the pieces; the first is zero.
    pub fn pieces(&self) -> &[Duration] {
        &self.pieces
    }

    /// Returns the time after which the first step follows again.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns start, end and rate of each step of one period.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Duration, Duration, Rate)> + '_ {
        (0..self.starts.len()).map(|step| (self.starts[step], self.end(step), self.rates[step]))
    }

    /// Returns the exact capacity from the start until `at`, in (bit/s)·ns: one byte is [`WORK_PER_BYTE`]. O(log n).
    pub fn cumulative(&self, at: Instant) -> u128 {
        let (lap, within) = self.lap(at);
        let step = self.step(within, 0);
        u128::from(lap) * self.period_work
            + self.work_before[step]
            + work(self.rates[step], within - self.starts[step])
    }

    /// Returns the time at which `size`, begun at `start`, has passed; [`Instant::NEVER`] if that does not happen. It
    /// is rounded up to the nanosecond, so that the link is never faster than its rate.
    ///
    /// `hint` stores the step between calls, which makes calls in the order of time O(1) on average.
    pub fn finish(&self, start: Instant, size: Bytes, hint: &mut usize) -> Instant {
        let (lap, within) = self.lap(start);
        let mut lap_start = self.period * lap;
        let mut step = self.step(within, *hint);
        let mut at = within;
        let mut rest = size.get() * WORK_PER_BYTE;
        loop {
            let (rate, end) = (self.rates[step].bits_per_second(), self.end(step));
            if rate > 0 {
                let needed = Duration::from_nanos(rest.div_ceil(rate));
                if needed <= end.saturating_sub(at) {
                    *hint = step;
                    return Instant::ZERO + lap_start + at + needed;
                }
                // Less than `rest`, so it fits.
                rest -= rate * (end - at).as_nanos();
            }
            step += 1;
            at = end;
            if step == self.starts.len() {
                if self.period == Duration::MAX {
                    return Instant::NEVER;
                }
                (step, at) = (0, Duration::ZERO);
                lap_start += self.period;
                // Whole laps in one step: of a trace with little capacity a packet may need any number.
                let laps = u128::from(rest.saturating_sub(1)) / self.period_work;
                rest -= (laps * self.period_work) as u64;
                lap_start += self.period * laps as u64;
            }
        }
    }

    /// Returns the end of the step at `at`, within its lap.
    pub(crate) fn end_of_step(&self, at: Instant) -> Instant {
        let (lap, within) = self.lap(at);
        Instant::ZERO + self.period * lap + self.end(self.step(within, 0))
    }

    /// Returns the index of the period at `at`, and the time within it.
    pub(crate) fn lap(&self, at: Instant) -> (u64, Duration) {
        let (at, period) = (at.as_nanos(), self.period.as_nanos());
        if at < period {
            return (0, Duration::from_nanos(at));
        }
        (at / period, Duration::from_nanos(at % period))
    }

    fn end(&self, step: usize) -> Duration {
        self.starts.get(step + 1).copied().unwrap_or(self.period)
    }

    /// Returns the step at `within` the period. The search begins at `hint`.
    fn step(&self, within: Duration, hint: usize) -> usize {
        if self.starts[hint] <= within {
            if within < self.end(hint) {
                return hint;
            }
            let next = hint + 1;
            if next < self.starts.len() && within < self.end(next) {
                return next;
            }
        }
        self.starts.partition_point(|&start| start <= within) - 1
    }
}

/// Returns the capacity of `rate` in `time`, in (bit/s)·ns.
pub(crate) fn work(rate: Rate, time: Duration) -> u128 {
    u128::from(rate.bits_per_second()) * u128::from(time.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + s(seconds)
    }

    #[test]
    fn a_packet_waits_through_an_outage_and_pays_each_rate_its_time() {
        let (slow, none, fast) = (8, 0, 16);
        let steps = [(0, slow), (2, none), (5, fast)]
            .map(|(start, bits)| (s(start), Rate::from_bits_per_second(bits)));
        let steps = Steps::new(&steps, s(6)).unwrap();
        // One byte in the last slow second, the second after the outage at double speed.
        let finish = steps.finish(at(1), Bytes::new(2), &mut 0);
        assert_eq!(finish, at(5) + Duration::from_millis(500));
        // Four bytes per period.
        assert_eq!(steps.finish(at(0), Bytes::new(9), &mut 0), at(13));
        assert_eq!(steps.cumulative(at(13)), 9 * u128::from(WORK_PER_BYTE));
    }

    #[test]
    fn nothing_passes_after_a_last_rate_of_zero() {
        let steps = [(s(0), Rate::from_bits_per_second(8)), (s(1), Rate::ZERO)];
        let steps = Steps::new(&steps, Duration::MAX).unwrap();
        assert_eq!(steps.finish(at(0), Bytes::new(1), &mut 0), at(1));
        assert_eq!(steps.finish(at(0), Bytes::new(2), &mut 0), Instant::NEVER);
    }

    #[test]
    fn steps_out_of_order_are_rejected() {
        let rate = Rate::from_mbps(1.0);
        let error = |steps: &[(Duration, Rate)]| Steps::new(steps, s(9)).unwrap_err();
        assert_eq!(error(&[]), StepsError::Empty);
        assert_eq!(error(&[(s(1), rate)]), StepsError::LateStart(s(1)));
        assert_eq!(error(&[(s(0), Rate::ZERO)]), StepsError::AllZero);
        let (at, before) = (s(2), s(2));
        assert_eq!(
            error(&[(s(0), rate), (s(2), rate), (s(2), rate)]),
            StepsError::NotMonotonic {
                index: 2,
                at,
                before
            }
        );
    }

    #[test]
    fn intervals_without_length_or_rate_or_beyond_all_time_are_rejected() {
        let rate = Rate::from_mbps(1.0);
        let error = |intervals: &[(Duration, Rate)]| {
            Steps::from_intervals(intervals.iter().copied(), &[]).unwrap_err()
        };
        assert_eq!(error(&[]), StepsError::Empty);
        assert_eq!(error(&[(s(1), Rate::ZERO)]), StepsError::AllZero);
        assert_eq!(
            error(&[(s(1), rate), (s(0), rate)]),
            StepsError::NotMonotonic {
                index: 2,
                at: s(1),
                before: s(1)
            }
        );
        let half = Duration::from_nanos(u64::MAX / 2 + 1);
        assert_eq!(error(&[(half, rate), (half, rate)]), StepsError::TooLong);
    }

    proptest! {
        #[test]
        fn finishing_is_the_first_nanosecond_at_which_the_work_is_done(
            rates in prop::collection::vec(0_u64..50_000_000, 1..8),
            start in 0_u64..2_000_000_000, size in 1_u64..20_000, hint in 0_usize..8
        ) {
            prop_assume!(rates.iter().any(|&rate| rate > 0));
            let steps: Vec<_> = rates
                .iter()
                .enumerate()
                .map(|(i, &bits)| (Duration::from_millis(7 * i as u64), Rate::from_bits_per_second(bits)))
                .collect();
            let steps = Steps::new(&steps, Duration::from_millis(7 * rates.len() as u64)).unwrap();
            let start = Instant::from_nanos(start);
            let mut hint = hint % steps.starts.len();
            let finish = steps.finish(start, Bytes::new(size), &mut hint);
            let done = |until: Instant| steps.cumulative(until) - steps.cumulative(start);
            let needed = u128::from(size * WORK_PER_BYTE);
            prop_assert!(done(finish) >= needed);
            prop_assert!(done(Instant::from_nanos(finish.as_nanos() - 1)) < needed);
        }

        /// Up to 10^13 laps: they cannot be walked one by one.
        #[test]
        fn a_packet_that_takes_any_number_of_laps_finishes_at_once(
            bits in 1_u64..1_000, on in 1_u64..1_000, off in 1_u64..1_000, size in 1_u64..1_500
        ) {
            let steps = [
                (Duration::ZERO, Rate::from_bits_per_second(bits)),
                (Duration::from_nanos(on), Rate::ZERO),
            ];
            let steps = Steps::new(&steps, Duration::from_nanos(on + off)).unwrap();
            let finish = steps.finish(Instant::ZERO, Bytes::new(size), &mut 0);
            let needed = u128::from(size * WORK_PER_BYTE);
            prop_assert!(steps.cumulative(finish) >= needed);
            prop_assert!(steps.cumulative(Instant::from_nanos(finish.as_nanos() - 1)) < needed);
        }
    }
}
