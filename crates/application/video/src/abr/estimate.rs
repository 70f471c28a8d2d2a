//! Estimate of the throughput: two exponential averages, of which the lower counts, as in dash.js.

use crate::log::SegmentDownload;

/// Half-lives of the averages, s of weight.
const HALF_LIVES: [f64; 2] = [3.0, 8.0];
/// Weight of a second of download (`weightDownloadTimeMultiplicationFactor` is 0.0015 for a millisecond).
const WEIGHT: f64 = 1.5;
/// Share of the estimate that counts as safe (`bandwidthSafetyFactor`).
const SAFETY_FACTOR: f64 = 0.9;

/// Averages of the throughput, which begin at zero and are corrected for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    averages: [f64; 2],
    weight: f64,
}

impl Estimate {
    /// Adds a segment.
    pub(crate) fn add(&mut self, download: &SegmentDownload) {
        let Some((rate, seconds)) = download.throughput() else {
            return;
        };
        let weight = WEIGHT * seconds;
        for (average, half_life) in self.averages.iter_mut().zip(HALF_LIVES) {
            let kept = libm::exp2(-weight / half_life);
            *average = (1.0 - kept) * rate + kept * *average;
        }
        self.weight += weight;
    }

    /// Returns the throughput in bit/s.
    pub(crate) fn rate(&self) -> Option<f64> {
        if self.weight == 0.0 {
            return None;
        }
        let corrected = |(average, half_life): (f64, f64)| {
            average / (1.0 - libm::exp2(-self.weight / half_life))
        };
        let rates = self.averages.into_iter().zip(HALF_LIVES).map(corrected);
        rates.reduce(f64::min)
    }

    /// Returns the part of it that is safe.
    pub(crate) fn with_safety_factor(&self) -> Option<f64> {
        self.rate().map(|rate| SAFETY_FACTOR * rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    #[test]
    fn a_constant_rate_is_estimated_exactly_and_a_fall_is_believed_faster_than_a_rise() {
        let manifest = samples::manifest(2, &[1_000]);
        let state = samples::state(&manifest, 10.0, 30.0, 0);
        let mut estimate = Estimate::default();
        assert_eq!(estimate.with_safety_factor(), None);
        for _ in 0..5 {
            estimate.add(&samples::sample_download(&state, 0, 4.0));
        }
        assert!((estimate.rate().unwrap() - 4e6).abs() < 1.0);
        let mut fallen = estimate;
        fallen.add(&samples::sample_download(&state, 0, 1.0));
        estimate.add(&samples::sample_download(&state, 0, 16.0));
        let (rise, fall) = (estimate.rate().unwrap() / 4e6, 4e6 / fallen.rate().unwrap());
        assert!(fall > rise, "{fall} {rise}");
    }

    #[test]
    fn a_segment_that_arrives_at_once_counts_from_its_request() {
        let manifest = samples::manifest(2, &[1_000]);
        let state = samples::state(&manifest, 10.0, 30.0, 0);
        let download = samples::sample_download(&state, 0, 4.0);
        let at_once = SegmentDownload {
            first: download.finished,
            first_bytes: download.bytes,
            ..download
        };
        let mut estimate = Estimate::default();
        estimate.add(&at_once);
        assert!((estimate.rate().unwrap() - 4e6).abs() < 1.0);
    }
}
