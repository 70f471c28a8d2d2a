//! What an application sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Rate};

use config::Distribution;
use config::Text;
use config::{or_word, word_or_table};

/// What the application of a flow does.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(transform = or_word)]
pub enum Workload {
    /// Sends as much as it can.
    Bulk(Bulk),
    /// Short flows one after another, each on a connection of its own.
    Sequence(Sequence),
    /// Sends and pauses in turn, on one connection.
    OnOff(OnOff),
}

word_or_table!(Workload {} {
    "bulk" => Bulk(Bulk),
    "sequence" => Sequence(Sequence),
    "on-off" => OnOff(OnOff),
});

impl Default for Workload {
    fn default() -> Self {
        Self::Bulk(Bulk::default())
    }
}

/// As much as possible until the first of the limits; without one, until the run ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bulk {
    /// Stops this long after the start of the flow; unset: no such limit.
    #[serde(with = "Text::<Option<Duration>>")]
    pub stop: Option<Duration>,
    /// Stops after this much; unset: no such limit.
    #[serde(with = "Text::<Option<Bytes>>")]
    pub bytes: Option<Bytes>,
}

/// Short flows one after another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sequence {
    /// Payload of each; default 100kB.
    pub size: Distribution<Bytes>,
    /// How many; unset: as many as fit into the run.
    pub count: Option<u32>,
    /// From the end of one to the start of the next; default exponential with a mean of 1s.
    pub gap: Distribution<Duration>,
    /// From the start of the flow to the first; default 0s.
    #[serde(with = "Text::<Duration>")]
    pub first: Duration,
}

impl Default for Sequence {
    fn default() -> Self {
        Self {
            size: Distribution::Constant {
                value: Bytes::new(100_000),
            },
            count: None,
            gap: Distribution::Exponential {
                mean: Duration::from_secs(1),
            },
            first: Duration::ZERO,
        }
    }
}

/// Sends and pauses in turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnOff {
    /// Length of the periods of sending; default exponential with a mean of 1s.
    pub on: Distribution<Duration>,
    /// Length of the pauses; default exponential with a mean of 1s.
    pub off: Distribution<Duration>,
    /// Rate at which the application writes while on; unset: as much as it can.
    #[serde(with = "Text::<Option<Rate>>")]
    pub rate: Option<Rate>,
}

impl Default for OnOff {
    fn default() -> Self {
        let second = Distribution::Exponential {
            mean: Duration::from_secs(1),
        };
        Self {
            on: second,
            off: second,
            rate: None,
        }
    }
}
