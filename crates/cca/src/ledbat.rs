//! LEDBAT (RFC 6817): a background transfer that holds the queueing delay of its way at a target. The kernel
//! has none.

mod delay;

use units::Duration;

use super::parameters::parameters;
use super::{AckSample, Cca, CongestionControl, Context, Family, SlowStart, Window};
use delay::{Delays, MOST_MINUTES, MOST_SAMPLES};

parameters! {
    /// The parameters of RFC 6817 §2.5.
    pub struct LedbatConfig {
        /// Queueing delay that is aimed at.
        target: Duration = Duration::from_millis(100), in Duration::from_millis(1)..=Duration::from_millis(100), "", "RFC 6817 §2.5, TARGET (100 ms or less)";
        /// How fast the window answers; 1 is no faster than Reno.
        gain: f64 = 1.0, in 0.01..=1.0, "", "RFC 6817 §2.5, GAIN (1 or less)";
        /// Minutes whose lowest delays make the base delay.
        base_history: u32 = 10, in 1..=MOST_MINUTES, "minutes", "RFC 6817 §2.5, BASE_HISTORY";
        /// Latest delays the lowest of which is the current one.
        current_filter: u32 = 4, in 1..=MOST_SAMPLES, "samples", "RFC 6817 §2.5, CURRENT_FILTER (at most one RTT of samples)";
        /// How far the window may exceed what is in flight.
        allowed_increase: u32 = 1, in 1..=1_000_000, "segments", "RFC 6817 §2.5, ALLOWED_INCREASE";
        /// First window of a connection; the connection's own if that is smaller.
        init_cwnd: u32 = 2, in 1..=1_000_000, "segments", "RFC 6817 §2.5, INIT_CWND";
        /// Least window.
        min_cwnd: u32 = 2, in 1..=1_000_000, "segments", "RFC 6817 §2.5, MIN_CWND";
        /// Slow start until the queueing delay exceeds this share of the target; 0 for none.
        slow_start_share: f64 = 0.0, in 0.0..=1.0, "", "none in RFC 6817; 0.75 in draft-irtf-iccrg-ledbat-plus-plus §4.2";
    }
}

/// LEDBAT in the catalogue.
pub const ABOUT: Cca = Cca {
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

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    delays: Delays,
    /// Part of a segment that the window has beyond whole ones.
    fraction: f64,
    starting: bool,
}

impl Default for Ledbat {
    fn default() -> Self {
        Self::new(LedbatConfig::default())
    }
}

impl Ledbat {
    /// LEDBAT with other parameters.
    pub fn new(config: LedbatConfig) -> Self {
        Self {
            config,
            delays: Delays::new(config.base_history, config.current_filter),
            fraction: 0.0,
            starting: false,
        }
    }

    /// The queueing delay as it is known, µs: by one-way delays if the connection has timestamps, else by
    /// RTTs.
    pub fn queueing_delay(&self) -> u64 {
        self.delays.queueing()
    }

    /// How far from the target the delay is, as a share of it: 1 with an empty queue, below 0 beyond it.
    fn off_target(&self) -> f64 {
        let target = self.config.target.as_micros() as f64;
        (target - self.delays.queueing() as f64) / target
    }

    fn starts(&mut self) -> bool {
        self.starting &= 1.0 - self.off_target() < self.config.slow_start_share;
        self.starting
    }
}

impl CongestionControl for Ledbat {
    fn name(&self) -> &'static str {
        "ledbat"
    }

    /// A connection that has sent nothing begins with the window of the RFC.
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        if window.delivered == 0 {
            window.cwnd = window.cwnd.min(self.config.init_cwnd);
        }
        self.starting = self.config.slow_start_share > 0.0 && window.in_slow_start();
        if !self.starting {
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    /// Without timestamps, the lowest RTT is the base delay.
    fn seed(&mut self, window: &mut Window, context: &Context) {
        if window.timestamps.is_none() && context.min_rtt < Duration::MAX {
            self.delays.seed(window.now, context.min_rtt);
        }
    }

    /// §2.4.2, on data loss: half, at most once per round trip.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.starting = false;
        self.fraction = 0.0;
        (window.cwnd / 2).max(self.config.min_cwnd).min(window.cwnd)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        if let Some(timestamps) = window.timestamps {
            if sample.acked > 0 {
                self.delays.one_way(window.now, timestamps);
            }
        } else if let Some(rtt) = sample.rtt {
            self.delays.round_trip(window.now, rtt);
        }
    }

    /// The window shrinks also where it was not in full use.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.in_slow_start() && self.starts() {
            if window.cwnd_limited {
                slow_start.grow(window, acked);
            }
            return;
        }
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.cong_avoid(window, acked);
    }

    /// §2.4.2: cwnd += GAIN · off_target · newly acked · MSS / cwnd, not beyond what is in flight and a
    /// little more.
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        let cwnd = f64::from(window.cwnd) + self.fraction;
        let change = self.config.gain * self.off_target() * f64::from(acked) / cwnd.max(1.0);
        let flight = window.inflight.saturating_add(acked);
        let most = flight.saturating_add(self.config.allowed_increase);
        let most = most.min(window.cwnd_clamp).max(self.config.min_cwnd);
        let cwnd = (cwnd + change).clamp(f64::from(self.config.min_cwnd), f64::from(most));
        window.cwnd = (cwnd as u32).clamp(1, window.cwnd_clamp);
        self.fraction = cwnd - libm::floor(cwnd);
    }
}
