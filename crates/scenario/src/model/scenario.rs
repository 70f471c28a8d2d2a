//! The whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::{ExtraLink, Flow, Kernel, Path, Radio, Tcp};
use config::{Quantity, Text};

/// A network, the flows on it, and how long and how often it is looked at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Name in results; default the name of the file.
    pub name: String,
    /// What it stands for, in a sentence; default empty.
    pub description: String,
    /// Length of a run; default 60s.
    #[serde(with = "Text::<Duration>")]
    pub duration: Duration,
    /// Time slot of the series that results hold; divides the duration; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub slot: Duration,
    /// Samples of each connection's state: "off", "every-ack", or an interval such as "10ms";
    /// default "off".
    #[serde(with = "Text::<Samples>")]
    pub samples: Samples,
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
    pub flows: Vec<Flow>,
    /// Texts of the policies and memories that the flows' `auto` name, by those names; what is not here is a
    /// built-in policy or a file, whose text comes here when the scenario is loaded.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub selection: BTreeMap<String, String>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            duration: Duration::from_secs(60),
            slot: Duration::from_millis(100),
            samples: Samples::Off,
            variation: Variation::default(),
            path: Path::default(),
            radio: None,
            links: Vec::new(),
            tcp: Tcp::default(),
            kernel: Kernel::default(),
            flows: vec![Flow {
                name: "flow-1".to_owned(),
                ..Flow::default()
            }],
            selection: BTreeMap::new(),
        }
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

impl Quantity for Samples {
    const NAME: &'static str = "Samples";
    const PATTERN: &'static str = r"^(off|every-ack|\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*)$";

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "every-ack" => Ok(Self::EveryAck),
            interval => interval.parse().map(Self::Interval).map_err(|_| {
                format!("{text:?} is not a choice of samples; allowed: \"off\", \"every-ack\", an interval such as \"10ms\"")
            }),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::EveryAck => "every-ack".to_owned(),
            Self::Interval(interval) => interval.to_string(),
        }
    }
}

/// What differs from run to run, beside what is random by itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Variation {
    /// Whether each run begins at another place of the traces (all traces are shifted by the same time);
    /// of no effect without traces; default true.
    pub trace_offset: bool,
    /// Flows start later by a time drawn evenly from zero to this; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub start_jitter: Duration,
}

impl Default for Variation {
    fn default() -> Self {
        Self {
            trace_offset: true,
            start_jitter: Duration::from_millis(100),
        }
    }
}
