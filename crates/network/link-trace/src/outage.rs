//! Outage: a time without capacity of a link.

use units::{Duration, Instant};

use crate::{Opportunities, Steps, Trace};

/// A time without capacity, from `start` to `end`; [`Instant::NEVER`] if it does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// First moment.
    pub start: Instant,
    /// Moment at which something can pass again.
    pub end: Instant,
}

impl Outage {
    /// Returns whether the outage lasts at least `min_length`.
    pub fn is_at_least(self, min_length: Duration) -> bool {
        self.end == Instant::NEVER || self.end.saturating_since(self.start) >= min_length
    }
}

impl Trace {
    /// Returns the first outage of at least `min_length` that ends after `from` and starts before `until`. An outage that
    /// has started before `from` is cut there. The run started `offset` into the trace.
    pub fn next_outage(
        &self,
        from: Instant,
        until: Instant,
        min_length: Duration,
        offset: Duration,
    ) -> Option<Outage> {
        let (from, until) = (from + offset, until + offset);
        let gap = match self {
            Self::Opportunities(opportunities) => opportunities.next_gap(from, until, min_length),
            Self::Steps(steps) => steps.next_gap(from, min_length),
        };
        let gap = gap.filter(|gap| gap.start < until)?;
        let run_time = |at: Instant| match at {
            Instant::NEVER => at,
            at => Instant::ZERO + at.since_start().saturating_sub(offset),
        };
        Some(Outage {
            start: run_time(gap.start),
            end: run_time(gap.end),
        })
    }
}

impl Opportunities {
    /// Returns the first gap of at least `min_length` between opportunities after `from`, if it starts before `until`.
    fn next_gap(&self, from: Instant, until: Instant, min_length: Duration) -> Option<Outage> {
        let first = self.count_until(from);
        let mut start = from;
        // A whole period, and a cut gap at each end of it.
        for index in first..first + self.times_ms().len() as u64 + 2 {
            let end = self.time_of(index);
            let gap = Outage { start, end };
            if gap.is_at_least(min_length) {
                return Some(gap);
            }
            if end >= until {
                return None;
            }
            start = end;
        }
        None
    }
}

impl Steps {
    /// Returns the first time of at least `min_length` after `from` in which the rate is zero.
    fn next_gap(&self, from: Instant, min_length: Duration) -> Option<Outage> {
        let endless = self.period() == Duration::MAX;
        let (first, _) = self.lap(from);
        let mut gap: Option<Outage> = None;
        // Up to the end of the second lap, since an outage may last from one lap into the next.
        for lap in first..first + if endless { 1 } else { 3 } {
            let lap_start = Instant::ZERO + self.period() * lap;
            for (start, end, rate) in self.iter() {
                let start = (lap_start + start).max(from);
                let end = lap_start + end;
                if end <= from {
                    continue;
                }
                if rate.bits_per_second() == 0 {
                    gap.get_or_insert(Outage { start, end }).end = end;
                } else if let Some(outage) = gap.take()
                    && outage.is_at_least(min_length)
                {
                    return Some(outage);
                }
            }
        }
        gap.filter(|outage| outage.is_at_least(min_length))
    }
}

#[cfg(test)]
mod tests {
    use units::{Duration, Instant, Rate};

    use super::Outage;
    use crate::{Opportunities, Steps, Trace};

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(at)
    }

    fn outage(start: u64, end: u64) -> Option<Outage> {
        let (start, end) = (ms(start), ms(end));
        Some(Outage { start, end })
    }

    const MIN_OUTAGE: Duration = Duration::from_millis(50);

    fn first(trace: &Trace) -> Option<Outage> {
        trace.next_outage(ms(0), Instant::NEVER, MIN_OUTAGE, Duration::ZERO)
    }

    #[test]
    fn a_gap_between_opportunities_counts_from_its_length_on() {
        let trace = Trace::from(Opportunities::new(vec![10, 20, 120, 130]).unwrap());
        let next = |from, offset| {
            let offset = Duration::from_millis(offset);
            trace.next_outage(ms(from), Instant::NEVER, MIN_OUTAGE, offset)
        };
        assert_eq!(next(0, 0), outage(20, 120));
        assert_eq!(next(30, 0), outage(30, 120), "the rest of it");
        assert_eq!(next(100, 0), outage(150, 250), "in the next period");
        assert_eq!(next(0, 15), outage(5, 105));
        let before = |until| trace.next_outage(ms(0), ms(until), MIN_OUTAGE, Duration::ZERO);
        assert_eq!((before(20), before(21)), (None, outage(20, 120)));
        let dense = Trace::from(Opportunities::new(vec![10, 20, 30]).unwrap());
        assert_eq!(first(&dense), None);
    }

    #[test]
    fn a_rate_of_zero_is_an_outage_also_across_the_end_of_the_period() {
        let steps = |list: &[(u64, u64)], period| {
            let rates: Vec<_> = list
                .iter()
                .map(|&(at, rate)| (Duration::from_millis(at), Rate::from_bits_per_second(rate)))
                .collect();
            Trace::from(Steps::new(&rates, period).unwrap())
        };
        let laps = steps(
            &[(0, 0), (30, 8), (100, 0), (110, 8), (170, 0)],
            Duration::from_millis(200),
        );
        let next = |from| laps.next_outage(ms(from), Instant::NEVER, MIN_OUTAGE, Duration::ZERO);
        assert_eq!(next(0), outage(170, 230), "the first ones are too short");
        assert_eq!(next(200), outage(370, 430), "the rest is too short");
        let last = steps(&[(0, 8), (100, 0)], Duration::MAX);
        let result = first(&last).unwrap();
        assert_eq!((result.start, result.end), (ms(100), Instant::NEVER));
        let never = steps(&[(0, 8)], Duration::MAX);
        assert_eq!(first(&never), None);
    }
}
