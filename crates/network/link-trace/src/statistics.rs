//! Statistics of a trace: mean, percentiles, gaps.
//!
//! One wrong time in a file can make a trace last for centuries. So equal bins in a row are one run with a count: memory
//! and time depend on the number of lines, not on the length of the trace.

use units::{Duration, Instant, Rate};

use crate::{Opportunities, Steps, Trace};

/// Percentiles in [`Statistics`].
pub const PERCENTILES: [u8; 5] = [5, 25, 50, 75, 95];

/// Maximum number of bins of a series with one rate for each.
pub const MAX_BINS: u64 = 10_000_000;

/// Error about a series that would have more than [`MAX_BINS`] bins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a trace of {period} has {bins} bins of {bin}; allowed: up to {MAX_BINS}, with longer bins"
)]
pub struct TooManyBins {
    /// Length of the trace.
    pub period: Duration,
    /// Length of a bin.
    pub bin: Duration,
    /// Number of the bins.
    pub bins: u64,
}

/// Statistics of one period of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// The length of the period.
    pub duration: Duration,
    /// Bytes that pass in the period over its length.
    pub mean: Rate,
    /// The [`PERCENTILES`] of the rate in bins, interpolated linearly between ranks.
    pub percentiles: [Rate; 5],
    /// Longest time without capacity: [`Trace::longest_gap`].
    pub longest_gap: Duration,
    /// Number of opportunities; `None` for a rate.
    pub opportunities: Option<u64>,
}

impl Trace {
    /// Returns the statistics of the trace, with percentiles over bins of length `bin`.
    ///
    /// # Panics
    /// If `bin` is zero.
    pub fn statistics(&self, bin: Duration) -> Statistics {
        let mut runs = self.runs(bin);
        // A last bin that is cut short would weigh as much as a whole one.
        if self.period() > bin && !self.period().as_nanos().is_multiple_of(bin.as_nanos()) {
            runs.pop();
        }
        runs.sort_unstable();
        Statistics {
            duration: self.period(),
            mean: self.mean_rate(),
            percentiles: PERCENTILES.map(|percent| percentile(&runs, percent)),
            longest_gap: self.longest_gap(),
            opportunities: match self {
                Self::Opportunities(opportunities) => Some(opportunities.times_ms().len() as u64),
                Self::Steps(_) => None,
            },
        }
    }

    /// Returns the longest time without capacity, also across the end of the period. Between opportunities it is the time
    /// from one to the next.
    pub fn longest_gap(&self) -> Duration {
        match self {
            Self::Opportunities(opportunities) => longest_opportunity_gap(opportunities),
            Self::Steps(steps) => longest_outage(steps),
        }
    }

    /// Returns the mean rate in each bin of one period; the last bin may be shorter than the others.
    ///
    /// # Errors
    /// If there are more than [`MAX_BINS`].
    ///
    /// # Panics
    /// If `bin` is zero.
    pub fn rate_series(&self, bin: Duration) -> Result<Vec<Rate>, TooManyBins> {
        let period = self.period();
        let bins = period.as_nanos().div_ceil(bin.as_nanos());
        if bins > MAX_BINS {
            return Err(TooManyBins { period, bin, bins });
        }
        let runs = self.runs(bin).into_iter();
        Ok(runs
            .flat_map(|(rate, count)| std::iter::repeat_n(rate, count as usize))
            .collect())
    }

    /// Returns the mean rates in the bins of one period, each with the number of bins in a row that have it. The last bin
    /// may be shorter than the others and is always a run of its own.
    fn runs(&self, bin: Duration) -> Vec<(Rate, u64)> {
        assert!(!bin.is_zero(), "a bin of no length has no rate");
        let end = Instant::ZERO + self.period();
        let mut from = Instant::ZERO;
        let mut runs = Vec::new();
        while from < end {
            let to = (from + bin).min(end);
            let rate = Rate::of(self.bytes_between(from, to, Duration::ZERO), to - from);
            let unchanged = self.unchanged_until(from).saturating_since(from);
            // The last bin, which may be short, is left for a run of its own.
            let whole_bins = (end - from).as_nanos().div_ceil(bin.as_nanos()) - 1;
            let count = (unchanged.as_nanos() / bin.as_nanos())
                .min(whole_bins)
                .max(1);
            runs.push((rate, count));
            from += bin * count;
        }
        runs
    }

    /// Returns the end of the step of constant (or no) capacity after `at`, within one period.
    fn unchanged_until(&self, at: Instant) -> Instant {
        match self {
            // An opportunity belongs to the bin that it ends, so the bin before it ends earlier.
            Self::Opportunities(opportunities) => {
                let next = opportunities.time_of(opportunities.count_until(at));
                Instant::from_nanos(next.as_nanos().saturating_sub(1))
            }
            Self::Steps(steps) => steps.end_of_step(at),
        }
    }
}

/// Returns a percentile of rates, interpolated linearly. `sorted` has each rate with its count, in ascending order.
fn percentile(sorted: &[(Rate, u64)], percent: u8) -> Rate {
    let bins: u64 = sorted.iter().map(|(_, count)| count).sum();
    let rank = u128::from(bins - 1) * u128::from(percent);
    let (below, hundredths) = ((rank / 100) as u64, rank % 100);
    let rate_at = |index: u64| {
        let mut rest = index;
        for &(rate, count) in sorted {
            if rest < count {
                return rate.bits_per_second();
            }
            rest -= count;
        }
        unreachable!("bin {index} of {bins}")
    };
    let (low, high) = (rate_at(below), rate_at((below + 1).min(bins - 1)));
    let above = u128::from(high - low) * hundredths / 100;
    Rate::from_bits_per_second(low + above as u64)
}

fn longest_opportunity_gap(opportunities: &Opportunities) -> Duration {
    let times_ms = opportunities.times_ms();
    // The gap from the last opportunity to the first of the next period, which begins in the same moment.
    let wrapped = times_ms[0];
    let longest = times_ms
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(wrapped, u32::max);
    Duration::from_millis(u64::from(longest))
}

fn longest_outage(steps: &Steps) -> Duration {
    let outages = || {
        steps.iter().map(|(start, end, rate)| match rate {
            Rate::ZERO => end - start,
            _ => Duration::ZERO,
        })
    };
    let within = outages().max().unwrap_or_default();
    // The outage at the end of a period goes on at the start of the next.
    let wrapped = outages().next_back().unwrap_or_default() + outages().next().unwrap_or_default();
    within.max(wrapped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_list_of_opportunities_tells_its_mean_and_its_longest_gap() {
        let trace: Trace = Opportunities::new(vec![250, 300, 300, 1_000])
            .unwrap()
            .into();
        let result = trace.statistics(ms(500));
        assert_eq!(result.duration, ms(1_000));
        assert_eq!(result.mean, Rate::from_bits_per_second(48_000));
        assert_eq!(result.longest_gap, ms(700));
        assert_eq!(result.opportunities, Some(4));
        let series = [72_000, 24_000].map(Rate::from_bits_per_second);
        assert_eq!(trace.rate_series(ms(500)), Ok(series.to_vec()));
        assert_eq!(result.percentiles[2], Rate::from_bits_per_second(48_000));
    }

    #[test]
    fn an_outage_goes_on_across_the_end_of_the_period() {
        let rates = [(0, 0.0), (300, 8.0), (600, 0.0), (800, 4.0), (850, 0.0)];
        let steps = rates.map(|(at, mbps)| (ms(at), Rate::from_mbps(mbps)));
        let result = Trace::Steps(Steps::new(&steps, ms(1_000)).unwrap()).statistics(ms(1_000));
        assert_eq!(result.longest_gap, ms(450));
        assert_eq!(result.mean, Rate::from_mbps(2.6));
        assert_eq!(result.opportunities, None);
    }

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let sorted = [10, 20, 30, 40].map(|bits| (Rate::from_bits_per_second(bits), 1));
        let result = PERCENTILES.map(|p| percentile(&sorted, p).bits_per_second());
        assert_eq!(result, [11, 17, 25, 32, 38]);
    }

    #[test]
    fn a_trace_of_centuries_is_described_at_once() {
        let last = Duration::from_secs(1 << 31);
        let steps = [(Duration::ZERO, 5.0), (ms(1_500), 7.0), (last, 3.0)];
        let steps = steps.map(|(at, mbps)| (at, Rate::from_mbps(mbps)));
        let trace = Trace::Steps(Steps::new(&steps, last * 2).unwrap());
        let result = trace.statistics(ms(1));
        let mbps = result.percentiles.map(Rate::as_mbps);
        assert_eq!(mbps[0], 3.0);
        assert_eq!(mbps[4], 7.0);
        let error = trace.rate_series(ms(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a trace of 4294967296s has 4294967296000 bins of 1ms; allowed: up to 10000000, with longer bins"
        );
        let sparse: Trace = Opportunities::new(vec![1, u32::MAX]).unwrap().into();
        assert_eq!(sparse.statistics(ms(1)).percentiles, [Rate::ZERO; 5]);
    }

    /// The mean rates in bins, one by one.
    fn series(trace: &Trace, bin: Duration) -> Vec<Rate> {
        let end = Instant::ZERO + trace.period();
        let starts = (0..).map(|index| Instant::ZERO + bin * index);
        let rate = |from: Instant| {
            let to = (from + bin).min(end);
            Rate::of(trace.bytes_between(from, to, Duration::ZERO), to - from)
        };
        starts.take_while(|from| *from < end).map(rate).collect()
    }

    proptest! {
        #[test]
        fn runs_of_bins_are_the_bins_one_by_one(
            lengths in prop::collection::vec((1_u64..3_000, 0_u64..3), 1..12),
            mut times in prop::collection::vec(0_u32..3_000, 1..12),
            bin in 1_u64..700,
        ) {
            let mut at = Duration::ZERO;
            let mut steps = vec![];
            for (length, megabits) in lengths {
                steps.push((at, Rate::from_mbps(megabits as f64)));
                at += ms(length);
            }
            steps.push((at, Rate::from_mbps(1.0)));
            let steps = Steps::new(&steps, at + ms(1)).unwrap();
            times.sort_unstable();
            *times.last_mut().unwrap() += 1;
            for trace in [Trace::Steps(steps), Opportunities::new(times).unwrap().into()] {
                prop_assert_eq!(trace.rate_series(ms(bin)).unwrap(), series(&trace, ms(bin)));
            }
        }
    }
}
