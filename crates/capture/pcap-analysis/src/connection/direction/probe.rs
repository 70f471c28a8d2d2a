//! Probe: a byte that is sent into a closed window to learn when it opens (RFC 9293 §3.8.6.1).
//!
//! A receiver rejects such a byte, and it is sent anew with the data behind it. So it counts as data only where the
//! receiver has taken it.

use super::{Direction, SeenSegment};

impl Direction {
    /// Processes a segment that may be a probe; returns whether it is. `closed`: the other side's window is closed.
    pub(super) fn probe(&mut self, segment: &SeenSegment, closed: bool) -> bool {
        let highest = self.flight.highest;
        if segment.len > 1 || segment.is_fin {
            return false;
        }
        let keeps_alive = segment.start + 1 == highest && self.flight.is_empty();
        let rejected = closed && segment.len == 1 && segment.start <= highest;
        if rejected && segment.start == highest {
            self.probed.get_or_insert(*segment);
        }
        keeps_alive || rejected
    }

    /// Counts the byte of the last probes as data if something behind it has passed or was acknowledged.
    pub(super) fn take_probe(&mut self, beyond: u64) {
        let Some(probed) = self.probed.take_if(|probed| probed.start < beyond) else {
            return;
        };
        if probed.end <= beyond && probed.start == self.flight.highest {
            self.counts.segments += 1;
            self.new_data(&probed, probed.start, probed.end);
        }
    }
}
