//! MinMax of the RTT: the lowest and the highest one of the last two seconds.

use std::collections::VecDeque;

use units::{Duration, Instant};

/// Length of a part of the time that is looked back on.
const PART: Duration = Duration::from_millis(100);
/// Number of parts: two seconds.
const PARTS: usize = 20;

/// Lowest and highest smoothed RTT of one part.
#[derive(Clone, Copy, Debug)]
struct MinMaxPart {
    start: Instant,
    lowest: Duration,
    highest: Duration,
}

/// Lowest and highest smoothed RTT of the last two seconds, in parts of 100 ms.
///
/// A queue that never drains shows in the lowest one: against flows that fill the buffer it stays high even for a CCA
/// that keeps its own queue short.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinMax {
    parts: VecDeque<MinMaxPart>,
}

impl MinMax {
    /// Adds the smoothed RTT at `now`.
    pub(crate) fn observe(&mut self, now: Instant, srtt: Duration) {
        match self.parts.back_mut() {
            Some(part) if now.saturating_since(part.start) < PART => {
                part.lowest = part.lowest.min(srtt);
                part.highest = part.highest.max(srtt);
            }
            _ => {
                if self.parts.len() == PARTS {
                    self.parts.pop_front();
                }
                self.parts.push_back(MinMaxPart {
                    start: now,
                    lowest: srtt,
                    highest: srtt,
                });
            }
        }
    }

    /// Returns the lowest smoothed RTT of the last two seconds; zero before the first sample.
    pub(crate) fn lowest(&self) -> Duration {
        let all = self.parts.iter().map(|part| part.lowest);
        all.min().unwrap_or_default()
    }

    /// Returns the highest smoothed RTT of the last two seconds; zero before the first sample.
    pub(crate) fn highest(&self) -> Duration {
        let all = self.parts.iter().map(|part| part.highest);
        all.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(rtts: impl IntoIterator<Item = u64>) -> MinMax {
        let mut extremes = MinMax::default();
        for (sample, ms) in rtts.into_iter().enumerate() {
            let now = Instant::ZERO + Duration::from_millis(10) * sample as u64;
            extremes.observe(now, Duration::from_millis(ms));
        }
        extremes
    }

    #[test]
    fn before_the_first_sample_there_are_none() {
        let extremes = MinMax::default();
        assert_eq!(
            (extremes.lowest(), extremes.highest()),
            (Duration::ZERO, Duration::ZERO)
        );
    }

    #[test]
    fn the_lowest_and_the_highest_are_found() {
        let extremes = fed([50, 60, 40, 90, 70]);
        assert_eq!(extremes.lowest(), Duration::from_millis(40));
        assert_eq!(extremes.highest(), Duration::from_millis(90));
    }

    #[test]
    fn what_was_more_than_two_seconds_ago_is_forgotten() {
        let peak = |calm: usize| fed([10, 500].into_iter().chain(std::iter::repeat_n(50, calm)));
        assert_eq!(peak(190).highest(), Duration::from_millis(500));
        assert_eq!(peak(190).lowest(), Duration::from_millis(10));
        assert_eq!(peak(200).highest(), Duration::from_millis(50));
        assert_eq!(peak(200).lowest(), Duration::from_millis(50));
    }
}
