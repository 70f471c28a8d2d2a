//! Estimates, and the classes into which they sort networks.

use serde::{Deserialize, Serialize};

/// Value with a confidence.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// Confidence, from 0 (nothing is known) to 1 (certain).
    pub confidence: f64,
}

impl<T> Estimate<T> {
    /// Creates an estimate.
    pub fn new(value: T, confidence: f64) -> Self {
        Self {
            value,
            confidence: confidence.clamp(0.0, 1.0),
        }
    }
}

/// Class of the base latency.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// About 18 ms: near servers, 5G.
    Low,
    /// About 68 ms: today's 4G.
    #[default]
    #[serde(rename = "4g")]
    Cellular,
}

/// Movement: the trend of the radio quality.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Movement {
    /// Away from the base station: falling.
    Forward,
    /// Neither away nor towards.
    #[default]
    Static,
    /// Towards the base station: rising.
    Backward,
}

/// Phase of a movement (atxutegi2018 §6.3).
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The first seconds of the connection.
    #[default]
    StartUp,
    /// Good conditions that get worse or stay.
    Sustainer,
    /// Poor conditions.
    Constrained,
    /// Conditions that get better.
    Scaling,
}

/// Class of the speed, as in the thesis.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Speed {
    /// 60 km/h.
    #[default]
    #[serde(rename = "60")]
    Slow,
    /// 120 km/h.
    #[serde(rename = "120")]
    Fast,
    /// 300 km/h.
    #[serde(rename = "300")]
    VeryFast,
}

impl Speed {
    /// Returns the class nearest to a speed in m/s, by ratio.
    pub fn of(mps: f64) -> Self {
        let kmh = mps * 3.6;
        match kmh {
            kmh if kmh * kmh < 60.0 * 120.0 => Self::Slow,
            kmh if kmh * kmh < 120.0 * 300.0 => Self::Fast,
            _ => Self::VeryFast,
        }
    }
}

/// Declares the words of a class in files and tables.
macro_rules! text_enum {
    ($($class:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        impl $class {
            /// Returns the word in files and tables.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
        impl core::fmt::Display for $class {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.word())
            }
        }
    )+};
}

text_enum! {
    Latency { Low = "low", Cellular = "4g" }
    Movement { Forward = "forward", Static = "static", Backward = "backward" }
    Phase { StartUp = "start-up", Sustainer = "sustainer", Constrained = "constrained", Scaling = "scaling" }
    Speed { Slow = "60", Fast = "120", VeryFast = "300" }
}
