//! Which slow start a congestion control begins with.

use units::Duration;

use super::{Detect, HyStart, HyStartConfig, SlowStart, Standard};
use crate::cca::parameters::{Setting, choices, parameters};
use crate::cca::{Cca, SettingError, Settings};

choices! {
    /// The ways to start.
    pub enum Method {
        /// Until loss (RFC 5681 §3.1).
        Standard = "standard",
        /// Hybrid Slow Start.
        Hystart = "hystart",
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
            Method::Hystart => Box::new(HyStart::new(HyStartConfig {
                detect: self.hystart_detect,
                low_window: self.hystart_low_window,
                ack_spacing: self.hystart_ack_delta,
                detections: self.hystart_detections,
                ..HyStartConfig::default()
            })),
        }
    }
}
