//! Encoder that follows the rate of the connection, by additive increase and multiplicative decrease.

use config::{FieldError, check_number, table};
use units::{Duration, Instant};

/// Factor of the size of frames while a frame waits.
const DECREASE: f64 = 0.85;
/// Shortest time between two decreases: the effect of the first has to show.
const HOLD: Duration = Duration::from_millis(500);
/// Increase a second while none waits, as a share of the whole size.
const INCREASE: f64 = 0.05;

table! {
    /// Encoder that follows the rate of the connection. While a frame waits for the connection, the frames become
    /// smaller by 15 %, every 500 ms at most. Otherwise they become larger by 5 % of their whole size a second. As the
    /// encoders of calls, it sees the socket only.
    pub struct Encoder {
        /// Smallest size of a frame, as a share of its whole size; default 0.1.
        pub lowest: f64 = 0.1,
    }
}

impl Encoder {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_number("lowest", self.lowest, 0.01, 1.0)
    }
}

/// Size of the frames of an encoder, as a share of their whole size.
#[derive(Debug)]
pub(super) struct Level {
    lowest: f64,
    share: f64,
    /// Time of the last decrease, and of the last frame.
    decreased: Option<Instant>,
    last: Option<Instant>,
    /// Sum of the shares of all frames, and their number.
    sum: f64,
    frames: u64,
}

impl Level {
    pub(super) fn new(encoder: &Encoder) -> Self {
        Self {
            lowest: encoder.lowest,
            share: 1.0,
            decreased: None,
            last: None,
            sum: 0.0,
            frames: 0,
        }
    }

    /// Returns the size of the next frame, which is `bytes` as a whole; `is_waiting` says whether one waits.
    pub(super) fn size(&mut self, now: Instant, bytes: u64, is_waiting: bool) -> u64 {
        let passed = now.saturating_since(self.last.replace(now).unwrap_or(now));
        let may_decrease = |at: Instant| now.saturating_since(at) >= HOLD;
        if !is_waiting {
            self.share = (self.share + INCREASE * passed.as_secs_f64()).min(1.0);
        } else if self.decreased.is_none_or(may_decrease) {
            self.share = (self.share * DECREASE).max(self.lowest);
            self.decreased = Some(now);
        }
        self.sum += self.share;
        self.frames += 1;
        ((bytes as f64 * self.share) as u64).max(1)
    }

    /// Returns the mean share; 1 without a frame.
    pub(super) fn mean(&self) -> f64 {
        if self.frames == 0 {
            return 1.0;
        }
        self.sum / self.frames as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_shrink_while_one_waits_and_grow_again() {
        let mut level = Level::new(&Encoder { lowest: 0.5 });
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut size = |ms, is_waiting| level.size(at(ms), 1_000, is_waiting);
        assert_eq!(size(0, false), 1_000);
        assert_eq!((size(100, true), size(300, true)), (850, 850));
        assert_eq!(size(600, true), 722);
        assert_eq!(size(1_600, false), 772);
        assert_eq!((2..20).map(|n| size(n * 1_000, true)).min(), Some(500));
    }
}
