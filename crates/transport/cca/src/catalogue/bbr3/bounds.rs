//! Model of the path: the largest delivery rate, and the bounds that losses have set (draft-ietf-ccwg-bbr-06
//! §2.9).

use crate::bandwidth::Bandwidth;

/// Value that stands for no bound on the segments in flight.
pub(super) const UNBOUNDED: u32 = u32::MAX;
/// Value that stands for no bound on the rate.
pub(super) const ANY_RATE: Bandwidth = Bandwidth(u64::MAX);

/// `max_bw_filter` (§5.5.5, §5.5.6): the largest sample of the current and the previous cycle of probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    previous: Bandwidth,
    current: Bandwidth,
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> Bandwidth {
        self.previous.max(self.current)
    }

    pub(super) fn update(&mut self, sample: Bandwidth) {
        self.current = self.current.max(sample);
    }

    /// Ends a cycle. A cycle without a sample removes nothing.
    pub(super) fn advance(&mut self) {
        if self.current > Bandwidth::default() {
            self.previous = core::mem::take(&mut self.current);
        }
    }
}

/// Bounds that losses set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// `bw_shortterm`: rate that is safe until the next probe.
    pub(super) rate: Bandwidth,
    /// `inflight_shortterm`: segments that may be in flight until the next probe.
    pub(super) inflight: u32,
    /// `inflight_longterm`: maximum of segments in flight without more loss than is tolerated.
    pub(super) longterm: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            rate: ANY_RATE,
            inflight: UNBOUNDED,
            longterm: UNBOUNDED,
        }
    }
}

impl Bounds {
    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        self.rate = ANY_RATE;
        self.inflight = UNBOUNDED;
    }

    /// Returns the looser one of each pair of bounds.
    pub(super) fn loosest(self, other: Self) -> Self {
        Self {
            rate: self.rate.max(other.rate),
            inflight: self.inflight.max(other.inflight),
            longterm: self.longterm.max(other.longterm),
        }
    }
}
