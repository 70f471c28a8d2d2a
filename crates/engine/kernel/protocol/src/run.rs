//! Messages between the engine and the path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use results::{Samples, Tables};
use serde::{Deserialize, Serialize};

/// Order for a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The scenario, complete, as TOML.
    pub scenario: String,
    /// Folder that traces are relative to.
    pub directory: String,
    /// The texts of the files that the scenario names.
    pub files: BTreeMap<PathBuf, String>,
    /// The seed of the run.
    pub seed: u64,
    /// The process that wants the results. The run ends with it.
    pub engine: u32,
    /// The processor that the kernel and its programs share; `None` to leave it to the host. They wait for each other
    /// all the time, which costs far less on one processor than across two.
    pub cpu: Option<u32>,
    /// Memory of the kernel, bytes.
    pub memory: u64,
    /// Whether to verify the run by the invariant checker.
    pub check: bool,
    /// File for a capture.
    pub pcap: Option<String>,
    /// Node of the capture; unset: the server's host.
    pub pcap_at: Option<String>,
}

/// Report of the path to the engine, during and after the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The run has reached this time, ns.
    Reached(u64),
    /// Samples since the last report of samples.
    Samples(Box<Samples>),
    /// The run is over: its tables, with the samples since the last report of samples.
    Done(Box<Tables>),
    /// The guest or the path rejects the scenario.
    Failed(String),
    /// The path has panicked; the console has the location.
    Panicked,
    /// The guest has shut down before the end of the run.
    Ended,
}
