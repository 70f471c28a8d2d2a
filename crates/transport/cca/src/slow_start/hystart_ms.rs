//! Hybrid Slow Start as in Linux up to 5.5. Its clock counts milliseconds, it ignores pacing and uses only
//! the first samples of a round, and rounds begin while the window grows.

use units::Duration;

use super::hystart::{HYSTART_DELAY_MAX, HYSTART_DELAY_MIN, MIN_SAMPLES};
use super::{Detect, SlowStart, SlowStartConfig};
use crate::{AckSample, CaState, Window};

/// Fractions of a millisecond in which delays are stored.
const EIGHTHS: u64 = 8;
/// Time after congestion avoidance begins in which RTT samples are ignored, ms.
const QUARANTINE: u64 = 1_000;

/// Kernel version that is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kernel {
    /// Linux 3.19: slow start goes one segment beyond the threshold and drops the acknowledged segments that
    /// are left over. The other differences of that kernel are in CUBIC (its parameter `kernel`).
    Linux3_19,
    /// Linux 4.8.
    #[default]
    Linux4_8,
}

/// Hybrid Slow Start in whole milliseconds.
#[derive(Clone, Debug, Default)]
pub struct HyStartMs {
    config: SlowStartConfig,
    kernel: Kernel,
    /// Start of the round, ms.
    round_start: u64,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    /// Time of the last ACK, ms.
    last_ack: u64,
    /// Lowest RTT of the round, eighths of a millisecond.
    round_rtt: Option<u64>,
    /// Lowest RTT, eighths of a millisecond.
    delay_min: Option<u64>,
    /// Number of RTT samples in the round, up to [`MIN_SAMPLES`].
    samples: u32,
    /// Time at which congestion avoidance began after the latest reduction, ms.
    avoidance_start: Option<u64>,
    detections: u32,
    detected_in_round: bool,
}

fn eighths(time: Duration) -> u64 {
    time.as_micros().saturating_mul(EIGHTHS) / 1_000
}

fn clock_ms(w: &Window) -> u64 {
    w.now.since_start().as_millis()
}

impl HyStartMs {
    /// Creates the version of `kernel` with these parameters.
    pub fn new(kernel: Kernel, config: SlowStartConfig) -> Self {
        Self {
            config,
            kernel,
            ..Self::default()
        }
    }

    fn start_round(&mut self, w: &Window) {
        self.round_start = clock_ms(w);
        self.last_ack = self.round_start;
        self.round_end = w.snd_nxt;
        self.round_rtt = None;
        self.samples = 0;
        self.detected_in_round = false;
    }

    /// Adds an ACK; returns whether the ACKs of this round have come without a gap for half of the lowest RTT.
    fn is_train_long(&mut self, now: u64, delay_min: u64) -> bool {
        if now.saturating_sub(self.last_ack) > self.config.hystart_ack_delta.as_millis() {
            return false;
        }
        self.last_ack = now;
        now.saturating_sub(self.round_start) > delay_min / EIGHTHS / 2
    }

    /// Adds an RTT sample; returns whether the first samples of this round are all well above the lowest RTT.
    fn has_delay_risen(&mut self, rtt: u64, delay_min: u64) -> bool {
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            let round_rtt = self.round_rtt.map_or(rtt, |lowest| lowest.min(rtt));
            self.round_rtt = Some(round_rtt);
            return false;
        }
        let threshold =
            (delay_min / 8).clamp(eighths(HYSTART_DELAY_MIN), eighths(HYSTART_DELAY_MAX));
        self.round_rtt
            .is_some_and(|lowest| lowest > delay_min + threshold)
    }

    fn on_rtt(&mut self, w: &mut Window, rtt: u64, delay_min: u64) {
        let is_train_long = self.config.hystart_detect != Detect::Delay
            && self.is_train_long(clock_ms(w), delay_min);
        let has_delay_risen =
            self.config.hystart_detect != Detect::Train && self.has_delay_risen(rtt, delay_min);
        if is_train_long || has_delay_risen {
            self.detected_in_round = true;
            self.detections += 1;
            if self.detections >= self.config.hystart_detections {
                w.ssthresh = w.cwnd;
            }
        }
    }
}

impl SlowStart for HyStartMs {
    fn reset(&mut self, window: &mut Window) {
        *self = Self::new(self.kernel, self.config);
        self.start_round(window);
    }

    fn on_reduction(&mut self) {
        self.avoidance_start = None;
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let now = clock_ms(window);
        if self
            .avoidance_start
            .is_some_and(|start| now < start + QUARANTINE)
        {
            return;
        }
        let rtt = eighths(rtt).max(1);
        let delay_min = self.delay_min.map_or(rtt, |lowest| lowest.min(rtt));
        self.delay_min = Some(delay_min);
        if !window.in_slow_start() {
            if window.state < CaState::Cwr {
                self.avoidance_start.get_or_insert(now);
            }
            return;
        }
        let is_detected = self.detections >= self.config.hystart_detections;
        if !is_detected && !self.detected_in_round && window.cwnd >= self.config.hystart_low_window
        {
            self.on_rtt(window, rtt, delay_min);
        }
    }

    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        if window.snd_una > self.round_end {
            self.start_round(window);
        }
        let beyond = window.cwnd.saturating_add(acked);
        if beyond <= window.ssthresh {
            window.cwnd = beyond.min(window.cwnd_clamp);
            return 0;
        }
        let (target, rest) = match self.kernel {
            Kernel::Linux3_19 => (window.ssthresh.saturating_add(1), 0),
            Kernel::Linux4_8 => (window.ssthresh, beyond - window.ssthresh),
        };
        window.cwnd = target.min(window.cwnd_clamp);
        rest
    }
}
