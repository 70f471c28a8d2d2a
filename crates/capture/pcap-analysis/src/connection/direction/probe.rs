//! Probe: a byte that is sent into a closed window to learn when it opens (RFC 9293 §3.8.6.1).
//!
//! A receiver that rejects the byte gets it again with the data behind it. So it counts as data only where the receiver
//! has accepted it.

use super::{Direction, SeenSegment};

impl Direction {
    /// Processes a segment that may be a probe; returns whether it is. `is_closed`: the other side's window is closed.
    pub(super) fn on_probe(&mut self, segment: &SeenSegment, is_closed: bool) -> bool {
        let highest = self.flight.highest;
        if segment.len > 1 || segment.is_fin {
            return false;
        }
        let is_keep_alive = segment.start + 1 == highest && self.flight.is_empty();
        let is_rejected = is_closed && segment.len == 1 && segment.start <= highest;
        if is_rejected && segment.start == highest {
            self.probe.get_or_insert(*segment);
        }
        is_keep_alive || is_rejected
    }

    /// Counts the byte of the last probes as data if a later byte has passed or was acknowledged.
    pub(super) fn count_probe(&mut self, beyond: u64) {
        let Some(probe) = self.probe.take_if(|probe| probe.start < beyond) else {
            return;
        };
        if probe.end <= beyond && probe.start == self.flight.highest {
            self.counts.segments += 1;
            self.on_new_data(&probe, probe.start, probe.end);
        }
    }
}
