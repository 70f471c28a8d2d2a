//! Insufficient-buffer rule of dash.js: limits the bitrate so that the next segment arrives before the buffer is empty.

use super::AbrState;
use crate::playback::Stage;

/// Safety factor of the throughput (`throughputSafetyFactor`).
const SAFETY_FACTOR: f64 = 0.7;
/// Number of first segments to which the rule does not apply (`segmentIgnoreCount`).
const IGNORED_SEGMENTS: usize = 2;

/// Returns the highest quality that the rule allows, given the estimated throughput in bit/s.
pub(crate) fn highest(state: &AbrState, throughput: Option<f64>) -> usize {
    match throughput {
        Some(throughput) if state.segment >= IGNORED_SEGMENTS => {
            if state.stage == Stage::Stalled {
                return 0;
            }
            let limit = SAFETY_FACTOR * throughput * state.level() / state.segment_s();
            state.manifest.highest_within(limit)
        }
        _ => state.manifest.top(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    #[test]
    fn half_a_segment_in_the_buffer_allows_little_more_than_a_third_of_the_throughput() {
        let manifest = samples::manifest(4, &[1_000, 1_300, 2_000, 4_000]);
        let state = samples::state(&manifest, 2.0, 30.0, 3);
        assert_eq!(highest(&state, Some(4e6)), 1);
        assert_eq!(
            highest(
                &AbrState {
                    stage: Stage::Stalled,
                    ..state
                },
                Some(4e6)
            ),
            0
        );
        assert_eq!(
            highest(
                &AbrState {
                    segment: 1,
                    ..state
                },
                Some(4e6)
            ),
            3
        );
    }
}
