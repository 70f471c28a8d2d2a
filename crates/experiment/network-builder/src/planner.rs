//! Planner: builds the topology of a run from its scenario.

use std::sync::Arc;

use ::radio::ran::Direction;
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
use crate::plan::{Access, Plan, PlanError, position};
use crate::radio;

impl Plan {
    /// Plans the path of `scenario` in the run with `seed`.
    ///
    /// # Errors
    /// [`PlanError`] has the reason why there is no path.
    pub fn new(scenario: &Scenario, traces: &Traces, seed: u64) -> Result<Self, PlanError> {
        let draw = |purpose, bound| RngStream::new(seed, purpose, 0).duration_below(bound);
        let trace_offset = if scenario.variation.trace_offset {
            traces.offset(scenario.duration, |bound| draw(Purpose::TraceOffset, bound))
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
            hidden_queue: None,
            start_jitter: draw(Purpose::StartJitter, scenario.variation.start_jitter),
            trace_offset,
        };
        if !scenario.path.middleboxes.is_empty() {
            plan.middleboxes = middleboxes(scenario, &plan, seed)?;
        }
        Ok(plan)
    }
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
        let mut node = self.topology.node("server");
        let hops = path.wired.len();
        for (index, (hop, delay)) in path.wired.iter().zip(path.wired_delays()).enumerate() {
            let next = if index + 1 == hops {
                self.topology.node("gateway")
            } else {
                self.topology.node(&format!("node-{}", index + 1))
            };
            self.pair(&hop.name, (node, next), delay, &hop.rate, |link| Parts {
                buffer: hop.buffer,
                mtu: hop.mtu,
                queue: &hop.queue,
                loss: &hop.loss,
                blackouts: &hop.blackouts,
                policer: hop.policer.as_ref().filter(|_| link == Direction::Down),
                jitter: hop.jitter.as_ref(),
                cross: if link == Direction::Down {
                    &hop.cross_traffic
                } else {
                    &[]
                },
            })?;
            node = next;
        }
        if let Some(model) = &self.scenario.radio {
            return self.cell(model, node);
        }
        let phone = self.topology.node("phone");
        let down = self.link(
            "access-down",
            (node, phone),
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
                cross: &path.cross_traffic,
            },
        )?;
        let up = self.link(
            "access-up",
            (phone, node),
            Duration::ZERO,
            &path.up,
            Parts {
                buffer: path.uplink_buffer,
                mtu: path.mtu,
                queue: path.queue_of_uplink(),
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
        let path = &self.scenario.path;
        let mtu = path.mtu.get() as u32;
        let mut access = Vec::with_capacity(plan.nodes.len());
        for (user, (name, cross)) in (0..).zip(&plan.nodes) {
            let ue = self.topology.node(name);
            let mut add = |name: String, from, to, direction| {
                let capacity = LinkCapacity::Radio { user, direction };
                let mut link = LinkConfig::new(&name, from, to, capacity, Duration::ZERO);
                link.mtu = mtu;
                let (buffer, discipline) = match direction {
                    Direction::Down => {
                        link.cross = cross.to_vec();
                        (model.rlc.buffer, &path.queue)
                    }
                    Direction::Up => (model.rlc.uplink_buffer, path.queue_of_uplink()),
                };
                link.queue = QueueConfig {
                    limit: Limit::of(buffer, Rate::ZERO, path.mtu, path.rtt),
                    discipline: discipline.clone(),
                };
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
                    &link.cross_traffic
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
    fn capacity(
        &self,
        capacity: &Capacity,
        is_uplink: bool,
    ) -> Result<(LinkCapacity, Rate), PlanError> {
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
            Capacity::Trace(file) => of_trace(self.traces.get(file, is_uplink), self.trace_offset),
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
