//! Competitive mode (§2.2): against flows that fill buffers δ becomes smaller, by additive increase and
//! multiplicative decrease of 1/δ.

use units::{Duration, Instant};

/// Largest value of 1/δ, segments.
const MAX_INVERSE_DELTA: f64 = 1e6;

/// Competitive mode and the current δ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Competition {
    /// 1/δ of the default mode, segments.
    default_inverse: f64,
    /// Current 1/δ, segments.
    inverse: f64,
    is_on: bool,
    /// Time at which the queue was last nearly empty.
    last_empty: Instant,
}

impl Competition {
    /// Creates the default mode with its δ.
    pub(super) fn new(delta: f64) -> Self {
        Self {
            default_inverse: 1.0 / delta,
            inverse: 1.0 / delta,
            is_on: false,
            last_empty: Instant::ZERO,
        }
    }

    /// Returns to the default mode at `now`.
    pub(super) fn restart(&mut self, now: Instant) {
        self.is_on = false;
        self.inverse = self.default_inverse;
        self.last_empty = now;
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn delta(&self) -> f64 {
        1.0 / self.inverse
    }

    /// Enters the competitive mode once the queue was last nearly empty longer than `patience` ago; leaves it
    /// when the queue is nearly empty.
    pub(super) fn observe(&mut self, now: Instant, is_nearly_empty: bool, patience: Duration) {
        if is_nearly_empty {
            self.restart(now);
        } else if now.saturating_since(self.last_empty) > patience {
            self.is_on = true;
        }
    }

    /// Halves 1/δ after a loss, down to that of the default mode.
    pub(super) fn on_loss(&mut self) {
        if self.is_on {
            self.inverse = (self.inverse / 2.0).max(self.default_inverse);
        }
    }

    /// Adds one segment to 1/δ after a round without a loss.
    pub(super) fn end_round(&mut self, has_loss: bool) {
        if self.is_on && !has_loss {
            self.inverse = (self.inverse + 1.0).min(MAX_INVERSE_DELTA);
        }
    }
}
