//! Long-term model: detects a token-bucket policer by a high loss rate at the same delivery rate in two
//! successive intervals (Linux `bbr_lt_bw_sampling`).

use units::{Bytes, Duration, Instant};

use super::config::BbrConfig;
use crate::Window;
use crate::bandwidth::{Bandwidth, Gain};

/// Observation at one ACK or time-out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    /// Segments newly lost.
    pub(super) lost: u32,
    /// Whether the application limited the sample.
    pub(super) app_limited: bool,
    /// Whether a round has begun; a time-out counts as one.
    pub(super) is_round_start: bool,
    /// Whether the mode is PROBE_BW: a policed rate expires only there.
    pub(super) in_probe_bw: bool,
}

/// Detection and use of a policed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTermBw {
    /// Whether an interval has begun.
    is_sampling: bool,
    /// Whether `bandwidth` is in use.
    lt_use_bw: bool,
    /// Rounds of the interval, or of the use of the rate.
    rounds: u32,
    /// Rate of the last interval.
    bandwidth: Bandwidth,
    start: Instant,
    start_delivered: u64,
    start_lost: u64,
}

impl LongTermBw {
    /// Returns the policed rate while it is in use.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.lt_use_bw.then_some(self.bandwidth)
    }

    /// Resets the model.
    pub(super) fn restart(&mut self, window: &Window) {
        *self = Self::default();
        self.start_interval(window);
    }

    fn start_interval(&mut self, window: &Window) {
        self.start = window.delivered_at;
        self.start_delivered = window.delivered;
        self.start_lost = window.lost;
        self.rounds = 0;
    }

    /// Handles one ACK or time-out; returns whether a rate that was in use has expired.
    pub(super) fn sample(
        &mut self,
        config: &BbrConfig,
        window: &Window,
        observation: Observation,
    ) -> bool {
        if !config.policer {
            return false;
        }
        if self.lt_use_bw {
            if observation.in_probe_bw && observation.is_round_start {
                self.rounds += 1;
                if self.rounds >= config.lt_bw_max_rtts {
                    self.restart(window);
                    return true;
                }
            }
            return false;
        }
        self.detect_policer(config, window, observation);
        false
    }

    fn detect_policer(&mut self, config: &BbrConfig, window: &Window, observation: Observation) {
        if !self.is_sampling {
            // Intervals start and end with a loss, when the bucket is empty.
            if observation.lost == 0 {
                return;
            }
            self.start_interval(window);
            self.is_sampling = true;
        }
        if observation.app_limited {
            self.restart(window);
            return;
        }
        self.rounds += u32::from(observation.is_round_start);
        if self.rounds < config.lt_intvl_min_rtts {
            return;
        }
        if self.rounds > 4 * config.lt_intvl_min_rtts {
            self.restart(window);
            return;
        }
        if observation.lost == 0 {
            return;
        }
        let lost = window.lost.saturating_sub(self.start_lost);
        let delivered = window.delivered.saturating_sub(self.start_delivered);
        let threshold = u64::from(Gain::of(config.lt_loss_thresh).0);
        if delivered == 0 || lost << 8 < delivered * threshold {
            return;
        }
        // Whole milliseconds, like the kernel's time stamps.
        let ms = |at: Instant| at.since_start().as_millis();
        let elapsed = Duration::from_millis(ms(window.delivered_at).saturating_sub(ms(self.start)));
        if let Some(rate) = Bandwidth::of(delivered, elapsed) {
            self.end_interval(config, window, rate);
        }
    }

    fn end_interval(&mut self, config: &BbrConfig, window: &Window, rate: Bandwidth) {
        let previous = self.bandwidth;
        if previous > Bandwidth::default() {
            let difference = rate.0.abs_diff(previous.0);
            let max_ratio = Gain::of(config.lt_bw_ratio);
            let max_difference = Bytes::new(u64::from(config.lt_bw_diff));
            if Bandwidth(difference) <= previous.scaled(max_ratio)
                || rate.is_close(previous, max_difference, window.mss)
            {
                self.bandwidth = Bandwidth(u64::midpoint(rate.0, previous.0));
                self.lt_use_bw = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = rate;
        self.start_interval(window);
    }
}
