//! The long-term model: a token-bucket policer shows by a steady high loss at the same rate in two
//! intervals in a row (Linux `bbr_lt_bw_sampling`).

use units::{Bytes, Duration, Instant};

use super::bandwidth::Bandwidth;
use crate::cca::Window;

/// An interval lasts at least this many rounds, and is given up after four times as many.
const MIN_ROUNDS: u32 = 4;
/// Loss that makes a policer likely: 20 % (50/256).
const LOSS_THRESHOLD: (u64, u64) = (50, 256);
/// Two rates agree within an eighth, or within 4 kbit/s.
const TOLERANCE: (u64, u64) = (1, 8);
const TOLERANCE_BYTES: Bytes = Bytes::new(500);
/// The policer's rate is used for this many rounds.
const USE_ROUNDS: u32 = 48;

/// What an ACK, or a time-out, shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Segments newly lost.
    pub(super) lost: u32,
    /// The sample was limited by the application.
    pub(super) app_limited: bool,
    /// A round has begun; a time-out counts as one.
    pub(super) round: bool,
    /// The gain cycle is on: only there a policed rate grows old.
    pub(super) probing: bool,
}

/// Detection and use of a policed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    use_it: bool,
    rounds: u32,
    bandwidth: Bandwidth,
    start: Instant,
    start_delivered: u64,
    start_lost: u64,
}

impl Policer {
    /// The policed rate, while it is in use.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.use_it.then_some(self.bandwidth)
    }

    /// Forgets everything.
    pub(super) fn restart(&mut self, window: &Window) {
        *self = Self::default();
        self.start_interval(window);
    }

    fn start_interval(&mut self, window: &Window) {
        self.start = window.now;
        self.start_delivered = window.delivered;
        self.start_lost = window.lost;
        self.rounds = 0;
    }

    /// Looks at one ACK or time-out; answers whether a rate that was in use has been given up.
    pub(super) fn sample(&mut self, window: &Window, seen: Seen) -> bool {
        if self.use_it {
            if seen.probing && seen.round {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.restart(window);
                    return true;
                }
            }
            return false;
        }
        self.look_for_policer(window, seen);
        false
    }

    fn look_for_policer(&mut self, window: &Window, seen: Seen) {
        if !self.sampling {
            // Intervals start and end with loss, when the bucket is empty.
            if seen.lost == 0 {
                return;
            }
            self.start_interval(window);
            self.sampling = true;
        }
        if seen.app_limited {
            self.restart(window);
            return;
        }
        self.rounds += u32::from(seen.round);
        if self.rounds < MIN_ROUNDS {
            return;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.restart(window);
            return;
        }
        if seen.lost == 0 {
            return;
        }
        let lost = window.lost - self.start_lost;
        let delivered = window.delivered - self.start_delivered;
        if delivered == 0 || lost * LOSS_THRESHOLD.1 < delivered * LOSS_THRESHOLD.0 {
            return;
        }
        // Whole milliseconds of the clock, as the kernel stamps them.
        let ms = |at: Instant| at.since_start().as_millis();
        let elapsed = Duration::from_millis(ms(window.now) - ms(self.start));
        if let Some(rate) = Bandwidth::of(delivered, elapsed) {
            self.end_interval(window, rate);
        }
    }

    fn end_interval(&mut self, window: &Window, rate: Bandwidth) {
        let known = self.bandwidth;
        if known > Bandwidth::default() {
            let apart = rate.0.abs_diff(known.0);
            if apart * TOLERANCE.1 <= known.0 * TOLERANCE.0
                || rate.is_close(known, TOLERANCE_BYTES, window.mss)
            {
                self.bandwidth = Bandwidth(u64::midpoint(rate.0, known.0));
                self.use_it = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = rate;
        self.start_interval(window);
    }
}
