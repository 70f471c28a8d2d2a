//! BBA-0: the rate is a function of the buffer, from "A Buffer-Based Approach to Rate Adaptation" (2014), section 4.
//!
//! With the paper's buffer of 240 s, the reservoir is 90 s and the highest rate is reached at 216 s; other buffers are
//! divided in proportion. A request needs room for a segment, so the level at a request is at most the limit minus one
//! segment. A small buffer is divided such that the highest rate is reached at that level.

use super::{Abr, AbrState, Choice};

/// Share of the buffer up to which the lowest rate is chosen.
const RESERVOIR: f64 = 90.0 / 240.0;
/// Share of the buffer at and above which the highest rate is chosen.
pub(crate) const UPPER: f64 = 216.0 / 240.0;

/// The algorithm, which has no state but that of `AbrState`.
pub(crate) struct Bba0;

/// Returns the buffer size of which the reservoir and the upper limit are shares, s.
pub(crate) fn mapped_buffer(state: &AbrState) -> f64 {
    /// Factor just below 1: a level that is reached exactly exceeds it in spite of rounding.
    const ROUNDING_FACTOR: f64 = 1.0 - 1e-9;
    let max = state.max_buffer.as_secs_f64();
    let scaled = (max - state.segment_s()) / UPPER * ROUNDING_FACTOR;
    // A buffer of one segment leaves no level to map.
    max.min(if scaled > 0.0 { scaled } else { max })
}

/// Returns the rate for the level of the buffer, bit/s.
fn map(state: &AbrState) -> f64 {
    let max = mapped_buffer(state);
    let (low, high) = (
        state.manifest.rate(0),
        state.manifest.rate(state.manifest.top()),
    );
    let fraction = (state.level() - RESERVOIR * max) / ((UPPER - RESERVOIR) * max);
    low + (high - low) * fraction.clamp(0.0, 1.0)
}

impl Abr for Bba0 {
    /// Algorithm 1 of the paper: the rate changes once the map has reached the next higher or the next lower one.
    fn choose(&mut self, state: &AbrState) -> Choice {
        let (manifest, top) = (state.manifest, state.manifest.top());
        let last = state.last.unwrap_or(0);
        let rate = map(state);
        let level = state.level() / mapped_buffer(state);
        let quality = if level <= RESERVOIR {
            0
        } else if level >= UPPER {
            top
        } else if rate >= manifest.rate((last + 1).min(top)) {
            (0..=top)
                .rev()
                .find(|quality| manifest.rate(*quality) < rate)
                .unwrap_or(0)
        } else if rate <= manifest.rate(last.saturating_sub(1)) {
            (0..=top)
                .find(|quality| manifest.rate(*quality) > rate)
                .unwrap_or(top)
        } else {
            last
        };
        Choice::now(quality)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;

    /// Rates from 235 kbit/s to 5 Mbit/s, which the paper names.
    const RATES: [u64; 9] = [235, 375, 560, 750, 1_050, 1_750, 2_350, 3_600, 5_000];

    fn chosen(buffer: f64, last: usize) -> usize {
        let manifest = samples::manifest(4, &RATES);
        Bba0.choose(&samples::state(&manifest, buffer, 240.0, last))
            .quality
    }

    #[test]
    fn the_map_rises_from_90_to_216_seconds() {
        let manifest = samples::manifest(4, &RATES);
        let rate = |buffer| map(&samples::state(&manifest, buffer, 240.0, 0)).round();
        assert_eq!(
            [0.0, 90.0, 153.0, 216.0, 240.0].map(rate),
            [235e3, 235e3, 2_617_500.0, 5e6, 5e6]
        );
    }

    #[test]
    fn the_rate_stays_until_the_map_reaches_its_neighbour() {
        // The map passes 1.05 Mbit/s at 111.55 s, 1.75 at 130.1 s, 2.35 at 145.9 s and 3.6 at 179.0 s.
        assert_eq!(chosen(80.0, 5), 0);
        assert_eq!(chosen(144.0, 5), 5);
        assert_eq!(chosen(147.0, 5), 6);
        assert_eq!(chosen(112.0, 5), 5);
        assert_eq!(chosen(111.0, 5), 4);
        assert_eq!(chosen(180.0, 5), 7);
        assert_eq!(chosen(217.0, 0), 8);
    }
}
