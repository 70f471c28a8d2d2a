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
    /// The receiving node asks and the sending node answers, again and again on one connection.
    RequestResponse(RequestResponse),
}

word_or_table!(Workload {} {
    "bulk" => Bulk(Bulk),
    "sequence" => Sequence(Sequence),
    "on-off" => OnOff(OnOff),
    "request-response" => RequestResponse(RequestResponse),
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

table! {
    /// Requests of the receiving node, each answered by the sending node before the next. Results count the
    /// responses; the event "response_s" of each has the time from the request to the last byte of the response,
    /// for the first one with the handshake.
    pub struct RequestResponse {
        /// Payload of each request; default 500B.
        pub request: Distribution<Bytes> = Distribution::Constant {
                value: Bytes::new(500),
            },
        /// Payload of each response; default 100kB.
        pub response: Distribution<Bytes> = Distribution::Constant {
                value: Bytes::new(100_000),
            },
        /// From the last byte of a request at the sending node to the first byte of the response; default 10ms.
        pub think: Distribution<Duration> = Distribution::Constant {
                value: Duration::from_millis(10),
            },
        /// From the end of a response to the next request; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// Requests before the connection is closed; unset: as many as fit into the run.
        pub count: Option<u32>,
    }
}
