//! The competitive mode (§2.2): against flows that fill buffers δ becomes smaller, by additive increase and
//! multiplicative decrease of 1/δ.

use units::{Duration, Instant};

/// 1/δ is not raised beyond this, segments.
const MOST: f64 = 1e6;

/// Whether there are flows that fill buffers, and δ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Competition {
    /// 1/δ of the default mode, segments.
    default: f64,
    /// 1/δ at present.
    inverse: f64,
    on: bool,
    last_empty: Instant,
}

impl Competition {
    /// The default mode, with its δ.
    pub(super) fn new(delta: f64) -> Self {
        Self {
            default: 1.0 / delta,
            inverse: 1.0 / delta,
            on: false,
            last_empty: Instant::ZERO,
        }
    }

    /// The default mode, from `now` on.
    pub(super) fn restart(&mut self, now: Instant) {
        self.on = false;
        self.inverse = self.default;
        self.last_empty = now;
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    pub(super) fn delta(&self) -> f64 {
        1.0 / self.inverse
    }

    /// Whether the queue is nearly empty; if it was not for as long as `patience`, others fill it.
    pub(super) fn observe(&mut self, now: Instant, empty: bool, patience: Duration) {
        if empty {
            self.restart(now);
        } else if now.saturating_since(self.last_empty) > patience {
            self.on = true;
        }
    }

    /// A loss halves 1/δ, not below that of the default mode.
    pub(super) fn lost(&mut self) {
        if self.on {
            self.inverse = (self.inverse / 2.0).max(self.default);
        }
    }

    /// A round without a loss adds one segment to 1/δ.
    pub(super) fn end_round(&mut self, lost: bool) {
        if self.on && !lost {
            self.inverse = (self.inverse + 1.0).min(MOST);
        }
    }
}
