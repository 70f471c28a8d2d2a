//! Window: the receive window that a side offers to the other one (RFC 9293 §3.8.6, RFC 7323 §2).

use tcp::{Flags, Segment};

use super::Direction;

impl Direction {
    /// Processes the window that this side offers; returns whether its field is the same as before.
    pub(in crate::connection) fn on_window(&mut self, segment: &Segment, at_ns: u64) -> bool {
        let field = segment.window;
        let is_same = core::mem::replace(&mut self.window_field, field) == field;
        let is_syn = segment.flags.contains(Flags::SYN);
        let shift = if is_syn {
            0
        } else {
            self.scale.unwrap_or(0).min(14)
        };
        let bytes = u64::from(field) << shift;
        let is_known = is_syn || self.is_scale_known;
        self.window = is_known.then_some(bytes);
        if is_known && !is_syn {
            self.window_max = self.window_max.max(bytes);
            self.window_min = Some(self.window_min.map_or(bytes, |min| min.min(bytes)));
        }
        if field == 0 && !is_syn && !segment.flags.contains(Flags::RST) {
            if self.closed_since.is_none() {
                self.counts.zero_windows += 1;
                self.closed_since = Some(at_ns);
            }
        } else if let Some(since) = self.closed_since.take() {
            self.closed_ns += at_ns.saturating_sub(since);
        }
        is_same
    }

    /// Returns the time in which the window was closed, ns, the current closure included up to the last integration.
    pub(in crate::connection) fn total_closed_ns(&self) -> u64 {
        let current = self
            .closed_since
            .map_or(0, |since| self.integrated_ns.saturating_sub(since));
        self.closed_ns + current
    }
}
