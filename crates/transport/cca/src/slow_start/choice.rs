//! Choice of the slow-start method and its parameters.

use units::Duration;

use super::{Detect, HyStart, HyStartMs, HyStartPlus, Kernel, SlowStart, Standard, Startup};
use crate::parameters::{Setting, choices, parameters};
use crate::{CcaInfo, Settings};

choices! {
    /// Slow-start methods.
    pub enum Method {
        /// Standard slow start: until a loss (RFC 5681 §3.1).
        Standard = "standard",
        /// Hybrid Slow Start.
        Hystart = "hystart",
        /// HyStart++ (RFC 9406).
        HystartPlus = "hystart++",
        /// BBR's Startup: until the delivery rate stops growing.
        Bbr = "bbr",
        /// Hybrid Slow Start of Linux 3.19.
        Linux3_19 = "linux-3.19",
        /// Hybrid Slow Start of Linux 4.8.
        Linux4_8 = "linux-4.8",
    }
}

impl Method {
    /// Returns the default of a slow-start parameter of a CCA whose default method is this; `None` if it does not depend
    /// on the method.
    pub(crate) fn default_value(self, parameter: &str) -> Option<String> {
        match parameter {
            "slow_start" => Some(self.show()),
            "hystart" => Some((self == Self::Hystart).show()),
            _ => None,
        }
    }
}

parameters! {
    /// Slow-start parameters of every congestion control without a slow start of its own.
    pub struct SlowStartConfig {
        /// Slow-start method.
        slow_start: Method = Method::Standard, "", "RFC 5681 §3.1; Ha and Rhee 2011";
        /// Use Hybrid Slow Start instead of the standard one, the same switch as in the kernel's tcp_cubic.
        hystart: bool = false, "", "Linux tcp_cubic hystart";
        /// Signal that ends Hybrid Slow Start: a long ACK train, a rising delay, or either.
        hystart_detect: Detect = Detect::Both, "", "Linux tcp_cubic hystart_detect";
        /// Minimum window at which Hybrid Slow Start may end.
        hystart_low_window: u32 = 16, in 0..=1_000_000, "segments", "Linux tcp_cubic hystart_low_window";
        /// Largest gap between two ACKs of one train.
        hystart_ack_delta: Duration = Duration::from_millis(2), "", "Linux tcp_cubic hystart_ack_delta_us";
        /// Detections needed to leave Hybrid Slow Start, counted at most once per round.
        hystart_detections: u32 = 1, in 1..=100, "", "1 in Linux; 3 in atxutegi2018-mobility §V";
        /// Minimum rise of the delay that ends the first phase of HyStart++.
        hystartpp_min_rtt_thresh: Duration = Duration::from_millis(4), "", "RFC 9406 §4.3, MIN_RTT_THRESH";
        /// Rise of the delay that always ends the first phase of HyStart++.
        hystartpp_max_rtt_thresh: Duration = Duration::from_millis(16), "", "RFC 9406 §4.3, MAX_RTT_THRESH";
        /// Divisor of the lowest RTT that gives the rise of the delay between these two bounds.
        hystartpp_min_rtt_divisor: u32 = 8, in 1..=1_000, "", "RFC 9406 §4.3, MIN_RTT_DIVISOR";
        /// RTT samples per round that HyStart++ needs for a decision.
        hystartpp_n_rtt_sample: u32 = 8, in 1..=1_000, "samples", "RFC 9406 §4.3, N_RTT_SAMPLE";
        /// Factor by which the window grows more slowly in conservative slow start.
        hystartpp_css_growth_divisor: u32 = 4, in 2..=1_000, "", "RFC 9406 §4.3, CSS_GROWTH_DIVISOR";
        /// Rounds of conservative slow start.
        hystartpp_css_rounds: u32 = 5, in 1..=1_000, "rounds", "RFC 9406 §4.3, CSS_ROUNDS";
        /// Maximum number of segments that one ACK may add, unless the connection is paced.
        hystartpp_l: u32 = 8, in 1..=1_000_000, "segments", "RFC 9406 §4.3, L";
        /// Ratio of delivery rates that counts as growth in BBR's Startup.
        startup_growth: f64 = 1.25, in 1.0..=10.0, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.2";
        /// Rounds without growth that end BBR's Startup.
        startup_rounds: u32 = 3, in 1..=1_000, "rounds", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.2";
        /// Upper bound of the window in BBR's Startup, as a multiple of the measured bandwidth-delay product.
        startup_gain: f64 = 2.89, in 1.0..=100.0, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3, 2/ln 2";
        /// Leave BBR's Startup with the window that fills the path without a queue.
        startup_drain: bool = true, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.3";
    }
}

impl SlowStartConfig {
    /// Returns the slow-start parameters of `cca` with these settings.
    ///
    /// # Errors
    /// Returns an error if two settings contradict each other.
    pub(crate) fn new(cca: &CcaInfo, settings: &Settings) -> Result<Self, String> {
        if settings.contains_key("slow_start") && settings.contains_key("hystart") {
            return Err(format!(
                "{}: give slow_start or hystart, not both",
                cca.name
            ));
        }
        let mut config = Self::with(settings);
        if settings.contains_key("hystart") {
            config.slow_start = if config.hystart {
                Method::Hystart
            } else {
                Method::Standard
            };
        } else if !settings.contains_key("slow_start") {
            config.slow_start = cca.slow_start.unwrap_or(Method::Standard);
        }
        Ok(config)
    }

    /// Creates the method with its parameters.
    pub(crate) fn build(&self) -> Box<dyn SlowStart> {
        match self.slow_start {
            Method::Standard => Box::new(Standard),
            Method::Hystart => Box::new(HyStart::new(*self)),
            Method::HystartPlus => Box::new(HyStartPlus::new(*self)),
            Method::Bbr => Box::new(Startup::new(*self)),
            Method::Linux3_19 => Box::new(HyStartMs::new(Kernel::Linux3_19, *self)),
            Method::Linux4_8 => Box::new(HyStartMs::new(Kernel::Linux4_8, *self)),
        }
    }
}
