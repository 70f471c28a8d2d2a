//! Statistics of a trace: mean, percentiles, gaps.

use units::{Duration, Instant, Rate};

use crate::{Opportunities, Steps, Trace};

/// Percentiles in [`Statistics`].
pub const PERCENTILES: [u8; 5] = [5, 25, 50, 75, 95];

/// Statistics of one period of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// The length of the period.
    pub duration: Duration,
    /// Bytes that pass in the period over its length.
    pub mean: Rate,
    /// The [`PERCENTILES`] of the rate in bins, interpolated linearly between ranks.
    pub percentiles: [Rate; 5],
    /// Longest time in which nothing can pass, also across the end of the period. Between opportunities it is the
    /// time from one to the next.
    pub longest_gap: Duration,
    /// Number of opportunities; `None` for a rate.
    pub opportunities: Option<u64>,
}

impl Trace {
    /// Returns the statistics of the trace, with percentiles over bins of length `bin`.
    pub fn statistics(&self, bin: Duration) -> Statistics {
        let mut series = self.rate_series(bin);
        // A last bin that is cut short would weigh as much as a whole one.
        if series.len() > 1 && !self.period().as_nanos().is_multiple_of(bin.as_nanos()) {
            series.pop();
        }
        series.sort_unstable();
        Statistics {
            duration: self.period(),
            mean: self.mean_rate(),
            percentiles: PERCENTILES.map(|percent| percentile(&series, percent)),
            longest_gap: match self {
                Self::Opportunities(opportunities) => gap_between(opportunities),
                Self::Steps(steps) => gap_at_zero(steps),
            },
            opportunities: match self {
                Self::Opportunities(opportunities) => Some(opportunities.as_millis().len() as u64),
                Self::Steps(_) => None,
            },
        }
    }

    /// Returns the mean rate in each bin of one period; the last bin may be shorter than the others.
    ///
    /// # Panics
    /// If `bin` is zero.
    pub fn rate_series(&self, bin: Duration) -> Vec<Rate> {
        assert!(!bin.is_zero(), "a bin of no length has no rate");
        let end = Instant::ZERO + self.period();
        let mut from = Instant::ZERO;
        let mut series = Vec::new();
        while from < end {
            let to = (from + bin).min(end);
            series.push(Rate::of(
                self.bytes_between(from, to, Duration::ZERO),
                to - from,
            ));
            from = to;
        }
        series
    }
}

fn percentile(sorted: &[Rate], percent: u8) -> Rate {
    let rank = (sorted.len() - 1) as u64 * u64::from(percent);
    let (below, hundredths) = ((rank / 100) as usize, rank % 100);
    let low = sorted[below].bits_per_second();
    let high = sorted[(below + 1).min(sorted.len() - 1)].bits_per_second();
    Rate::from_bits_per_second(low + (high - low) * hundredths / 100)
}

fn gap_between(opportunities: &Opportunities) -> Duration {
    let at = opportunities.as_millis();
    // The gap from the last opportunity to the first of the next period, which begins in the same moment.
    let around = at[0];
    let longest = at
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(around, u32::max);
    Duration::from_millis(u64::from(longest))
}

fn gap_at_zero(steps: &Steps) -> Duration {
    let outage = |&(_, _, rate): &(Duration, Duration, Rate)| rate == Rate::ZERO;
    let length = |(start, end, _): (Duration, Duration, Rate)| end - start;
    let within = steps
        .iter()
        .filter(outage)
        .map(length)
        .max()
        .unwrap_or_default();
    let ending = steps
        .iter()
        .next_back()
        .filter(outage)
        .map_or(Duration::ZERO, length);
    let beginning = steps
        .iter()
        .next()
        .filter(outage)
        .map_or(Duration::ZERO, length);
    within.max(ending + beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_list_of_opportunities_tells_its_mean_and_its_longest_gap() {
        let trace: Trace = Opportunities::new(vec![250, 300, 300, 1_000])
            .unwrap()
            .into();
        let found = trace.statistics(ms(500));
        assert_eq!(found.duration, ms(1_000));
        assert_eq!(found.mean, Rate::from_bits_per_second(48_000));
        assert_eq!(found.longest_gap, ms(700));
        assert_eq!(found.opportunities, Some(4));
        let series = [72_000, 24_000].map(Rate::from_bits_per_second);
        assert_eq!(trace.rate_series(ms(500)), series);
        assert_eq!(found.percentiles[2], Rate::from_bits_per_second(48_000));
    }

    #[test]
    fn an_outage_goes_on_across_the_end_of_the_period() {
        let rates = [(0, 0.0), (300, 8.0), (600, 0.0), (800, 4.0), (850, 0.0)];
        let steps = rates.map(|(at, mbps)| (ms(at), Rate::from_mbps(mbps)));
        let found = Trace::Steps(Steps::new(&steps, ms(1_000)).unwrap()).statistics(ms(1_000));
        assert_eq!(found.longest_gap, ms(450));
        assert_eq!(found.mean, Rate::from_mbps(2.6));
        assert_eq!(found.opportunities, None);
    }

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let sorted = [10, 20, 30, 40].map(Rate::from_bits_per_second);
        let found = PERCENTILES.map(|p| percentile(&sorted, p).bits_per_second());
        assert_eq!(found, [11, 17, 25, 32, 38]);
    }
}
