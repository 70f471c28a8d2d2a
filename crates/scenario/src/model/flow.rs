//! Who sends to whom, how, and what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::{CcaChoice, Switch, Workload};
use config::Text;

/// One application and its connections.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flow {
    /// Name in results; default "flow-1", "flow-2" and so on.
    pub name: String,
    /// Node that sends; default "server".
    pub from: String,
    /// Node that receives; default "phone".
    pub to: String,
    /// Congestion control: a name, or a table of its name and parameters; default "cubic".
    pub cca: CcaChoice,
    /// Changes of the congestion control while it runs, in the order of time; default none.
    pub switch: Vec<Switch>,
    /// When it starts, before the start jitter; default 0s.
    #[serde(with = "Text::<Duration>")]
    pub start: Duration,
    /// Connections that do the same in parallel; default 1.
    pub count: u32,
    /// What the application does; default "bulk" to the end of the run.
    pub workload: Workload,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            name: String::new(),
            from: "server".to_owned(),
            to: "phone".to_owned(),
            cca: CcaChoice::default(),
            switch: Vec::new(),
            start: Duration::ZERO,
            count: 1,
            workload: Workload::default(),
        }
    }
}
