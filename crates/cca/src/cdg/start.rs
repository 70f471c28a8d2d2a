//! Hybrid Slow Start as CDG runs it in Linux: at any window, on a clock of microseconds, without the ACK
//! train where the application limits the flow.

use units::Duration;

use super::Detect;
use crate::Window;

/// ACKs closer than this belong to one train, µs.
const ACK_SPACING: u64 = 3_000;
/// Half of the lowest RTT, and the delay at which slow start ends, are not below this, µs.
const LEAST_DELAY: i64 = 125;
/// Looks at the start of a round that do not count.
const SAMPLES: u32 = 8;

/// The search for the end of slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    lowest: Option<i64>,
    /// The latest ACK of the train and the first, µs.
    train: Option<(u64, u64)>,
    looks: u32,
}

impl Start {
    /// The path has an RTT of `lowest` as another has found.
    pub(super) fn seed(&mut self, lowest: Duration) {
        self.lowest = (lowest < Duration::MAX).then_some(lowest.as_micros() as i64);
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self) {
        self.train = None;
        self.looks = 0;
    }

    /// An ACK in slow start; `rtt` is the lowest of this round so far. Ends slow start at the present
    /// window if the pipe seems full.
    pub(super) fn look(&mut self, w: &mut Window, rtt: Option<i64>, detect: Detect) {
        if detect == Detect::Off {
            return;
        }
        let candidates = [self.lowest, rtt];
        self.lowest = candidates.into_iter().flatten().min();
        let Some(lowest) = self.lowest else { return };
        if detect != Detect::Delay && self.train_is_long(w, lowest) {
            w.ssthresh = w.cwnd;
            return;
        }
        if detect == Detect::Train {
            return;
        }
        if self.looks < SAMPLES {
            self.looks += 1;
        } else if rtt.is_some_and(|rtt| rtt > (lowest + lowest / 8).max(LEAST_DELAY)) {
            w.ssthresh = w.cwnd;
        }
    }

    fn train_is_long(&mut self, w: &Window, lowest: i64) -> bool {
        let now = w.now.since_start().as_micros();
        match self.train {
            Some((last, first)) if w.cwnd_limited => {
                if now >= last + ACK_SPACING {
                    return false;
                }
                self.train = Some((now, first));
                now > first + (lowest / 2).max(LEAST_DELAY) as u64
            }
            _ => {
                self.train = Some((now, now));
                false
            }
        }
    }
}
