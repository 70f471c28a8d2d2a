//! Flow: an application and its connections.

use config::table;
use units::{Duration, Rate};
use workload::{OpenedBy, Workload};

use selection::CcaChoice;

use super::Switch;

table! {
    /// One application and its connections.
    pub struct Flow {
        /// Name in results; default "flow-1", "flow-2" and so on.
        pub name: String,
        /// Node that sends; default "server". One of from and to may be the nodes of a UE with a count, as "machine-*": then
        /// there is such a flow for each of them.
        pub from: String = "server".to_owned(),
        /// Node that receives; default "phone", and "server" for flows from the phone.
        pub to: String,
        /// Congestion control: a name, or a table of its name and parameters; default "cubic".
        pub cca: CcaChoice,
        /// Changes of the CCA while the flow runs, in the order of time; default none.
        pub switch: Vec<Switch>,
        /// Time of the start, to which variation.start_jitter adds a random delay; default 0s.
        pub start: Duration,
        /// Interval from start on within which each session starts at a time of its own, drawn uniformly for each run, as
        /// independent users do; unset: all start at once.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub start_spread: Option<Duration>,
        /// Number of sessions that do the same in parallel; default 1.
        pub count: u32 = 1,
        /// Node that opens the connections: "to", as for a download, or "from", as for an upload; default "to".
        pub opens: OpenedBy,
        /// Whether its sockets send short segments at once (`TCP_NODELAY`); unset: as in tcp.nodelay.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub nodelay: Option<bool>,
        /// Cap of the pacing rate of its sockets (`SO_MAX_PACING_RATE`), which turns pacing on for each CCA; unset: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_pacing_rate: Option<Rate>,
        /// Application; default "bulk" to the end of the run.
        pub workload: Workload,
    }
}

impl Flow {
    /// Returns whether its sockets set `TCP_NODELAY`: by the field of the flow, else by `tcp_nodelay` (the scenario's
    /// tcp.nodelay), else by the application.
    pub fn sends_at_once(&self, tcp_nodelay: Option<bool>) -> bool {
        let set = self.nodelay.or(tcp_nodelay);
        set.unwrap_or_else(|| self.workload.sets_nodelay())
    }
}
