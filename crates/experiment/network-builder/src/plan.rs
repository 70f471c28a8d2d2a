//! Plan: the topology of a run, and what its seed changes.

use std::sync::Arc;

use middlebox::AckSemantics;
use net::{HostId, LinkId, Topology};
use tcp::Tcp;
use units::{Duration, Rate};

/// Reason why no path can be built from a scenario.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// A generated trace has impossible parameters.
    #[error("generate: {0}")]
    Generate(String),
    /// A flow begins or ends at an unknown node.
    #[error("flow {flow:?}: there is no node {node:?}; allowed: {allowed}")]
    Node {
        /// The flow.
        flow: String,
        /// The node.
        node: String,
        /// Nodes of the path.
        allowed: String,
    },
    /// The radio of the scenario is impossible.
    #[error("radio: {0}")]
    Radio(String),
    /// The network rejects the topology.
    #[error("{0}")]
    Network(String),
}

impl PlanError {
    /// Wraps an error of the radio.
    pub(crate) fn radio(error: impl core::fmt::Display) -> Self {
        Self::Radio(error.to_string())
    }
}

/// The access link of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The UE.
    pub ue: HostId,
    /// Link towards the UE.
    pub down: LinkId,
    /// Link from the UE.
    pub up: LinkId,
}

/// A middlebox that is to be placed at a node.
#[derive(Clone)]
pub struct Middlebox {
    /// Name of the node.
    pub node: String,
    /// Its semantics of acknowledgements.
    pub ack_semantics: AckSemantics,
    /// Builds the middlebox of a run.
    pub build: Arc<dyn Fn() -> Box<dyn net::Node> + Send + Sync>,
}

impl core::fmt::Debug for Middlebox {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Middlebox").field(&self.node).finish()
    }
}

/// The path of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Nodes and links.
    pub topology: Topology,
    /// Middleboxes at nodes: those of the scenario, and those that a driver of the plan adds.
    pub middleboxes: Vec<Middlebox>,
    /// The access link of each UE, the phone's first: its capacity and queue are what results show.
    pub access: Vec<Access>,
    /// Rate of a queue before the phone's downlink that a driver of the plan has outside the path: the path knows neither
    /// its delay nor its drops.
    pub hidden_queue: Option<Rate>,
    /// Delay of the start of flows against the scenario.
    pub start_jitter: Duration,
    /// Time of the traces at which the run begins.
    pub trace_offset: Duration,
}

impl Plan {
    /// Returns the hosts of a flow: the sender of its data, and their receiver.
    ///
    /// # Errors
    /// If the path has no such node.
    pub fn ends(&self, flow: &scenario::Flow) -> Result<(HostId, HostId), PlanError> {
        let node = |name| self.node(&flow.name, name);
        Ok((node(&flow.from)?, node(&flow.to)?))
    }

    /// Returns the lower bound of the variance term of the RTO at each node: UEs have that of the phones.
    pub fn min_rtos(&self, tcp: &Tcp) -> Vec<Duration> {
        let mut all = vec![tcp.server.min_rto.unwrap_or(tcp.min_rto); self.topology.nodes.len()];
        for access in &self.access {
            all[access.ue.0 as usize] = tcp.phone.min_rto.unwrap_or(tcp.min_rto);
        }
        all
    }

    /// Returns the semantics of acknowledgements that hold for all middleboxes.
    pub fn ack_semantics(&self) -> AckSemantics {
        let all_semantics = self.middleboxes.iter().map(|each| each.ack_semantics);
        all_semantics.min().unwrap_or(AckSemantics::EndToEnd)
    }

    /// Returns the node called `name`, at which the flow `flow` begins or ends.
    ///
    /// # Errors
    /// If the path has no such node.
    pub fn node(&self, flow: &str, name: &str) -> Result<HostId, PlanError> {
        position(&self.topology, name).ok_or_else(|| PlanError::Node {
            flow: flow.to_owned(),
            node: name.to_owned(),
            allowed: self.topology.nodes.join(", "),
        })
    }
}

/// Returns the node of this name.
pub(crate) fn position(topology: &Topology, name: &str) -> Option<HostId> {
    topology
        .nodes
        .iter()
        .position(|node| node == name)
        .map(|index| HostId(index as u32))
}
