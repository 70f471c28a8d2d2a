//! Hybrid Slow Start of CDG in Linux: it works at any window, its clock counts microseconds, and it does not
//! look for ACK trains where the application limits the connection.

use units::Duration;

use super::Detect;
use crate::Window;

/// Largest gap between two ACKs of one train, µs.
const ACK_SPACING: u64 = 3_000;
/// Minimum value of half the lowest RTT, and of the delay at which slow start ends, µs.
const MIN_DELAY: i64 = 125;
/// Samples at the start of a round that do not end slow start.
const SAMPLES: u32 = 8;

/// Search for the end of slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    lowest: Option<i64>,
    /// Times of the latest and of the first ACK of the train, µs.
    train: Option<(u64, u64)>,
    looks: u32,
}

impl Start {
    /// Sets the lowest RTT to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, lowest: Duration) {
        self.lowest = (lowest < Duration::MAX).then_some(lowest.as_micros() as i64);
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.train = None;
        self.looks = 0;
    }

    /// Handles an ACK in slow start; `rtt` is the lowest RTT of this round so far. It ends slow start at the
    /// current window if the path seems full.
    pub(super) fn on_rtt(&mut self, w: &mut Window, rtt: Option<i64>, detect: Detect) {
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
        } else if rtt.is_some_and(|rtt| rtt > (lowest + lowest / 8).max(MIN_DELAY)) {
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
                now > first + (lowest / 2).max(MIN_DELAY) as u64
            }
            _ => {
                self.train = Some((now, now));
                false
            }
        }
    }
}
