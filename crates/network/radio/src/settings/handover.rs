//! Handover between cells.

use config::{add_kind_words, table, word_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

table! {
    /// Trigger of handovers of a UE, and the time that each step takes.
    pub struct Handover {
        /// Event that triggers it: "a3", "a2-a4", or a table of kind and parameters; default "a3".
        pub trigger: Trigger = Trigger::A3(A3::default()),
        /// Time between the measurements of a UE; default 200ms (TS 36.133 clause 8.1.2.2.1).
        pub measurement_period: Duration = Duration::from_millis(200),
        /// filterCoefficient of layer 3, k; 0 filters nothing; default 4 (TS 36.331 clause 5.5.3.2).
        pub filter_coefficient: u32 = 4,
        /// Time between reports while the condition holds; default 240ms.
        pub report_interval: Duration = Duration::from_millis(240),
        /// One way between two cells over X2 or Xn; default 5ms.
        pub x2_delay: Duration = Duration::from_millis(5),
        /// Admission and preparation at the target; default 10ms.
        pub admission: Duration = Duration::from_millis(10),
        /// From the command leaving the source until the UE leaves it; default 15ms (TS 36.331 clause 11.2).
        pub command: Duration = Duration::from_millis(15),
        /// From leaving the source until random access at the target is done; default 40ms (TS 36.133 clause
        /// 5.1.2.1.2).
        pub interruption: Duration = Duration::from_millis(40),
        /// Time to reach the target, T304; default 1s.
        pub t304: Duration = Duration::from_millis(1_000),
        /// From the completed handover until the gateway sends to the target; default 20ms.
        pub path_switch: Duration = Duration::from_millis(20),
        /// Forwarding of the source's buffer: "lossless": hands over what is not confirmed; "seamless":
        /// what it has not begun to send; "discard"; default "lossless" (TS 36.300 clause 10.1.2.3).
        pub forwarding: Forwarding = Forwarding::Lossless,
    }
}

/// Events of TS 36.331 clause 5.5.4 after which a UE is handed over.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind")]
#[schemars(transform = add_kind_words)]
pub enum Trigger {
    /// Event A3 on RSRP: a neighbour is better than the serving cell by an offset.
    #[serde(rename = "a3")]
    A3(A3),
    /// Events A2 and A4 on RSRQ: the serving cell is poor, and the best neighbour is better than a threshold.
    #[serde(rename = "a2-a4")]
    A2A4(A2A4),
}

word_or_table!(Trigger {} {
    "a3" => A3(A3),
    "a2-a4" => A2A4(A2A4),
});

table! {
    /// The parameters of event A3.
    pub struct A3 {
        /// Margin by which the neighbour must be better, a3-Offset, in steps of 0.5 dB; default 0dB.
        pub offset: Decibel = Decibel::new(0.0),
        /// Hysteresis, in steps of 0.5 dB; default 3dB.
        pub hysteresis: Decibel = Decibel::new(3.0),
        /// Time for which the condition must hold, timeToTrigger: a value of TS 36.331; default 256ms.
        pub time_to_trigger: Duration = Duration::from_millis(256),
    }
}

table! {
    /// The parameters of events A2 and A4, in RSRQ as reported: 0 to 34 for -19.5 dB to -3 dB in steps of 0.5
    /// (TS 36.133 clause 9.1.7).
    pub struct A2A4 {
        /// The serving cell is poor below this RSRQ as reported, 0 to 34; default 30.
        pub serving: u32 = 30,
        /// Neighbours count above this RSRQ as reported; default 0.
        pub neighbour: u32,
        /// Margin by which the neighbour must be better, in steps of 0.5 dB; default 1.
        pub offset: u32 = 1,
        /// Time for which the serving cell must be poor, timeToTrigger: a value of TS 36.331; default 0s.
        pub time_to_trigger: Duration,
    }
}

/// Forwarding of the buffer of a source cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Hands over all that the UE has not confirmed.
    Lossless,
    /// Forwards unsent SDUs.
    Seamless,
    /// Discards the buffer.
    Discard,
}
