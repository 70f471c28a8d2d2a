//! ACK aggregation: segments in flight beyond the BDP for the time between aggregated ACKs
//! (draft-cardwell-iccrg-bbr-congestion-control-01 §4.5.5, Linux's `extra_acked`).

use units::Instant;

use super::config::BbrConfig;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, Window};

/// Number of acknowledged segments after which an epoch restarts.
const MAX_EPOCH_ACKED: u64 = 1 << 20;

/// Largest excess of ACKs in the last one to two half-windows of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// Start of the epoch over which the excess is measured.
    epoch_start: Instant,
    epoch_acked: u64,
    /// Largest excess of each half-window, segments.
    extra: [u32; 2],
    /// Index of the current half-window.
    half: usize,
    /// Rounds of the current half-window.
    rounds: u32,
}

impl Aggregation {
    pub(super) fn restart(&mut self, window: &Window) {
        self.epoch_start = window.now;
        self.epoch_acked = 0;
    }

    /// Measures the ACKs beyond those that the bandwidth explains.
    pub(super) fn update(
        &mut self,
        config: &BbrConfig,
        window: &Window,
        ack: &Ack,
        bandwidth: Bandwidth,
        is_round_start: bool,
    ) {
        let is_valid = ack.rate.delivered.is_some() && !ack.rate.interval.is_zero();
        if ack.delivered == 0 || !is_valid {
            return;
        }
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= config.extra_acked_win_rtts {
                self.rounds = 0;
                self.half = 1 - self.half;
                self.extra[self.half] = 0;
            }
        }
        let elapsed = window.now.saturating_since(self.epoch_start);
        let mut expected = bandwidth.segments_in(elapsed);
        if self.epoch_acked <= expected
            || self.epoch_acked + u64::from(ack.delivered) >= MAX_EPOCH_ACKED
        {
            self.restart(window);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + u64::from(ack.delivered)).min(MAX_EPOCH_ACKED - 1);
        let extra = self
            .epoch_acked
            .saturating_sub(expected)
            .min(u64::from(window.cwnd)) as u32;
        self.extra[self.half] = self.extra[self.half].max(extra);
    }

    /// Returns the segments to add to the window; none until the path is full.
    pub(super) fn extra(&self, config: &BbrConfig, bandwidth: Bandwidth, is_full: bool) -> u32 {
        if !is_full {
            return 0;
        }
        let max = bandwidth.segments_in(config.extra_acked_max);
        let extra = Gain::of(config.extra_acked_gain).of_segments(self.extra[0].max(self.extra[1]));
        u64::from(extra).min(max) as u32
    }
}
