//! Hybrid Slow Start of CDG in Linux. It works at any window, and its clock counts microseconds. ACK trains do not count
//! where the application limits the connection.

use units::Duration;

use super::Detect;
use crate::Window;

/// Largest gap between two ACKs of one train, µs.
const MAX_ACK_GAP_US: u64 = 3_000;
/// Minimum value of half the lowest RTT, and of the delay at which slow start ends, µs.
const MIN_DELAY_US: i64 = 125;
/// Number of samples at the start of a round that do not end slow start.
const IGNORED_SAMPLES: u32 = 8;

/// Detector of the end of slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CdgHystart {
    min_rtt_us: Option<i64>,
    /// Times of the latest and of the first ACK of the train, µs.
    train: Option<(u64, u64)>,
    /// Number of samples in this round, up to [`IGNORED_SAMPLES`].
    samples: u32,
}

impl CdgHystart {
    /// Sets the lowest RTT to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, min_rtt: Duration) {
        self.min_rtt_us = (min_rtt < Duration::MAX).then_some(min_rtt.as_micros() as i64);
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.train = None;
        self.samples = 0;
    }

    /// Handles an ACK in slow start; `round_rtt` is the lowest RTT of this round so far, µs. It ends slow start at the
    /// current window if the path seems full.
    pub(super) fn on_rtt(&mut self, w: &mut Window, round_rtt: Option<i64>, detect: Detect) {
        if detect == Detect::Off {
            return;
        }
        let candidates = [self.min_rtt_us, round_rtt];
        self.min_rtt_us = candidates.into_iter().flatten().min();
        let Some(min_rtt) = self.min_rtt_us else {
            return;
        };
        if detect != Detect::Delay && self.is_train_long(w, min_rtt) {
            w.ssthresh = w.cwnd;
            return;
        }
        if detect == Detect::Train {
            return;
        }
        if self.samples < IGNORED_SAMPLES {
            self.samples += 1;
        } else if round_rtt.is_some_and(|rtt| rtt > (min_rtt + min_rtt / 8).max(MIN_DELAY_US)) {
            w.ssthresh = w.cwnd;
        }
    }

    /// Adds an ACK to the train; returns whether the train is longer than half the lowest RTT.
    fn is_train_long(&mut self, w: &Window, min_rtt: i64) -> bool {
        let now = w.now.since_start().as_micros();
        match self.train {
            Some((last, first)) if w.cwnd_limited => {
                if now >= last + MAX_ACK_GAP_US {
                    return false;
                }
                self.train = Some((now, first));
                now > first + (min_rtt / 2).max(MIN_DELAY_US) as u64
            }
            _ => {
                self.train = Some((now, now));
                false
            }
        }
    }
}
