//! The whole.

use std::collections::BTreeMap;

use config::{Source, table, word_or_time};
use units::Duration;

use super::{ExtraLink, Flow, Kernel, Path, Radio, Tcp};

table! {
    /// A network, the flows on it, and how long and how often it is looked at.
    pub struct Scenario {
        /// Name in results; default the name of the file.
        pub name: String,
        /// What it stands for, in a sentence; default empty.
        pub description: String,
        /// Length of a run; default 60s.
        pub duration: Duration = Duration::from_secs(60),
        /// Time slot of the series that results hold; divides the duration; default 100ms.
        pub slot: Duration = Duration::from_millis(100),
        /// Samples of each connection's state: "off", "every-ack", or an interval such as "10ms";
        /// default "off".
        pub samples: Samples = Samples::Off,
        /// What differs from run to run.
        pub variation: Variation,
        /// The path between server and phone.
        pub path: Path,
        /// A cellular access link. The path's rtt is then that of the wired part, and what path says of its own
        /// access link stays at the defaults. Unset: the link that path describes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub radio: Option<Radio>,
        /// Links beside the path, which make a tree with it; default none.
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
        /// Texts of the policies and memories that the flows' `auto` name, by those names; what is not here is a
        /// built-in policy or a file, whose text comes here when the scenario is loaded.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub selection: BTreeMap<String, String>,
        /// The document that it was read from.
        #[serde(skip)]
        pub source: Source,
    }
}

/// Which samples of connections are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// None.
    Off,
    /// One per ACK that arrives.
    EveryAck,
    /// One per this time.
    Interval(Duration),
}

word_or_time!(Samples { "off" => Off, "every-ack" => EveryAck } Interval, "a choice of samples", "an interval such as \"10ms\"");

table! {
    /// What differs from run to run, beside what is random by itself.
    pub struct Variation {
        /// Whether each run begins at another place of the traces (all traces are shifted by the same time);
        /// of no effect without traces; default true.
        pub trace_offset: bool = true,
        /// Flows start later by a time drawn evenly from zero to this; default 100ms.
        pub start_jitter: Duration = Duration::from_millis(100),
    }
}
