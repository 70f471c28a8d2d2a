//! Hybrid Slow Start (Ha and Rhee, "Taming the elephants", 2011) as in Linux CUBIC. It ends slow start when
//! the ACKs of a round form a train as long as the path, or when the delay rises.

use units::{Bytes, Duration, Instant};

use super::{SlowStart, SlowStartConfig};
use crate::parameters::choices;
use crate::{AckSample, CaState, Window};

/// Room that the kernel leaves for headers, bytes (`MAX_TCP_HEADER`).
const MAX_TCP_HEADER: u64 = 320;
/// Bytes in four bursts of the largest size (`sk_gso_max_size`), by which pacing may stretch an ACK train.
const PACED_STRETCH_BYTES: u64 = 4 * (65_536 - 1 - MAX_TCP_HEADER);
/// Time after congestion avoidance begins in which RTT samples are ignored.
const QUARANTINE: Duration = Duration::from_secs(1);

choices! {
    /// Signals that end Hybrid Slow Start.
    pub enum Detect {
        /// An ACK train as long as half of the lowest RTT, or all of it if the connection is paced.
        Train = "train",
        /// A rising delay.
        Delay = "delay",
        /// Either.
        Both = "both",
    }
}

/// RTT samples of a round before its lowest RTT is compared (the kernel's `HYSTART_MIN_SAMPLES`).
pub(super) const MIN_SAMPLES: u32 = 8;
/// Minimum of the delay threshold, which is an eighth of the lowest RTT (`HYSTART_DELAY_MIN`).
pub(super) const HYSTART_DELAY_MIN: Duration = Duration::from_millis(4);
/// Maximum of the delay threshold (`HYSTART_DELAY_MAX`).
pub(super) const HYSTART_DELAY_MAX: Duration = Duration::from_millis(16);

/// Slow start that looks for the capacity of the path before a loss occurs.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    config: SlowStartConfig,
    round_start: Instant,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    last_ack: Instant,
    /// Lowest RTT of the round.
    round_rtt: Option<Duration>,
    /// Number of RTT samples in the round, up to [`MIN_SAMPLES`].
    samples: u32,
    delay_min: Option<Duration>,
    /// Time at which congestion avoidance began after the latest reduction.
    avoidance_start: Option<Instant>,
    detections: u32,
    detected_in_round: bool,
}

impl HyStart {
    /// Creates Hybrid Slow Start with these parameters.
    pub fn new(config: SlowStartConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    fn start_round(&mut self, w: &Window) {
        self.round_start = w.now;
        self.last_ack = w.now;
        self.round_end = w.snd_nxt;
        self.round_rtt = None;
        self.samples = 0;
        self.detected_in_round = false;
    }

    /// Adds an ACK; returns whether the ACKs of this round form a train without gaps that is as long as the path.
    fn is_train_long(&mut self, w: &Window, delay_min: Duration) -> bool {
        if w.now.saturating_since(self.last_ack) > self.config.hystart_ack_delta {
            return false;
        }
        self.last_ack = w.now;
        let stretch = if w.pacing_rate.bits_per_second() == 0 {
            Duration::ZERO
        } else {
            w.pacing_rate
                .time_to_send(Bytes::new(PACED_STRETCH_BYTES))
                .min(Duration::from_millis(1))
        };
        let mut threshold = delay_min + stretch;
        if !w.paced {
            threshold = threshold / 2;
        }
        w.now.saturating_since(self.round_start) > threshold
    }

    /// Adds an RTT sample; returns whether the samples of this round are all well above the lowest RTT.
    fn has_delay_risen(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let round_rtt = self.round_rtt.map_or(rtt, |lowest| lowest.min(rtt));
        self.round_rtt = Some(round_rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        round_rtt > delay_min + (delay_min / 8).clamp(HYSTART_DELAY_MIN, HYSTART_DELAY_MAX)
    }
}

impl SlowStart for HyStart {
    fn reset(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.start_round(window);
    }

    fn on_reduction(&mut self) {
        self.avoidance_start = None;
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        if self
            .avoidance_start
            .is_some_and(|start| window.now < start + QUARANTINE)
        {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |lowest| lowest.min(rtt));
        self.delay_min = Some(delay_min);
        if !window.in_slow_start() {
            if window.state < CaState::Cwr {
                self.avoidance_start.get_or_insert(window.now);
            }
            return;
        }
        // After the last detection the search stops, until a time-out makes all estimates doubtful.
        if self.detections >= self.config.hystart_detections {
            return;
        }
        if window.snd_una > self.round_end {
            self.start_round(window);
        }
        if window.cwnd < self.config.hystart_low_window || self.detected_in_round {
            return;
        }
        // Both calls add to the round, so neither may depend on the other's result.
        let is_train_long =
            self.config.hystart_detect != Detect::Delay && self.is_train_long(window, delay_min);
        let has_delay_risen =
            self.config.hystart_detect != Detect::Train && self.has_delay_risen(rtt, delay_min);
        if is_train_long || has_delay_risen {
            self.detected_in_round = true;
            self.detections += 1;
            if self.detections >= self.config.hystart_detections {
                window.ssthresh = window.cwnd;
            }
        }
    }
}
