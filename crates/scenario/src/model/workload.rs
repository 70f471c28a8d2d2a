//! What an application sends.

use config::{Distribution, or_word, table, word_or_table};
use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Duration, Rate};

/// Times with a mean of a second.
const SECOND: Distribution<Duration> = Distribution::Exponential {
    mean: Duration::from_secs(1),
};

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

table! {
    /// As much as possible until the first of the limits; without one, until the run ends.
    pub struct Bulk {
        /// Stops this long after the start of the flow; unset: no such limit.
        pub stop: Option<Duration>,
        /// Stops after this much; unset: no such limit.
        pub bytes: Option<Bytes>,
    }
}

table! {
    /// Short flows one after another.
    pub struct Sequence {
        /// Payload of each; default 100kB.
        pub size: Distribution<Bytes> = Distribution::Constant {
                value: Bytes::new(100_000),
            },
        /// How many; unset: as many as fit into the run.
        pub count: Option<u32>,
        /// From the end of one to the start of the next; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// From the start of the flow to the first; default 0s.
        pub first: Duration,
    }
}

table! {
    /// Sends and pauses in turn.
    pub struct OnOff {
        /// Length of the periods of sending; default exponential with a mean of 1s.
        pub on: Distribution<Duration> = SECOND,
        /// Length of the pauses; default exponential with a mean of 1s.
        pub off: Distribution<Duration> = SECOND,
        /// Rate at which the application writes while on; unset: as much as it can.
        pub rate: Option<Rate>,
    }
}
