//! Probe: a byte that is sent into a closed window to learn when it opens (RFC 9293 §3.8.6.1), or to keep an idle
//! connection alive (§3.8.4).
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
        let is_window_probe = is_closed && segment.len == 1 && segment.start <= highest;
        if is_window_probe && segment.start == highest {
            self.probe.get_or_insert(*segment);
        }
        is_keep_alive || is_window_probe
    }

    /// Counts the byte of the latest probe as data once the stream is known to reach to `beyond`, past that byte.
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
