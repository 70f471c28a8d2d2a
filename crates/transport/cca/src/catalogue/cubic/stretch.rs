//! Stretch ACKs up to Linux 3.19 (`delayed_ack`): the window grows per ACK. The number of ACKs that a growth needs is
//! divided by the segments per ACK.

use crate::Window;

/// Fractions of a segment in which the ratio is stored.
const PARTS: u32 = 16;
/// Maximum number of segments that one ACK is believed to cover.
const MAX_ACKED_SEGMENTS: u32 = 32;

/// Mean number of segments per ACK, with a weight of 1/16 for a new sample (the kernel's `delayed_ack`).
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRatio(u32);

impl Default for AckRatio {
    fn default() -> Self {
        Self(2 * PARTS)
    }
}

impl AckRatio {
    /// Adds an ACK that covered `segments`.
    pub(super) fn update(&mut self, segments: u32) {
        let decayed = self.0 - self.0 / PARTS;
        self.0 = decayed
            .saturating_add(segments)
            .clamp(1, MAX_ACKED_SEGMENTS * PARTS);
    }

    /// Returns the number of ACKs that cover `segments`, at least one.
    pub(super) fn acks_for(self, segments: u32) -> u32 {
        let acks = u64::from(segments) * u64::from(PARTS) / u64::from(self.0);
        acks.clamp(1, u64::from(u32::MAX)) as u32
    }
}

/// Handles an ACK: after `acks` ACKs, the next one adds a segment to the window.
pub(super) fn grow_per_ack(w: &mut Window, acks: u32) {
    if w.cwnd_cnt < acks {
        w.cwnd_cnt += 1;
        return;
    }
    w.cwnd_cnt = 0;
    if w.cwnd < w.cwnd_clamp {
        w.cwnd += 1;
    }
}
