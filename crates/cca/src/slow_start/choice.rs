//! Which slow start a congestion control begins with.

use units::Duration;

use super::{
    Detect, HyStart, HyStartConfig, HyStartMs, HyStartPlus, HyStartPlusConfig, Kernel, SlowStart,
    Standard, Startup, StartupConfig,
};
use crate::parameters::{Setting, choices, parameters};
use crate::{Cca, SettingError, Settings};

choices! {
    /// The ways to start.
    pub enum Method {
        /// Until loss (RFC 5681 §3.1).
        Standard = "standard",
        /// Hybrid Slow Start.
        Hystart = "hystart",
        /// HyStart++ (RFC 9406).
        HystartPlus = "hystart++",
        /// BBR's start-up: until the delivery rate does not grow.
        Bbr = "bbr",
        /// Hybrid Slow Start as Linux 3.19 ran it.
        Linux3_19 = "linux-3.19",
        /// Hybrid Slow Start as Linux 4.8 ran it.
        Linux4_8 = "linux-4.8",
    }
}

impl Method {
    /// The default of a slow-start parameter where it depends on the method that a CCA begins with.
    pub(crate) fn default_of(self, parameter: &str) -> Option<String> {
        match parameter {
            "slow_start" => Some(self.show()),
            "hystart" => Some((self == Self::Hystart).show()),
            _ => None,
        }
    }
}

parameters! {
    /// How to start, for every congestion control that does not have a way of its own.
    pub struct SlowStartConfig {
        /// Method of slow start.
        slow_start: Method = Method::Standard, "", "RFC 5681 §3.1; Ha and Rhee 2011";
        /// Hybrid Slow Start in place of the standard one, as the kernel's tcp_cubic switches it.
        hystart: bool = false, "", "Linux tcp_cubic hystart";
        /// What ends Hybrid Slow Start: a long ACK train, a rising delay, or either.
        hystart_detect: Detect = Detect::Both, "", "Linux tcp_cubic hystart_detect";
        /// Window below which Hybrid Slow Start does not end.
        hystart_low_window: u32 = 16, in 0..=1_000_000, "segments", "Linux tcp_cubic hystart_low_window";
        /// ACKs closer than this belong to one train.
        hystart_ack_delta: Duration = Duration::from_millis(2), "", "Linux tcp_cubic hystart_ack_delta_us";
        /// Detections, one per round at most, that it takes to leave Hybrid Slow Start.
        hystart_detections: u32 = 1, in 1..=100, "", "1 in Linux; 3 in atxutegi2018-mobility §V";
        /// Least rise of the delay that ends the first part of HyStart++.
        hystartpp_min_rtt_thresh: Duration = Duration::from_millis(4), "", "RFC 9406 §4.3, MIN_RTT_THRESH";
        /// Rise of the delay that always ends it.
        hystartpp_max_rtt_thresh: Duration = Duration::from_millis(16), "", "RFC 9406 §4.3, MAX_RTT_THRESH";
        /// Between the two, the part of the lowest RTT by which the delay must rise.
        hystartpp_min_rtt_divisor: u32 = 8, in 1..=1_000, "", "RFC 9406 §4.3, MIN_RTT_DIVISOR";
        /// RTT samples of a round that HyStart++ takes to judge.
        hystartpp_n_rtt_sample: u32 = 8, in 1..=1_000, "samples", "RFC 9406 §4.3, N_RTT_SAMPLE";
        /// How much slower the window grows in conservative slow start.
        hystartpp_css_growth_divisor: u32 = 4, in 2..=1_000, "", "RFC 9406 §4.3, CSS_GROWTH_DIVISOR";
        /// Rounds of conservative slow start.
        hystartpp_css_rounds: u32 = 5, in 1..=1_000, "rounds", "RFC 9406 §4.3, CSS_ROUNDS";
        /// Segments that one ACK adds at most, unless the connection is paced.
        hystartpp_l: u32 = 8, in 1..=1_000_000, "segments", "RFC 9406 §4.3, L";
        /// Ratio of delivery rates that BBR's start-up takes for growth.
        startup_growth: f64 = 1.25, in 1.0..=10.0, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.2";
        /// Rounds without growth that end BBR's start-up.
        startup_rounds: u32 = 3, in 1..=1_000, "rounds", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.2";
        /// In BBR's start-up the window is at most this many times what the path is seen to hold.
        startup_gain: f64 = 2.89, in 1.0..=100.0, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3, 2/ln 2";
        /// Leave BBR's start-up with the window that the path holds without a queue.
        startup_drain: bool = true, "", "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.3";
    }
}

impl SlowStartConfig {
    /// What `settings` chooses for `cca`.
    ///
    /// # Errors
    /// If two settings contradict each other.
    pub(crate) fn chosen(cca: &Cca, settings: &Settings) -> Result<Self, SettingError> {
        if settings.contains_key("slow_start") && settings.contains_key("hystart") {
            return Err(SettingError::Conflict {
                owner: cca.name.to_owned(),
                parameters: ("slow_start", "hystart"),
            });
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

    /// The method with its parameters.
    pub(crate) fn build(&self) -> Box<dyn SlowStart> {
        match self.slow_start {
            Method::Standard => Box::new(Standard),
            Method::Hystart => Box::new(HyStart::new(self.hystart())),
            Method::HystartPlus => Box::new(HyStartPlus::new(self.hystart_plus())),
            Method::Bbr => Box::new(Startup::new(StartupConfig {
                growth: self.startup_growth,
                rounds: self.startup_rounds,
                gain: self.startup_gain,
                drain: self.startup_drain,
            })),
            Method::Linux3_19 => Box::new(HyStartMs::new(Kernel::Linux3_19, self.hystart())),
            Method::Linux4_8 => Box::new(HyStartMs::new(Kernel::Linux4_8, self.hystart())),
        }
    }

    fn hystart(&self) -> HyStartConfig {
        HyStartConfig {
            detect: self.hystart_detect,
            low_window: self.hystart_low_window,
            ack_spacing: self.hystart_ack_delta,
            detections: self.hystart_detections,
            ..HyStartConfig::default()
        }
    }

    fn hystart_plus(&self) -> HyStartPlusConfig {
        HyStartPlusConfig {
            delay_threshold: (self.hystartpp_min_rtt_thresh, self.hystartpp_max_rtt_thresh),
            divisor: self.hystartpp_min_rtt_divisor,
            samples: self.hystartpp_n_rtt_sample,
            growth_divisor: self.hystartpp_css_growth_divisor,
            rounds: self.hystartpp_css_rounds,
            limit: self.hystartpp_l,
        }
    }
}
