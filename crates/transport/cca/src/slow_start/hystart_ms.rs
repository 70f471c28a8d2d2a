//! Hybrid Slow Start as in Linux up to 5.5. Its clock counts milliseconds, it ignores pacing and uses only
//! the first samples of a round, and rounds begin while the window grows.

use units::Duration;

use super::hystart::{DELAY_THRESHOLD, SAMPLES};
use super::{Detect, SlowStart, SlowStartConfig};
use crate::{AckSample, CaState, Window};

/// Fractions of a millisecond in which delays are stored.
const EIGHTHS: u64 = 8;
/// Time after congestion avoidance begins in which RTT samples are ignored, ms.
const QUARANTINE: u64 = 1_000;

/// Kernel version that is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Linux 3.19: slow start goes one segment beyond the threshold and drops the acknowledged segments that
    /// are left over. The other differences of that kernel are in CUBIC (its parameter `kernel`).
    Linux3_19,
    /// Linux 4.8.
    Linux4_8,
}

/// Hybrid Slow Start in whole milliseconds.
#[derive(Clone, Debug)]
pub struct HyStartMs {
    config: SlowStartConfig,
    kernel: Kernel,
    /// Times are in milliseconds.
    round_start: u64,
    round_end: u64,
    last_ack: u64,
    /// Delays are in eighths of a millisecond.
    lowest_in_round: Option<u64>,
    delay_min: Option<u64>,
    sampled: u32,
    growing_since: Option<u64>,
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
            round_start: 0,
            round_end: 0,
            last_ack: 0,
            lowest_in_round: None,
            delay_min: None,
            sampled: 0,
            growing_since: None,
            detections: 0,
            detected_in_round: false,
        }
    }

    fn start_round(&mut self, w: &Window) {
        self.round_start = clock_ms(w);
        self.last_ack = self.round_start;
        self.round_end = w.snd_nxt;
        self.lowest_in_round = None;
        self.sampled = 0;
        self.detected_in_round = false;
    }

    /// Returns whether the ACKs of this round have come without a gap for half of the lowest RTT.
    fn train_is_long(&mut self, now: u64, delay_min: u64) -> bool {
        if now.saturating_sub(self.last_ack) > self.config.hystart_ack_delta.as_millis() {
            return false;
        }
        self.last_ack = now;
        now.saturating_sub(self.round_start) > delay_min / EIGHTHS / 2
    }

    /// Returns whether the first samples of this round are all well above the lowest RTT.
    fn delay_has_risen(&mut self, rtt: u64, delay_min: u64) -> bool {
        if self.sampled < SAMPLES {
            self.sampled += 1;
            let lowest = self.lowest_in_round.map_or(rtt, |lowest| lowest.min(rtt));
            self.lowest_in_round = Some(lowest);
            return false;
        }
        let (min, max) = DELAY_THRESHOLD;
        let threshold = (delay_min / 8).min(eighths(max)).max(eighths(min));
        self.lowest_in_round
            .is_some_and(|lowest| lowest > delay_min + threshold)
    }

    fn on_rtt(&mut self, w: &mut Window, rtt: u64, delay_min: u64) {
        let train = self.config.hystart_detect != Detect::Delay
            && self.train_is_long(clock_ms(w), delay_min);
        let risen =
            self.config.hystart_detect != Detect::Train && self.delay_has_risen(rtt, delay_min);
        if train || risen {
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

    fn reduced(&mut self) {
        self.growing_since = None;
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let now = clock_ms(window);
        if self
            .growing_since
            .is_some_and(|since| now < since + QUARANTINE)
        {
            return;
        }
        let rtt = eighths(rtt).max(1);
        let delay_min = self.delay_min.map_or(rtt, |lowest| lowest.min(rtt));
        self.delay_min = Some(delay_min);
        if !window.in_slow_start() {
            if window.state < CaState::Cwr {
                self.growing_since.get_or_insert(now);
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
