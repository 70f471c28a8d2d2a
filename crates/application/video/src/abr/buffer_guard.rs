//! Rule against an insufficient buffer, of dash.js: limits the rate to what arrives before the buffer is empty.

use super::AbrState;
use crate::playback::Stage;

/// Part of the throughput that counts (`throughputSafetyFactor`).
const SAFE: f64 = 0.7;
/// Segments at the start for which the rule does not apply (`segmentIgnoreCount`).
const IGNORED: usize = 2;

/// Returns the highest quality that the rule allows, given the estimated throughput in bit/s.
pub(crate) fn highest(view: &AbrState, rate: Option<f64>) -> usize {
    match rate {
        Some(rate) if view.segment >= IGNORED => {
            if view.stage == Stage::Stalled {
                return 0;
            }
            let limit = SAFE * rate * view.level() / view.segment_s();
            view.manifest.highest_within(limit)
        }
        _ => view.manifest.top(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    #[test]
    fn half_a_segment_in_the_buffer_allows_little_more_than_a_third_of_the_throughput() {
        let manifest = samples::manifest(4, &[1_000, 1_300, 2_000, 4_000]);
        let view = samples::view(&manifest, 2.0, 30.0, 3);
        assert_eq!(highest(&view, Some(4e6)), 1);
        assert_eq!(
            highest(
                &AbrState {
                    stage: Stage::Stalled,
                    ..view
                },
                Some(4e6)
            ),
            0
        );
        assert_eq!(highest(&AbrState { segment: 1, ..view }, Some(4e6)), 3);
    }
}
