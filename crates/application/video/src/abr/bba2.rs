//! BBA-2: the size of the next segment is a function of the buffer, with a faster start; from "A Buffer-Based Approach
//! to Rate Adaptation" (2014), sections 5 and 6.
//!
//! The reservoir is what the lowest rate needs on a link that carries just its mean. The paper's bounds of it, 8 s and
//! 140 s, belong to a buffer of 240 s and segments of 4 s. Other buffers are divided in proportion, as those of BBA-0,
//! but the reservoir has the two segments of the paper where the upper bound leaves room for them. With less than one,
//! each segment would end a stall above the reservoir, and the lowest rate would never be chosen. The protection
//! against outages, which moves the map to the right in the course of a session, is not built.

use units::Duration;

use super::bba0::{UPPER, mapped_buffer};
use super::{Abr, AbrState, Choice, SegmentDownload};

/// Bounds of the reservoir, as parts of the buffer.
const RESERVOIR: (f64, f64) = (8.0 / 240.0, 140.0 / 240.0);
/// Minimum reservoir, segments.
const MIN_RESERVOIR: f64 = 2.0;
/// Video that the reservoir looks ahead, in buffers.
const LOOKAHEAD_BUFFERS: u64 = 2;
/// Growth of the buffer by a segment, in its durations, that raises the quality at the start: with an empty buffer, and
/// once the map has reached its end.
const GROWTH: (f64, f64) = (0.875, 0.5);

/// State of a session.
#[derive(Default)]
pub(crate) struct Bba2 {
    /// Whether the fast start is over.
    is_steady: bool,
    /// Time that the latest segment took.
    took: Option<Duration>,
}

/// Map from the buffer to the size of a segment.
#[derive(Clone, Copy, Debug)]
struct Map {
    /// Levels at which it begins and ends to rise, s.
    reservoir: f64,
    upper: f64,
    /// Mean sizes of the lowest and the highest quality, bytes.
    low: f64,
    high: f64,
}

impl Map {
    fn new(state: &AbrState) -> Self {
        let max = mapped_buffer(state);
        let (manifest, duration) = (state.manifest, state.segment_s());
        let rate = manifest.mean_segment_bytes(0) / duration;
        let count = (LOOKAHEAD_BUFFERS * state.max_buffer.as_nanos())
            .div_ceil(manifest.segment_duration().as_nanos()) as usize;
        let ahead = state.segment..state.segments.min(state.segment + count);
        let needs = |segment| manifest.segment_bytes(segment, 0).get() as f64 / rate - duration;
        let reservoir: f64 = ahead.map(needs).sum();
        let max_reservoir = RESERVOIR.1 * max;
        let min_reservoir = (RESERVOIR.0 * max)
            .max(MIN_RESERVOIR * duration)
            .min(max_reservoir);
        Self {
            reservoir: reservoir.clamp(min_reservoir, max_reservoir),
            upper: UPPER * max,
            low: manifest.mean_segment_bytes(0),
            high: manifest.mean_segment_bytes(manifest.top()),
        }
    }

    /// Returns the part of the rise at a level.
    fn part(&self, level: f64) -> f64 {
        ((level - self.reservoir) / (self.upper - self.reservoir)).clamp(0.0, 1.0)
    }

    /// Chooses by the sizes of the next segment, as Algorithm 1 does by the rates.
    fn choose(&self, state: &AbrState) -> usize {
        let top = state.manifest.top();
        let last = state.last.unwrap_or(0);
        let size = |quality| state.manifest.segment_bytes(state.segment, quality).get() as f64;
        let part = self.part(state.level());
        let mapped = self.low + (self.high - self.low) * part;
        if part == 0.0 {
            0
        } else if part == 1.0 {
            top
        } else if mapped >= size((last + 1).min(top)) {
            (0..=top)
                .rev()
                .find(|quality| size(*quality) <= mapped)
                .unwrap_or(0)
        } else if mapped <= size(last.saturating_sub(1)) {
            (0..=top)
                .find(|quality| size(*quality) >= mapped)
                .unwrap_or(top)
        } else {
            last
        }
    }
}

impl Abr for Bba2 {
    fn choose(&mut self, state: &AbrState) -> Choice {
        let map = Map::new(state);
        let mapped = map.choose(state);
        let (Some(last), Some(took)) = (state.last, self.took) else {
            return Choice::now(0);
        };
        if self.is_steady {
            return Choice::now(mapped);
        }
        let growth = 1.0 - took.as_secs_f64() / state.segment_s();
        let (empty, full) = GROWTH;
        let enough = empty + (full - empty) * (state.level() / map.upper).min(1.0);
        let raised = last + usize::from(growth > enough);
        if mapped > raised || growth < 0.0 {
            self.is_steady = true;
            return Choice::now(mapped);
        }
        Choice::now(raised.min(state.manifest.top()))
    }

    fn downloaded(&mut self, _state: &AbrState, download: &SegmentDownload) {
        self.took = Some(download.duration());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    #[test]
    fn the_start_raises_by_one_as_long_as_segments_take_an_eighth_of_their_duration() {
        let manifest = samples::manifest(4, &[500, 1_000, 2_000, 4_000]);
        let empty = samples::state(&manifest, 0.0, 240.0, 0);
        let mut rule = Bba2::default();
        assert_eq!(rule.choose(&empty), Choice::now(0));
        rule.downloaded(&empty, &samples::sample_download(&empty, 0, 4.1));
        assert_eq!(rule.choose(&empty), Choice::now(1));
        rule.downloaded(&empty, &samples::sample_download(&empty, 1, 7.9));
        let next = AbrState {
            last: Some(1),
            ..empty
        };
        assert_eq!(rule.choose(&next), Choice::now(1));
        rule.downloaded(&empty, &samples::sample_download(&empty, 1, 0.9));
        assert_eq!(rule.choose(&next), Choice::now(0));
        assert!(rule.is_steady);
    }

    #[test]
    fn the_reservoir_is_what_the_lowest_rate_needs_on_a_link_of_its_mean() {
        let manifest = samples::manifest(4, &[500, 4_000]);
        let rows =
            (0..200).map(|index| vec![if index < 100 { 375_000 } else { 125_000 }, 2_000_000]);
        let manifest = manifest.with_sizes(rows.collect()).unwrap();
        let reservoir = |segment| {
            let state = samples::state(&manifest, 0.0, 240.0, 0);
            Map::new(&AbrState { segment, ..state }).reservoir
        };
        // Each of the first hundred segments needs 2 s more than it has, each later one 2 s less, 120 are looked at.
        assert_eq!(
            [reservoir(0), reservoir(60), reservoir(100)].map(f64::round),
            [140.0, 8.0, 8.0]
        );
        assert!((reservoir(20) - 80.0).abs() < 1e-6);
    }

    /// A buffer of 30 s has an eighth of the paper's reservoir, 1 s, which is less than a segment.
    #[test]
    fn the_reservoir_has_two_segments_where_there_is_room() {
        let manifest = samples::manifest(3, &[500, 4_000]);
        let reservoir = |max| Map::new(&samples::state(&manifest, 0.0, max, 0)).reservoir;
        assert_eq!([reservoir(240.0), reservoir(30.0)], [8.0, 6.0]);
        // Of a live stream 6 s behind, the map ends at 3 s.
        assert!((reservoir(6.0) - 140.0 / 216.0 * 3.0).abs() < 1e-6);
    }
}
