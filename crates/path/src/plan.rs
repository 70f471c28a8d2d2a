//! The topology of a run and what its seed changes.

use std::path::PathBuf;
use std::sync::Arc;

use ::radio::ran::Direction;
use net::{HostId, LinkConfig, LinkId, Topology};
use scenario::radio::Radio;
use scenario::{Capacity, ExtraLink, Scenario};
use trace::Generator;
use units::random::{Purpose, Stream};
use units::{Duration, Instant, Rate};

use crate::Traces;
use crate::link::{LinkParts, cross_of};
use crate::radio;

/// Why a scenario makes no path.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// A trace cannot be read.
    #[error("{}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: String,
    },
    /// A trace is malformed.
    #[error("{0}")]
    Trace(String),
    /// A generated trace has impossible parameters.
    #[error("generate: {0}")]
    Generate(String),
    /// Cross-traffic with a distribution that it does not know.
    #[error(
        "cross-traffic of link {link:?}: on and off allow constant, uniform, exponential, lognormal, \
         weibull and pareto times"
    )]
    CrossTimes {
        /// The link.
        link: String,
    },
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
    /// What the radio says.
    pub(crate) fn radio(error: impl core::fmt::Display) -> Self {
        Self::Radio(error.to_string())
    }
}

/// The access link of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The UE.
    pub ue: HostId,
    /// Towards it.
    pub down: LinkId,
    /// From it.
    pub up: LinkId,
}

/// The path of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Nodes and links.
    pub topology: Topology,
    /// The access link of each UE, the phone's first: its capacity and queue are what results show.
    pub access: Vec<Access>,
    /// How much later than the scenario says the flows start.
    pub start_jitter: Duration,
    /// Where in the traces the run begins.
    pub trace_offset: Duration,
}

impl Plan {
    /// The path of `scenario` in the run with `seed`.
    ///
    /// # Errors
    /// [`PlanError`] says what makes no path.
    pub fn new(scenario: &Scenario, traces: &Traces, seed: u64) -> Result<Self, PlanError> {
        let draw = |purpose, bound| Stream::new(seed, purpose, 0).duration_below(bound);
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
        Ok(Self {
            topology: builder.topology,
            access,
            start_jitter: draw(Purpose::StartJitter, scenario.variation.start_jitter),
            trace_offset,
        })
    }

    /// The hosts of a flow: where its data come from, and where they go.
    ///
    /// # Errors
    /// If the path has no such node.
    pub fn ends(&self, flow: &scenario::Flow) -> Result<(HostId, HostId), PlanError> {
        let node = |name| self.node(&flow.name, name);
        Ok((node(&flow.from)?, node(&flow.to)?))
    }

    /// The node called `name`, at which the flow `flow` begins or ends.
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
            for (suffix, ends, cross) in [
                ("down", (here, next), hop.cross.as_slice()),
                ("up", (next, here), &[]),
            ] {
                let (capacity, mean) = self.capacity(&hop.rate, false)?;
                self.add(LinkParts {
                    name: format!("{}-{suffix}", hop.name),
                    ends,
                    capacity,
                    mean,
                    rtt: path.rtt,
                    delay,
                    jitter: hop.jitter.as_ref(),
                    loss: &hop.loss,
                    mtu: hop.mtu.get() as u32,
                    buffer: hop.buffer,
                    queue: &hop.queue,
                    cross,
                })?;
            }
            here = next;
        }
        if let Some(model) = &self.scenario.radio {
            return self.cell(model, here);
        }
        let phone = self.topology.node("phone");
        let (capacity, mean) = self.capacity(&path.down, false)?;
        let down = self.add(LinkParts {
            name: "access-down".to_owned(),
            ends: (here, phone),
            capacity,
            mean,
            rtt: path.rtt,
            delay: Duration::ZERO,
            jitter: path.jitter.as_ref(),
            loss: &path.loss,
            mtu: path.mtu.get() as u32,
            buffer: path.buffer,
            queue: &path.queue,
            cross: &path.cross,
        })?;
        let (capacity, mean) = self.capacity(&path.up, true)?;
        let up = self.add(LinkParts {
            name: "access-up".to_owned(),
            ends: (phone, here),
            capacity,
            mean,
            rtt: path.rtt,
            delay: Duration::ZERO,
            jitter: None,
            loss: &path.uplink_loss,
            mtu: path.mtu.get() as u32,
            buffer: path.uplink_buffer,
            queue: &path.queue,
            cross: &[],
        })?;
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
                let capacity = net::Capacity::Radio { user, direction };
                let mut link = LinkConfig::new(&name, from, to, capacity, Duration::ZERO);
                link.mtu = mtu;
                if direction == Direction::Down {
                    let cross = cross.iter().map(|cross| cross_of(cross, mtu, &name));
                    link.cross = cross.collect::<Result<_, _>>()?;
                }
                self.topology.links.push(link);
                Ok::<_, PlanError>(LinkId(self.topology.links.len() as u32 - 1))
            };
            let prefix = if name == "phone" {
                "access"
            } else {
                name.as_str()
            };
            let down = add(format!("{prefix}-down"), gateway, ue, Direction::Down)?;
            let up = add(format!("{prefix}-up"), ue, gateway, Direction::Up)?;
            access.push(Access { ue, down, up });
        }
        self.topology.radio = Some(plan.config);
        Ok(access)
    }

    fn extra(&mut self, link: &ExtraLink) -> Result<(), PlanError> {
        let ends = [&link.from, &link.to]
            .map(|name| position(&self.topology, name).unwrap_or_else(|| self.topology.node(name)));
        let towards = (ends[0], ends[1]);
        for (suffix, ends, cross) in [
            ("down", towards, link.cross.as_slice()),
            ("up", (towards.1, towards.0), &[]),
        ] {
            let (capacity, mean) = self.capacity(&link.rate, false)?;
            self.add(LinkParts {
                name: format!("{}-{suffix}", link.name),
                ends,
                capacity,
                mean,
                rtt: self.scenario.path.rtt,
                delay: link.delay,
                jitter: link.jitter.as_ref(),
                loss: &link.loss,
                mtu: link.mtu.get() as u32,
                buffer: link.buffer,
                queue: &link.queue,
                cross,
            })?;
        }
        Ok(())
    }

    fn add(&mut self, parts: LinkParts<'_>) -> Result<LinkId, PlanError> {
        let link: LinkConfig = parts.build()?;
        self.topology.links.push(link);
        Ok(LinkId(self.topology.links.len() as u32 - 1))
    }

    /// The capacity in this run, and its mean rate.
    fn capacity(&self, capacity: &Capacity, up: bool) -> Result<(net::Capacity, Rate), PlanError> {
        let of_trace = |trace: Arc<trace::Trace>, offset| {
            let mean = trace.mean_rate();
            (net::Capacity::Trace { trace, offset }, mean)
        };
        Ok(match capacity {
            Capacity::Constant { rate } => (net::Capacity::Constant(*rate), *rate),
            Capacity::Steps { steps } => {
                let mean = capacity
                    .mean_rate(self.scenario.duration)
                    .unwrap_or(Rate::ZERO);
                let steps = steps
                    .iter()
                    .map(|step| (Instant::ZERO + step.at, step.rate))
                    .collect();
                (net::Capacity::Steps(steps), mean)
            }
            Capacity::Trace(file) => of_trace(self.traces.get(file, up), self.trace_offset),
            Capacity::Generated { generate } => {
                let generator = Generator {
                    mean: generate.mean,
                    variability: generate.variability,
                    correlation: generate.correlation,
                    outage_interval: if generate.outage_interval.is_zero() {
                        Duration::MAX
                    } else {
                        generate.outage_interval
                    },
                    outage: generate.outage_duration,
                    duration: generate.period,
                };
                let entity = self.topology.links.len() as u32;
                let trace = generator
                    .generate(self.seed, entity)
                    .map_err(|error| PlanError::Generate(error.to_string()))?;
                let (capacity, _) = of_trace(Arc::new(trace), Duration::ZERO);
                // The buffer is that of the cell, not of one realisation of its fading.
                (capacity, generate.mean)
            }
        })
    }
}
