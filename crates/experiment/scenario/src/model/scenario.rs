//! Scenario: the top-level table.

use std::collections::BTreeMap;

use config::{Source, table, word_or_time};
use units::Duration;

use super::{ExtraLink, Flow, Kernel, Limits, Path, Radio, Tcp};

table! {
    /// Network, the flows on it, and the length of a run.
    pub struct Scenario {
        /// Name in results; default the name of the file.
        pub name: String,
        /// Description in one sentence; default empty.
        pub description: String,
        /// Length of a run; default 60s.
        pub duration: Duration = Duration::from_secs(60),
        /// Time slot of the time series in results; divides the duration; default 100ms.
        pub slot: Duration = Duration::from_millis(100),
        /// Samples of each connection's state: "off", "every-ack", or an interval such as "10ms";
        /// default "off".
        pub samples: Samples = Samples::Off,
        /// Differences between runs.
        pub variation: Variation,
        /// The path between server and phone.
        pub path: Path,
        /// Cellular access link. The path's rtt is then that of the wired part alone, and the path's fields about its
        /// access link stay at their defaults. Unset: the access link that the section path describes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub radio: Option<Radio>,
        /// Further links, which form a tree with the path; default none.
        pub links: Vec<ExtraLink>,
        /// Settings of TCP on all hosts.
        pub tcp: Tcp,
        /// Settings of the Linux kernel, for the kernel engine only.
        pub kernel: Kernel,
        /// Applications; default one that sends as much as it can from the server to the phone.
        pub flows: Vec<Flow> = vec![Flow {
                name: "flow-1".to_owned(),
                ..Flow::default()
            }],
        /// Bounds of the work of a run.
        #[serde(skip_serializing_if = "Limits::is_default")]
        pub limits: Limits,
        /// Texts of the policies and memories to which `auto` of a flow refers, by name. A name that is missing here is
        /// a built-in policy, or a file whose text is added when the scenario is loaded.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub selection: BTreeMap<String, String>,
        /// Document from which it was read.
        #[serde(skip)]
        pub source: Source,
    }
}

/// Samples of connections that are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// None.
    Off,
    /// One per ACK that arrives.
    EveryAck,
    /// One per interval.
    Interval(Duration),
}

word_or_time!(Samples { "off" => Off, "every-ack" => EveryAck } Interval, "a choice of samples", "an interval such as \"10ms\"");

table! {
    /// Differences between runs, in addition to random draws.
    pub struct Variation {
        /// Whether each run begins at another place of the traces (all traces are shifted by the same time); no effect
        /// without traces; default true.
        pub trace_offset: bool = true,
        /// Upper bound of a random delay of the start of flows, drawn uniformly from zero on; default 100ms.
        pub start_jitter: Duration = Duration::from_millis(100),
    }
}
