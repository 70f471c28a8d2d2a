//! Between the engine and the path.

use record::{Decisions, Estimates, Events, Flows, Runs, Samples, Slots, Ttis};
use serde::{Deserialize, Serialize};

/// What is to be run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The scenario, complete, as TOML.
    pub scenario: String,
    /// Folder that traces are relative to.
    pub directory: String,
    /// The seed of the run.
    pub seed: u64,
    /// The process that wants the results: without it the run is of no use.
    pub engine: u32,
    /// The processor that the kernel and its programs share: they wait for each other all the time, which
    /// costs far less on one than across two. `None` to leave it to the host.
    pub cpu: Option<u32>,
    /// Whether to verify the run by the invariant checker.
    pub check: bool,
    /// File for a capture at the server.
    pub pcap: Option<String>,
}

/// What the path tells while and after running.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The run has come to this time, ns.
    Reached(u64),
    /// Samples since the last ones.
    Samples(Box<Samples>),
    /// The run is over.
    Done(Box<Outcome>),
    /// The run has failed.
    Failed(String),
}

/// The tables of a run, but for samples.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// One row.
    pub runs: Runs,
    /// A row per connection.
    pub flows: Flows,
    /// A row per connection and slot.
    pub slots: Slots,
    /// Events.
    pub events: Events,
    /// A row per TTI and UE, where the scenario wants it.
    pub radio: Ttis,
    /// A row per choice of a selector.
    pub decisions: Decisions,
    /// A row per slot and connection that has a selector.
    pub estimates: Estimates,
}
