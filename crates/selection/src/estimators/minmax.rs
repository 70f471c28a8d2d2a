//! Minimum and maximum of the smoothed RTT over the last two seconds.

use std::collections::VecDeque;

use units::{Duration, Instant};

/// Length of a bin of the window.
const BIN: Duration = Duration::from_millis(100);
/// Number of bins: two seconds.
const BINS: usize = 20;

/// Minimum and maximum of one bin.
#[derive(Clone, Copy, Debug)]
struct MinMaxBin {
    start: Instant,
    min: Duration,
    max: Duration,
}

/// Minimum and maximum of the smoothed RTT over the last two seconds, in bins of 100 ms.
///
/// The minimum shows a queue that never drains: it stays high if competing flows fill the buffer, even under a CCA that
/// keeps its own queue short.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinMax {
    bins: VecDeque<MinMaxBin>,
}

impl MinMax {
    /// Adds the smoothed RTT at `now`.
    pub(crate) fn observe(&mut self, now: Instant, srtt: Duration) {
        match self.bins.back_mut() {
            Some(bin) if now.saturating_since(bin.start) < BIN => {
                bin.min = bin.min.min(srtt);
                bin.max = bin.max.max(srtt);
            }
            _ => {
                if self.bins.len() == BINS {
                    self.bins.pop_front();
                }
                self.bins.push_back(MinMaxBin {
                    start: now,
                    min: srtt,
                    max: srtt,
                });
            }
        }
    }

    /// Returns the minimum; zero before the first sample.
    pub(crate) fn min(&self) -> Duration {
        let minima = self.bins.iter().map(|bin| bin.min);
        minima.min().unwrap_or_default()
    }

    /// Returns the maximum; zero before the first sample.
    pub(crate) fn max(&self) -> Duration {
        let maxima = self.bins.iter().map(|bin| bin.max);
        maxima.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(rtts: impl IntoIterator<Item = u64>) -> MinMax {
        let mut srtt_range = MinMax::default();
        for (sample, ms) in rtts.into_iter().enumerate() {
            let now = Instant::ZERO + Duration::from_millis(10) * sample as u64;
            srtt_range.observe(now, Duration::from_millis(ms));
        }
        srtt_range
    }

    #[test]
    fn before_the_first_sample_there_are_none() {
        let srtt_range = MinMax::default();
        assert_eq!(
            (srtt_range.min(), srtt_range.max()),
            (Duration::ZERO, Duration::ZERO)
        );
    }

    #[test]
    fn the_lowest_and_the_highest_are_found() {
        let srtt_range = fed([50, 60, 40, 90, 70]);
        assert_eq!(srtt_range.min(), Duration::from_millis(40));
        assert_eq!(srtt_range.max(), Duration::from_millis(90));
    }

    #[test]
    fn what_was_more_than_two_seconds_ago_is_forgotten() {
        let peak = |calm: usize| fed([10, 500].into_iter().chain(std::iter::repeat_n(50, calm)));
        assert_eq!(peak(190).max(), Duration::from_millis(500));
        assert_eq!(peak(190).min(), Duration::from_millis(10));
        assert_eq!(peak(200).max(), Duration::from_millis(50));
        assert_eq!(peak(200).min(), Duration::from_millis(50));
    }
}
