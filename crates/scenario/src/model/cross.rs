//! Traffic of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Rate};

use config::Distribution;
use config::Text;

/// Packets at equal distance that share the queue and leave after the link; constant, or on and off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cross {
    /// Rate while on, at the IP layer; default 1Mbit/s.
    #[serde(with = "Text::<Rate>")]
    pub rate: Rate,
    /// Size of a packet; unset: the MTU of the link.
    #[serde(with = "Text::<Option<Bytes>>")]
    pub packet: Option<Bytes>,
    /// When it starts, with an on-period if there are periods; default 0s.
    #[serde(with = "Text::<Duration>")]
    pub start: Duration,
    /// When it ends; unset: never.
    #[serde(with = "Text::<Option<Duration>>")]
    pub stop: Option<Duration>,
    /// Length of the periods with traffic; unset (as must off be): constant.
    pub on: Option<Distribution<Duration>>,
    /// Length of the periods without; unset (as must on be): constant.
    pub off: Option<Distribution<Duration>>,
}

impl Default for Cross {
    fn default() -> Self {
        Self {
            rate: Rate::from_bits_per_second(1_000_000),
            packet: None,
            start: Duration::ZERO,
            stop: None,
            on: None,
            off: None,
        }
    }
}
