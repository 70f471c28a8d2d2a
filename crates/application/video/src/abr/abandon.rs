//! Rule that abandons requests, of dash.js: a segment that takes too long is requested again at a lower quality.

use units::{Duration, Instant};

use super::{AbrState, Progress};

/// Time of the whole segment, in its durations, above which it is abandoned (`abandonDurationMultiplier`).
const TOO_LONG: f64 = 1.8;
/// Time since the first byte before which nothing is abandoned (`minSegmentDownloadTimeThresholdInMs`).
const GRACE: Duration = Duration::from_millis(500);
/// Samples of the throughput that are needed (`minThroughputSamplesThreshold`).
const SAMPLES: u32 = 6;
/// Time between two samples: browsers report the progress of a request at most this often.
const INTERVAL: Duration = Duration::from_millis(50);
/// Share of the throughput that the new quality may need.
const SAFETY_FACTOR: f64 = 0.9;

/// Samples of the running request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AbandonRule {
    request: Option<Instant>,
    sampled: Instant,
    sum: f64,
    samples: u32,
}

impl AbandonRule {
    /// Returns the lower quality to request instead, or `None` to go on with the request.
    pub(crate) fn check(&mut self, state: &AbrState, progress: &Progress) -> Option<usize> {
        if self.request != Some(progress.requested) {
            *self = Self {
                request: Some(progress.requested),
                sampled: progress.first,
                ..Self::default()
            };
        }
        let passed = state.now - progress.first;
        if state.now.saturating_since(self.sampled) < INTERVAL {
            return None;
        }
        self.sampled = state.now;
        self.sum += progress.arrived as f64 * 8.0 / passed.as_secs_f64();
        self.samples += 1;
        if self.samples < SAMPLES || passed <= GRACE {
            return None;
        }
        let rate = self.sum / f64::from(self.samples);
        let whole = progress.bytes as f64 * 8.0 / rate;
        if whole < TOO_LONG * state.segment_s() {
            return None;
        }
        let quality = state.manifest.highest_within(SAFETY_FACTOR * rate);
        let rates = state.manifest.rate(quality) / state.manifest.rate(progress.quality);
        let left = progress.bytes - progress.arrived;
        (quality < progress.quality && left as f64 > progress.bytes as f64 * rates)
            .then_some(quality)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    /// Returns the time after which a segment of 2 MB is abandoned at a rate in Mbit/s, and the new quality.
    fn abandoned(mbps: f64) -> Option<(u64, usize)> {
        let manifest = samples::manifest(4, &[400, 1_000, 4_000]);
        let state = samples::state(&manifest, 8.0, 30.0, 2);
        let mut rule = AbandonRule::default();
        (1..400).find_map(|step| {
            let passed = Duration::from_millis(20) * step;
            let progress = Progress {
                quality: 2,
                bytes: 2_000_000,
                arrived: (passed.as_secs_f64() * mbps * 125_000.0) as u64,
                requested: state.now,
                first: state.now,
            };
            let state = AbrState {
                now: state.now + passed,
                ..state
            };
            rule.check(&state, &progress)
                .map(|quality| (passed.as_millis(), quality))
        })
    }

    #[test]
    fn a_segment_that_would_take_more_than_its_1_8_durations_is_abandoned_after_half_a_second() {
        assert_eq!(abandoned(2.0), Some((540, 1)));
        assert_eq!(abandoned(2.3), None);
    }
}
