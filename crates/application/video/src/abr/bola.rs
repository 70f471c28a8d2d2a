//! BOLA: the quality that gains most utility for its bytes, given the buffer; from "BOLA: Near-Optimal Bitrate
//! Adaptation for Online Videos" (2016).
//!
//! BOLA-BASIC has one parameter V for the whole session. BOLA-FINITE (Algorithm 1) computes V for a smaller buffer
//! at the start and the end of the video. There the quality rises at most to the one just above the throughput
//! (BOLA-U).

use units::Duration;

use super::{Abr, AbrState, Choice, SegmentDownload};
use crate::manifest::Manifest;

/// Weight of an uninterrupted playback against the utility.
const GAMMA_P: f64 = 5.0;
/// Lower limit of the buffer bound at the start and the end of a video, segments.
const MIN_BUFFER_SEGMENTS: f64 = 3.0;

/// Utilities of a bitrate ladder, and V and gamma of BOLA, computed for one buffer size.
///
/// The quality with the highest (V (utility + gamma) - level) / rate is chosen. Levels are seconds.
#[derive(Clone, Debug)]
pub(crate) struct Utility {
    pub(crate) utilities: Vec<f64>,
    pub(crate) v: f64,
    pub(crate) gamma: f64,
}

impl Utility {
    /// Returns the quality that BOLA chooses at a level of the buffer; the higher one of equals.
    pub(crate) fn choose(&self, manifest: &Manifest, level: f64) -> usize {
        let score = |quality: usize| (self.highest_level(quality) - level) / manifest.rate(quality);
        (1..self.utilities.len()).fold(0, |best, quality| {
            if score(quality) >= score(best) {
                quality
            } else {
                best
            }
        })
    }

    /// Returns the level above which BOLA would rather wait than request a quality.
    pub(crate) fn highest_level(&self, quality: usize) -> f64 {
        self.v * (self.utilities[quality] + self.gamma)
    }

    /// Returns the lowest level at which BOLA prefers a quality to the lower ones.
    pub(crate) fn lowest_level(&self, manifest: &Manifest, quality: usize) -> f64 {
        let (rate, utility) = (manifest.rate(quality), self.utilities[quality]);
        let indifference_level = |lower: usize| {
            let (lower_rate, lower_utility) = (manifest.rate(lower), self.utilities[lower]);
            let difference = rate * lower_utility - lower_rate * utility;
            self.v * (self.gamma + difference / (rate - lower_rate))
        };
        (0..quality).map(indifference_level).fold(0.0, f64::max)
    }
}

/// State of a session.
pub(crate) struct Bola {
    utility: Utility,
    /// Whether it is BOLA-FINITE.
    is_bola_finite: bool,
    /// Throughput of the latest segment, its request latency included, bit/s.
    throughput: f64,
}

impl Bola {
    fn new(manifest: &Manifest, is_bola_finite: bool) -> Self {
        let utilities = (0..=manifest.top())
            .map(|quality| libm::log(manifest.rate(quality) / manifest.rate(0)));
        Self {
            utility: Utility {
                utilities: utilities.collect(),
                v: 0.0,
                gamma: GAMMA_P,
            },
            is_bola_finite,
            throughput: 0.0,
        }
    }

    pub(crate) fn basic(manifest: &Manifest) -> Self {
        Self::new(manifest, false)
    }

    pub(crate) fn finite(manifest: &Manifest) -> Self {
        Self::new(manifest, true)
    }

    /// Sets V for the next segment; returns the buffer size for which it is computed, s.
    fn update_v(&mut self, state: &AbrState) -> f64 {
        let max_buffer = state.max_buffer.as_secs_f64();
        let buffer = if self.is_bola_finite {
            let segments = state.segment.min(state.segments - state.segment) as f64;
            max_buffer.min((segments / 2.0).max(MIN_BUFFER_SEGMENTS) * state.segment_s())
        } else {
            max_buffer
        };
        let top = self.utility.utilities[state.manifest.top()];
        self.utility.v = (buffer - state.segment_s()).max(0.0) / (top + self.utility.gamma);
        buffer
    }
}

impl Abr for Bola {
    fn choose(&mut self, state: &AbrState) -> Choice {
        let buffer = self.update_v(state);
        let manifest = state.manifest;
        let last = state.last.unwrap_or(0);
        let mut quality = self.utility.choose(manifest, state.level());
        if self.is_bola_finite && quality > last {
            let sustainable = manifest.highest_within(self.throughput.max(manifest.rate(0)));
            if quality > sustainable {
                quality = if sustainable < last {
                    last
                } else {
                    sustainable + 1
                };
            }
        }
        let excess = state.level() - (buffer - state.segment_s());
        Choice {
            quality,
            pause: Duration::from_secs_f64(excess),
        }
    }

    fn downloaded(&mut self, _state: &AbrState, download: &SegmentDownload) {
        if let Some(rate) = download.throughput_with_latency() {
            self.throughput = rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    const RATES: [u64; 10] = [230, 331, 477, 688, 991, 1_427, 2_056, 2_962, 5_027, 6_000];

    /// With a buffer of 25 s and segments of 3 s, V is 22 / (ln(6000 / 230) + 5) = 2.6630 s.
    #[test]
    fn the_parameters_of_the_paper_make_the_decision_change_at_the_computed_levels() {
        let manifest = samples::manifest(3, &RATES);
        let mut bola = Bola::basic(&manifest);
        bola.update_v(&samples::state(&manifest, 0.0, 25.0, 0));
        assert!((bola.utility.v - 2.6630).abs() < 1e-4, "{}", bola.utility.v);
        for quality in 1..RATES.len() {
            let level = bola.utility.lowest_level(&manifest, quality);
            let at = |level: f64| bola.utility.choose(&manifest, level);
            assert_eq!((at(level - 1e-6), at(level + 1e-6)), (quality - 1, quality));
        }
        // Between 230 and 331 kbit/s: V (5 - 230 ln(331 / 230) / 101) = 11.11 s.
        let level = bola.utility.lowest_level(&manifest, 1);
        assert!((level - 11.1073).abs() < 1e-3, "{level}");
        // Above the level at which even the highest quality is worth nothing, the algorithm waits.
        assert!((bola.utility.highest_level(9) - 22.0).abs() < 1e-9);
    }

    #[test]
    fn a_full_buffer_pauses_until_a_segment_fits() {
        let manifest = samples::manifest(3, &RATES);
        let mut bola = Bola::basic(&manifest);
        let choice = bola.choose(&samples::state(&manifest, 23.5, 25.0, 9));
        assert_eq!(choice.pause, Duration::from_millis(1_500));
    }

    #[test]
    fn a_rise_stops_just_above_the_throughput() {
        let manifest = samples::manifest(3, &RATES);
        let mut bola = Bola::finite(&manifest);
        let state = samples::state(&manifest, 21.0, 25.0, 2);
        bola.downloaded(&state, &samples::sample_download(&state, 2, 1.0));
        assert_eq!(bola.choose(&state).quality, 5);
        assert_eq!(
            bola.choose(&AbrState {
                last: Some(6),
                ..state
            })
            .quality,
            6
        );
    }
}
