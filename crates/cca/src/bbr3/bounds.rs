//! The model of the path: the largest delivery rate, and what loss has taught not to exceed
//! (draft-ietf-ccwg-bbr-06 §2.9).

use crate::bandwidth::Bandwidth;

/// No bound on what is in flight.
pub(super) const UNBOUNDED: u32 = u32::MAX;
/// No bound on the rate.
pub(super) const ANY_RATE: Bandwidth = Bandwidth(u64::MAX);

/// `max_bw_filter` (§5.5.5, §5.5.6): the largest sample of the present cycle of probing and the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    before: Bandwidth,
    now: Bandwidth,
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> Bandwidth {
        self.before.max(self.now)
    }

    pub(super) fn update(&mut self, sample: Bandwidth) {
        self.now = self.now.max(sample);
    }

    /// A cycle is over. One without a sample forgets nothing.
    pub(super) fn advance(&mut self) {
        if self.now > Bandwidth::default() {
            self.before = core::mem::take(&mut self.now);
        }
    }
}

/// The bounds that losses leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// `bw_shortterm`: the rate that is safe until the next probe.
    pub(super) rate: Bandwidth,
    /// `inflight_shortterm`: what may be in flight until the next probe, segments.
    pub(super) inflight: u32,
    /// `inflight_longterm`: the most that caused no more loss than is tolerated, segments.
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

    /// Each the looser of the two.
    pub(super) fn loosest(self, other: Self) -> Self {
        Self {
            rate: self.rate.max(other.rate),
            inflight: self.inflight.max(other.inflight),
            longterm: self.longterm.max(other.longterm),
        }
    }
}
