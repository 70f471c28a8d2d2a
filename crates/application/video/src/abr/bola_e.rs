//! BOLA-E: BOLA as dash.js has it, from "From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference
//! Player" (2018).
//!
//! A placeholder is video that BOLA counts but that nobody has: it makes a session begin at its throughput, and makes
//! up for pauses that have nothing to do with the network. The rule against an insufficient buffer looks at the true
//! buffer.

use units::{Duration, Instant};

use super::abandon::AbandonRule;
use super::bola::Utility;
use super::buffer_guard;
use super::estimate::Estimate;
use super::{Abr, AbrState, Choice, Progress, SegmentDownload};
use crate::manifest::Manifest;

/// Level below which BOLA never pauses, s.
const MINIMUM: f64 = 10.0;
/// Further level for each quality, s: thresholds lie no closer, whatever the buffer.
const PER_QUALITY: f64 = 2.0;
/// Part of the placeholder that is left after each segment.
const DECAY: f64 = 0.99;

/// State of a session.
#[derive(Default)]
pub(crate) struct BolaE {
    estimate: Estimate,
    abandon: AbandonRule,
    utility: Option<Utility>,
    /// Whether the start, in which the throughput alone decides, is over.
    is_steady: bool,
    placeholder: f64,
    /// Time of the latest decision, or of the end of the segment after it.
    since: Option<Instant>,
    /// Stalls of the session at the latest decision.
    stalls: usize,
}

/// Returns the utilities and parameters: the lowest quality is preferred up to [`MINIMUM`], the highest from the size
/// of the buffer on.
fn utility(manifest: &Manifest, max_buffer: f64) -> Utility {
    let utilities: Vec<f64> = (0..=manifest.top())
        .map(|quality| libm::log(manifest.rate(quality) / manifest.rate(0)) + 1.0)
        .collect();
    let buffer = max_buffer.max(MINIMUM + PER_QUALITY * utilities.len() as f64);
    let gamma = (utilities[manifest.top()] - 1.0) / (buffer / MINIMUM - 1.0);
    Utility {
        v: MINIMUM / gamma,
        gamma,
        utilities,
    }
}

impl BolaE {
    /// Chooses at the start, by the throughput, and sets the placeholder to what BOLA needs for that choice.
    fn start(&mut self, state: &AbrState, utility: &Utility, safe: f64) -> usize {
        let quality = state.manifest.highest_within(safe);
        self.placeholder = (utility.lowest_level(state.manifest, quality) - state.level()).max(0.0);
        self.is_steady = state.buffer >= state.manifest.segment_duration();
        quality
    }

    /// Chooses by the buffer with its placeholder.
    fn steady(&mut self, state: &AbrState, utility: &Utility, safe: f64) -> (usize, f64) {
        if state.stalls > self.stalls {
            self.placeholder = 0.0;
        }
        let waited = self
            .since
            .map_or(Duration::ZERO, |since| state.now.saturating_since(since));
        self.placeholder += waited.as_secs_f64();
        let level = state.level();
        let last = state.last.unwrap_or(0);
        let mut quality = utility.choose(state.manifest, level + self.placeholder);
        let sustainable = state.manifest.highest_within(safe);
        if quality > last && quality > sustainable {
            quality = sustainable.max(last);
        }
        let excess = level + self.placeholder - utility.highest_level(quality);
        if excess <= self.placeholder {
            self.placeholder -= excess.max(0.0);
            return (quality, 0.0);
        }
        let pause = excess - self.placeholder;
        self.placeholder = 0.0;
        let is_top = quality == state.manifest.top();
        (quality, if is_top { 0.0 } else { pause })
    }
}

impl Abr for BolaE {
    fn choose(&mut self, state: &AbrState) -> Choice {
        let Some(safe) = self
            .estimate
            .with_safety_factor()
            .filter(|_| state.manifest.top() > 0)
        else {
            return Choice::now(state.first());
        };
        let max_buffer = state.max_buffer.as_secs_f64();
        let utility = self
            .utility
            .take()
            .unwrap_or_else(|| utility(state.manifest, max_buffer));
        let (quality, pause) = if self.is_steady {
            self.steady(state, &utility, safe)
        } else {
            (self.start(state, &utility, safe), 0.0)
        };
        self.utility = Some(utility);
        self.since = Some(state.now);
        self.stalls = state.stalls;
        Choice {
            quality: quality.min(buffer_guard::highest(state, self.estimate.rate())),
            pause: Duration::from_secs_f64(pause),
        }
    }

    fn downloaded(&mut self, state: &AbrState, download: &SegmentDownload) {
        self.estimate.add(download);
        self.since = Some(download.finished);
        let Some(utility) = &self.utility else {
            return;
        };
        let before = state.level() + download.duration().as_secs_f64();
        let max = (utility.highest_level(download.quality) - before).max(0.0);
        self.placeholder = (self.placeholder * DECAY).min(max);
    }

    fn abandon(&mut self, state: &AbrState, progress: &Progress) -> Option<usize> {
        let quality = self.abandon.check(state, progress)?;
        if let Some(utility) = &self.utility {
            let wanted = match quality {
                0 => MINIMUM,
                _ => utility.lowest_level(state.manifest, quality),
            };
            self.placeholder = self.placeholder.min((wanted - state.level()).max(0.0));
        }
        Some(quality)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    const RATES: [u64; 10] = [230, 331, 477, 688, 991, 1_427, 2_056, 2_962, 5_027, 6_000];

    /// The paper's figure 4: with ten rates and a buffer of 10 s, thresholds lie between 10 s and 30 s, at least 2 s apart.
    #[test]
    fn a_small_buffer_is_stretched() {
        let manifest = samples::manifest(3, &RATES);
        let utility = utility(&manifest, 10.0);
        let lowest: Vec<f64> = (1..10)
            .map(|quality| utility.lowest_level(&manifest, quality))
            .collect();
        assert!(
            lowest.windows(2).all(|pair| pair[1] - pair[0] > 2.0),
            "{lowest:?}"
        );
        assert!(lowest[0] > MINIMUM && lowest[8] < 30.0, "{lowest:?}");
        // V gamma = 10 s, and V (utility + gamma - 1) = 30 s for the highest quality.
        assert!((utility.v * utility.gamma - 10.0).abs() < 1e-9);
        assert!((utility.highest_level(9) - utility.v - 30.0).abs() < 1e-9);
    }

    #[test]
    fn the_second_segment_has_the_quality_of_the_throughput() {
        let manifest = samples::manifest(3, &RATES);
        let mut rule = BolaE::default();
        let first = AbrState {
            segment: 0,
            last: None,
            ..samples::state(&manifest, 0.0, 25.0, 0)
        };
        assert_eq!(rule.choose(&first).quality, 4);
        let second = AbrState {
            segment: 1,
            last: Some(4),
            ..samples::state(&manifest, 3.0, 25.0, 4)
        };
        rule.downloaded(&second, &samples::sample_download(&second, 4, 8.0));
        assert_eq!(rule.choose(&second), Choice::now(9));
    }

    #[test]
    fn the_true_buffer_limits_what_the_placeholder_asks_for() {
        let manifest = samples::manifest(3, &RATES);
        let mut rule = BolaE::default();
        let state = samples::state(&manifest, 3.0, 25.0, 9);
        rule.downloaded(&state, &samples::sample_download(&state, 9, 8.0));
        // 0.7 of 8 Mbit/s for 3 s make 5.6 Mbit/s.
        assert_eq!(rule.choose(&state).quality, 8);
    }
}
