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

/// Declares classes, each variant with its word in files and tables.
macro_rules! classes {
    ($($(#[$meta:meta])* $class:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
        )]
        pub enum $class { $($(#[$about])* #[serde(rename = $word)] $variant,)+ }

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

classes! {
    /// Class of the base latency.
    Latency {
        /// About 18 ms: near servers, 5G.
        Low = "low",
        /// About 68 ms: today's 4G.
        #[default]
        Cellular = "4g",
    }

    /// Movement: the trend of the radio quality.
    Movement {
        /// Away from the base station: falling.
        Forward = "forward",
        /// Neither away nor towards.
        #[default]
        Static = "static",
        /// Towards the base station: rising.
        Backward = "backward",
    }

    /// Phase of a movement (atxutegi2018 §6.3).
    Phase {
        /// The first seconds of the connection.
        #[default]
        StartUp = "start-up",
        /// Good conditions that get worse or stay.
        Sustainer = "sustainer",
        /// Poor conditions.
        Constrained = "constrained",
        /// Conditions that get better.
        Scaling = "scaling",
    }

    /// Class of the speed, as in the thesis.
    Speed {
        /// 60 km/h.
        #[default]
        Slow = "60",
        /// 120 km/h.
        Fast = "120",
        /// 300 km/h.
        VeryFast = "300",
    }
}

impl Speed {
    /// Returns the class nearest to a speed in m/s, by ratio.
    pub(crate) fn from_mps(mps: f64) -> Self {
        let kmh = mps * 3.6;
        match kmh {
            kmh if kmh * kmh < 60.0 * 120.0 => Self::Slow,
            kmh if kmh * kmh < 120.0 * 300.0 => Self::Fast,
            _ => Self::VeryFast,
        }
    }
}
