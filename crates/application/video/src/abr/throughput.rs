//! Throughput rule, of dash.js: the highest rate within the safe estimate, limited by the rule against an insufficient
//! buffer.

use super::abandon::AbandonRule;
use super::buffer_guard;
use super::estimate::Estimate;
use super::{Abr, AbrState, Choice, Progress, SegmentDownload};

/// State of the rule.
#[derive(Default)]
pub(crate) struct Throughput {
    estimate: Estimate,
    abandon: AbandonRule,
}

impl Abr for Throughput {
    fn choose(&mut self, state: &AbrState) -> Choice {
        let wanted = match self.estimate.with_safety_factor() {
            Some(rate) => state.manifest.highest_within(rate),
            None => state.first(),
        };
        Choice::now(wanted.min(buffer_guard::highest(state, self.estimate.rate())))
    }

    fn downloaded(&mut self, _state: &AbrState, download: &SegmentDownload) {
        self.estimate.add(download);
    }

    fn abandon(&mut self, state: &AbrState, progress: &Progress) -> Option<usize> {
        self.abandon.check(state, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    #[test]
    fn nine_tenths_of_the_throughput_are_used() {
        let manifest = samples::manifest(2, &[500, 900, 1_800, 2_700]);
        let state = samples::state(&manifest, 20.0, 30.0, 0);
        let mut rule = Throughput::default();
        assert_eq!(rule.choose(&state), Choice::now(1));
        rule.downloaded(&state, &samples::sample_download(&state, 1, 2.01));
        assert_eq!(rule.choose(&state), Choice::now(2));
        rule.downloaded(&state, &samples::sample_download(&state, 1, 1.5));
        assert_eq!(rule.choose(&state), Choice::now(1));
    }
}
