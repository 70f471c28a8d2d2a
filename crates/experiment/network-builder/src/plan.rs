//! Plan: the topology of a run, and what its seed changes.

use std::sync::Arc;

use ::radio::ran::Direction;
use middlebox::AckSemantics;
use net::{
    Blackout, HostId, Jitter, Limit, LinkCapacity, LinkConfig, LinkId, Loss, Policer, Queue,
    QueueConfig, Topology,
};
use scenario::radio::Radio;
use scenario::{Buffer, Capacity, Cross, ExtraLink, Scenario};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Rate};

use crate::Traces;
use crate::middleboxes::middleboxes;
use crate::radio;

/// Reason why no path can be built from a scenario.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// A generated trace has impossible parameters.
    #[error("generate: {0}")]
    Generate(String),
    /// A flow ends at a node that is not there.
    #[error("flow {flow:?}: there is no node {node:?}; allowed: {allowed}")]
    Node {
        /// The flow.
        flow: String,
        /// The node.
        node: String,
        /// Nodes that are there.
        allowed: String,
    },
    /// The radio cannot be as the scenario wants it.
    #[error("radio: {0}")]
    Radio(String),
    /// The network refuses the topology.
    #[error("{0}")]
    Network(String),
}

impl PlanError {
    /// Makes an error of a message of the radio.
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
    /// Semantics of acknowledgements that it keeps.
    pub promise: AckSemantics,
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
    /// Delay of the start of flows against the scenario.
    pub start_jitter: Duration,
    /// Time of the traces at which the run begins.
    pub trace_offset: Duration,
}

impl Plan {
    /// Plans the path of `scenario` in the run with `seed`.
    ///
    /// # Errors
    /// [`PlanError`] says what makes no path.
    pub fn new(scenario: &Scenario, traces: &Traces, seed: u64) -> Result<Self, PlanError> {
        let draw = |purpose, bound| RngStream::new(seed, purpose, 0).duration_below(bound);
        let trace_offset = if scenario.variation.trace_offset {
            draw(Purpose::TraceOffset, traces.longest_period())
        } else {
            Duration::ZERO
        };
        let mut builder = Builder {
            scenario,
            traces,
            seed,
            trace_offset,
            topology: Topology::default(),
        };
        let access = builder.path()?;
        for link in &scenario.links {
            builder.extra(link)?;
        }
        let mut plan = Self {
            topology: builder.topology,
            middleboxes: Vec::new(),
            access,
            start_jitter: draw(Purpose::StartJitter, scenario.variation.start_jitter),
            trace_offset,
        };
        if !scenario.path.middleboxes.is_empty() {
            plan.middleboxes = middleboxes(scenario, &plan, seed)?;
        }
        Ok(plan)
    }

    /// Returns the hosts of a flow: the sender of its data, and their receiver.
    ///
    /// # Errors
    /// If the path has no such node.
    pub fn ends(&self, flow: &scenario::Flow) -> Result<(HostId, HostId), PlanError> {
        let node = |name| self.node(&flow.name, name);
        Ok((node(&flow.from)?, node(&flow.to)?))
    }

    /// Returns the semantics of acknowledgements that all middleboxes keep.
    pub fn promise(&self) -> AckSemantics {
        let promises = self.middleboxes.iter().map(|each| each.promise);
        promises.min().unwrap_or(AckSemantics::EndToEnd)
    }

    /// Returns the node called `name`, at which the flow `flow` begins or ends.
    ///
    /// # Errors
    /// If there is none.
    pub fn node(&self, flow: &str, name: &str) -> Result<HostId, PlanError> {
        position(&self.topology, name).ok_or_else(|| PlanError::Node {
            flow: flow.to_owned(),
            node: name.to_owned(),
            allowed: self.topology.nodes.join(", "),
        })
    }
}

fn position(topology: &Topology, name: &str) -> Option<HostId> {
    topology
        .nodes
        .iter()
        .position(|node| node == name)
        .map(|index| HostId(index as u32))
}

/// Conversion of the parts of a link from the scenario's types to those of the network.
struct Parts<'a> {
    buffer: Buffer,
    mtu: Bytes,
    queue: &'a Queue,
    loss: &'a Loss,
    blackouts: &'a [Blackout],
    policer: Option<&'a Policer>,
    jitter: Option<&'a Jitter>,
    cross: &'a [Cross],
}

struct Builder<'a> {
    scenario: &'a Scenario,
    traces: &'a Traces,
    seed: u64,
    trace_offset: Duration,
    topology: Topology,
}

impl Builder<'_> {
    /// Server, wired hops, gateway, access link, phone; or, where there is a radio, all its UEs.
    fn path(&mut self) -> Result<Vec<Access>, PlanError> {
        let path = &self.scenario.path;
        let mut here = self.topology.node("server");
        let hops = path.wired.len();
        for (index, (hop, delay)) in path.wired.iter().zip(path.wired_delays()).enumerate() {
            let next = if index + 1 == hops {
                self.topology.node("gateway")
            } else {
                self.topology.node(&format!("node-{}", index + 1))
            };
            self.pair(&hop.name, (here, next), delay, &hop.rate, |link| Parts {
                buffer: hop.buffer,
                mtu: hop.mtu,
                queue: &hop.queue,
                loss: &hop.loss,
                blackouts: &hop.blackouts,
                policer: hop.policer.as_ref().filter(|_| link == Direction::Down),
                jitter: hop.jitter.as_ref(),
                cross: if link == Direction::Down {
                    &hop.cross
                } else {
                    &[]
                },
            })?;
            here = next;
        }
        if let Some(model) = &self.scenario.radio {
            return self.cell(model, here);
        }
        let phone = self.topology.node("phone");
        let down = self.link(
            "access-down",
            (here, phone),
            Duration::ZERO,
            &path.down,
            Parts {
                buffer: path.buffer,
                mtu: path.mtu,
                queue: &path.queue,
                loss: &path.loss,
                blackouts: &path.blackouts,
                policer: path.policer.as_ref(),
                jitter: path.jitter.as_ref(),
                cross: &path.cross,
            },
        )?;
        let up = self.link(
            "access-up",
            (phone, here),
            Duration::ZERO,
            &path.up,
            Parts {
                buffer: path.uplink_buffer,
                mtu: path.mtu,
                queue: &path.queue,
                loss: &path.uplink_loss,
                blackouts: &path.blackouts,
                policer: None,
                jitter: None,
                cross: &[],
            },
        )?;
        Ok(vec![Access {
            ue: phone,
            down,
            up,
        }])
    }

    /// The radio access network behind the gateway, with a pair of links for each UE.
    fn cell(&mut self, model: &Radio, gateway: HostId) -> Result<Vec<Access>, PlanError> {
        let plan = radio::plan(self.scenario, model, self.traces.radio(), self.seed)?;
        let mtu = self.scenario.path.mtu.get() as u32;
        let mut access = Vec::with_capacity(plan.nodes.len());
        for (user, (name, cross)) in (0..).zip(&plan.nodes) {
            let ue = self.topology.node(name);
            let mut add = |name: String, from, to, direction| {
                let capacity = LinkCapacity::Radio { user, direction };
                let mut link = LinkConfig::new(&name, from, to, capacity, Duration::ZERO);
                link.mtu = mtu;
                if direction == Direction::Down {
                    link.cross = cross.to_vec();
                }
                self.topology.links.push(link);
                LinkId(self.topology.links.len() as u32 - 1)
            };
            let prefix = if name == "phone" {
                "access"
            } else {
                name.as_str()
            };
            let down = add(format!("{prefix}-down"), gateway, ue, Direction::Down);
            let up = add(format!("{prefix}-up"), ue, gateway, Direction::Up);
            access.push(Access { ue, down, up });
        }
        self.topology.radio = Some(plan.config);
        Ok(access)
    }

    fn extra(&mut self, link: &ExtraLink) -> Result<(), PlanError> {
        let ends = [&link.from, &link.to]
            .map(|name| position(&self.topology, name).unwrap_or_else(|| self.topology.node(name)));
        let towards = (ends[0], ends[1]);
        self.pair(&link.name, towards, link.delay, &link.rate, |direction| {
            Parts {
                buffer: link.buffer,
                mtu: link.mtu,
                queue: &link.queue,
                loss: &link.loss,
                blackouts: &link.blackouts,
                policer: link
                    .policer
                    .as_ref()
                    .filter(|_| direction == Direction::Down),
                jitter: link.jitter.as_ref(),
                cross: if direction == Direction::Down {
                    &link.cross
                } else {
                    &[]
                },
            }
        })
    }

    /// Adds a link in each direction.
    fn pair<'p>(
        &mut self,
        name: &str,
        (from, to): (HostId, HostId),
        delay: Duration,
        rate: &Capacity,
        parts: impl Fn(Direction) -> Parts<'p>,
    ) -> Result<(), PlanError> {
        let down = parts(Direction::Down);
        self.link(&format!("{name}-down"), (from, to), delay, rate, down)?;
        let up = parts(Direction::Up);
        self.link(&format!("{name}-up"), (to, from), delay, rate, up)?;
        Ok(())
    }

    /// Adds a link. The access link of the phone is the only one whose trace is that of the uplink.
    fn link(
        &mut self,
        name: &str,
        (from, to): (HostId, HostId),
        delay: Duration,
        rate: &Capacity,
        parts: Parts<'_>,
    ) -> Result<LinkId, PlanError> {
        let (capacity, mean) = self.capacity(rate, name == "access-up")?;
        self.topology.links.push(LinkConfig {
            jitter: parts.jitter.cloned(),
            loss: parts.loss.clone(),
            blackouts: parts.blackouts.to_vec(),
            policer: parts.policer.cloned(),
            mtu: parts.mtu.get() as u32,
            queue: QueueConfig {
                limit: Limit::of(parts.buffer, mean, parts.mtu, self.scenario.path.rtt),
                discipline: parts.queue.clone(),
            },
            cross: parts.cross.to_vec(),
            ..LinkConfig::new(name, from, to, capacity, delay)
        });
        Ok(LinkId(self.topology.links.len() as u32 - 1))
    }

    /// Returns the capacity in this run, and its mean rate.
    fn capacity(&self, capacity: &Capacity, up: bool) -> Result<(LinkCapacity, Rate), PlanError> {
        let of_trace = |trace: Arc<link_trace::Trace>, offset| {
            let mean = trace.mean_rate();
            (LinkCapacity::Trace { trace, offset }, mean)
        };
        Ok(match capacity {
            Capacity::Constant { rate } => (LinkCapacity::Constant(*rate), *rate),
            Capacity::Steps { steps } => {
                let mean = capacity
                    .mean_rate(self.scenario.duration)
                    .unwrap_or(Rate::ZERO);
                let steps: Vec<_> = steps.iter().map(|step| (step.at, step.rate)).collect();
                let capacity = LinkCapacity::steps(&steps);
                (
                    capacity.map_err(|error| PlanError::Network(error.to_string()))?,
                    mean,
                )
            }
            Capacity::Trace(file) => of_trace(self.traces.get(file, up), self.trace_offset),
            Capacity::Generated { generate } => {
                let entity = self.topology.links.len() as u32;
                let trace = generate
                    .generate(self.seed, entity)
                    .map_err(|error| PlanError::Generate(error.to_string()))?;
                let (capacity, _) = of_trace(Arc::new(trace), Duration::ZERO);
                // The buffer is that of the cell, not of one realisation of its fading.
                (capacity, generate.mean)
            }
        })
    }
}
