//! LEDBAT (RFC 6817): a background transfer that keeps the queueing delay of its direction at a target. The
//! kernel does not have it.

mod delay;

use units::Duration;

use crate::parameters::parameters;
use crate::{AckSample, CcaInfo, CongestionControl, Family, SlowStart, TransferState, Window};
use delay::{Delays, MAX_MINUTES, MAX_SAMPLES};

parameters! {
    /// Parameters of RFC 6817 §2.5.
    pub struct LedbatConfig {
        /// Target of the queueing delay.
        target: Duration = Duration::from_millis(100), in Duration::from_millis(1)..=Duration::from_millis(100), "", "RFC 6817 §2.5, TARGET (100 ms or less)";
        /// Speed at which the window reacts; 1 is no faster than Reno.
        gain: f64 = 1.0, in 0.01..=1.0, "", "RFC 6817 §2.5, GAIN (1 or less)";
        /// Number of the latest minutes whose lowest delay is the base delay.
        base_history: u32 = 10, in 1..=MAX_MINUTES, "minutes", "RFC 6817 §2.5, BASE_HISTORY";
        /// Number of the latest delays whose lowest is the current delay.
        current_filter: u32 = 4, in 1..=MAX_SAMPLES, "samples", "RFC 6817 §2.5, CURRENT_FILTER (at most one RTT of samples)";
        /// Segments by which the window may exceed the flight size.
        allowed_increase: u32 = 1, in 1..=1_000_000, "segments", "RFC 6817 §2.5, ALLOWED_INCREASE";
        /// First window of a connection, unless its own is smaller.
        init_cwnd: u32 = 2, in 1..=1_000_000, "segments", "RFC 6817 §2.5, INIT_CWND";
        /// Minimum window.
        min_cwnd: u32 = 2, in 1..=1_000_000, "segments", "RFC 6817 §2.5, MIN_CWND";
        /// Share of the target that the queueing delay must exceed to end slow start; 0 for no slow start.
        slow_start_share: f64 = 0.0, in 0.0..=1.0, "", "none in RFC 6817; 0.75 in draft-irtf-iccrg-ledbat-plus-plus §4.2";
    }
}

/// Catalogue entry of LEDBAT.
pub const INFO: CcaInfo = CcaInfo {
    name: "ledbat",
    aliases: &["rfc6817"],
    title: "LEDBAT",
    family: Family::Delay,
    reference: "RFC 6817",
    year: 2012,
    linux: false,
    parameters: LedbatConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Ledbat::new(LedbatConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    delays: Delays,
    /// Fraction of a segment that the window has beyond whole ones.
    fraction: f64,
    /// Whether the queueing delay has stayed short enough for slow start.
    delay_allows_slow_start: bool,
}

impl Ledbat {
    /// Creates LEDBAT with these parameters.
    pub fn new(config: LedbatConfig) -> Self {
        Self {
            config,
            delays: Delays::new(config.base_history, config.current_filter),
            fraction: 0.0,
            delay_allows_slow_start: false,
        }
    }

    /// Returns the estimated queueing delay, µs. It uses one-way delays if the connection has timestamps,
    /// else RTTs.
    pub fn queueing_delay(&self) -> u64 {
        self.delays.queueing_delay()
    }

    /// Returns the distance of the delay from the target, as a share of the target: 1 with an empty queue,
    /// negative if the delay exceeds the target.
    fn off_target(&self) -> f64 {
        let target = self.config.target.as_micros() as f64;
        (target - self.delays.queueing_delay() as f64) / target
    }

    /// Ends slow start if the queueing delay is too long; returns whether slow start continues.
    fn continue_slow_start(&mut self) -> bool {
        self.delay_allows_slow_start &= 1.0 - self.off_target() < self.config.slow_start_share;
        self.delay_allows_slow_start
    }
}

impl CongestionControl for Ledbat {
    /// Starts with the window of the RFC if the connection has delivered nothing yet.
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        if window.delivered == 0 {
            window.cwnd = window.cwnd.min(self.config.init_cwnd);
        }
        self.delay_allows_slow_start = self.config.slow_start_share > 0.0 && window.in_slow_start();
        if !self.delay_allows_slow_start {
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    /// Uses the lowest RTT as the base delay if there are no timestamps.
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        if window.timestamps.get().is_none() && state.min_rtt < Duration::MAX {
            self.delays.seed(window.now, state.min_rtt);
        }
    }

    /// Halves the window on data loss, at most once per round trip (§2.4.2).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.delay_allows_slow_start = false;
        self.fraction = 0.0;
        (window.cwnd / 2).max(self.config.min_cwnd).min(window.cwnd)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        if let Some(timestamps) = window.timestamps.get() {
            if sample.acked > 0 {
                self.delays.add_timestamps(window.now, timestamps);
            }
        } else if let Some(rtt) = sample.rtt {
            self.delays.add_rtt(window.now, rtt);
        }
    }

    /// Updates the window, which may shrink even if it was not in full use.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.in_slow_start() && self.continue_slow_start() {
            if window.cwnd_limited {
                slow_start.grow(window, acked);
            }
            return;
        }
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.cong_avoid(window, acked);
    }

    /// Applies cwnd += GAIN · off_target · newly acked · MSS / cwnd, up to slightly more than the flight size
    /// (§2.4.2).
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        let cwnd = f64::from(window.cwnd) + self.fraction;
        let change = self.config.gain * self.off_target() * f64::from(acked) / cwnd.max(1.0);
        let flight = window.inflight.saturating_add(acked);
        let max_cwnd = flight.saturating_add(self.config.allowed_increase);
        let max_cwnd = max_cwnd.min(window.cwnd_clamp).max(self.config.min_cwnd);
        let cwnd = (cwnd + change).clamp(f64::from(self.config.min_cwnd), f64::from(max_cwnd));
        window.cwnd = (cwnd as u32).clamp(1, window.cwnd_clamp);
        self.fraction = cwnd - libm::floor(cwnd);
    }
}
