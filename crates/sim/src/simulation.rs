//! One run: the loop from one event to the next.

use std::io::Write;

use net::{Checker, Delivery, FlowPorts, HostId, Network, PcapTap};
use path::{Plan, PlanError, Traces};
use record::{RunRow, Runs, Samples};
use scenario::{Flow, Scenario};
use tcp::cca::UnknownCca;
use tcp::{Config, Connection, State};
use units::{Duration, Instant};
use workload::{Application, Command};

use crate::endpoints::{Endpoints, Pair, Side};
use crate::recorder::{Introduction, Recorder};
use crate::settings;

/// Bytes of each packet that a capture keeps: headers with all options.
const SNAPLEN: u32 = 128;
/// Port of the side that sends: that of iperf3, which no dissector claims.
const SERVICE_PORT: u16 = 5201;
/// First port of the side that opens connections.
const FIRST_PORT: u16 = 49_152;

/// A place for a capture.
pub type Capture = Box<dyn Write + Send>;

/// What a run does beside running.
#[derive(Default)]
pub struct Options {
    /// Verify the run by the invariant checker.
    pub check: bool,
    /// Write a capture of what the server's host sends and receives.
    pub pcap: Option<Capture>,
}

/// Why a run cannot be made, or went wrong.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The scenario makes no path.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A congestion control is unknown.
    #[error(transparent)]
    Cca(#[from] UnknownCca),
    /// A congestion control has no parameter of that name.
    #[error("flow {flow:?}: {cca} has no parameter {parameter:?} in the native engine")]
    Parameter {
        /// The flow.
        flow: String,
        /// The congestion control.
        cca: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// The capture cannot be written.
    #[error("capture: {0}")]
    Capture(#[from] std::io::Error),
    /// The checker found the path at fault.
    #[error("the run breaks an invariant: {0}")]
    Invariant(String),
}

/// One flow of the scenario at work.
struct Running {
    flow: Flow,
    application: Application,
    hosts: (HostId, HostId),
    connection: Option<u32>,
    /// Bytes still to be written; `None` for as many as it takes.
    budget: Option<u64>,
    /// Bytes written so far on this connection.
    written: u64,
    closing: bool,
}

type Watch = (Recorder, (Option<PcapTap<Capture>>, Option<Checker>));

/// A run of a scenario.
pub struct Simulation {
    now: Instant,
    end: Instant,
    slot: Duration,
    next_slot: Instant,
    sampling: scenario::Samples,
    next_sample: Instant,
    config: Config,
    seed: u64,
    network: Network,
    watch: Watch,
    endpoints: Endpoints,
    flows: Vec<Running>,
    /// The flow of each connection, and what its receiver had got.
    owners: Vec<(usize, u64)>,
    deliveries: Vec<Delivery>,
    run: RunRow,
}

/// The tables of a run, but for samples taken before.
pub struct Tables {
    /// One row.
    pub runs: Runs,
    /// A row per connection.
    pub flows: record::Flows,
    /// A row per connection and slot.
    pub slots: record::Slots,
    /// Samples not taken yet.
    pub samples: Samples,
    /// Events.
    pub events: record::Events,
}

impl Simulation {
    /// The run of `scenario` with `seed`.
    ///
    /// # Errors
    /// [`SimError`] says what of the scenario cannot be run.
    pub fn new(
        scenario: &Scenario,
        traces: &Traces,
        seed: u64,
        options: Options,
    ) -> Result<Self, SimError> {
        let plan = Plan::new(scenario, traces, seed)?;
        let refused = |error: net::TopologyError| PlanError::Network(error.to_string());
        let network = Network::new(&plan.topology, seed).map_err(refused)?;
        let tapped = plan.node("capture", "server")?;
        let tap = options
            .pcap
            .map(|out| PcapTap::new(tapped, Vec::new(), SNAPLEN, out))
            .transpose()?;
        let checker = options
            .check
            .then(|| Checker::new(&plan.topology))
            .transpose()
            .map_err(refused)?;
        let recorder = Recorder::new(scenario.slot, plan.bottleneck, plan.uplink);
        let mut flows = Vec::new();
        for flow in &scenario.flows {
            let hosts = (
                plan.node(&flow.name, &flow.from)?,
                plan.node(&flow.name, &flow.to)?,
            );
            tcp::cca::cca_by_name(flow.cca.name)?;
            if let Some(parameter) = flow.cca.parameters.keys().next() {
                return Err(SimError::Parameter {
                    flow: flow.name.clone(),
                    cca: flow.cca.name,
                    parameter: parameter.clone(),
                });
            }
            for _ in 0..flow.count {
                let start = Instant::ZERO + flow.start + plan.start_jitter;
                let entity = flows.len() as u32;
                flows.push(Running {
                    application: Application::new(&flow.workload, start, seed, entity),
                    flow: flow.clone(),
                    hosts,
                    connection: None,
                    budget: Some(0),
                    written: 0,
                    closing: false,
                });
            }
        }
        let mut simulation = Self {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            slot: scenario.slot,
            next_slot: Instant::ZERO + scenario.slot,
            sampling: scenario.samples,
            next_sample: match scenario.samples {
                scenario::Samples::Interval(interval) => Instant::ZERO + interval,
                _ => Instant::NEVER,
            },
            config: settings::config(scenario),
            seed,
            network,
            watch: (recorder, (tap, checker)),
            endpoints: Endpoints::new(),
            flows,
            owners: Vec::new(),
            deliveries: Vec::new(),
            run: RunRow {
                seed,
                scenario: scenario.name.clone(),
                scenario_hash: scenario.hash(),
                engine: "native".to_owned(),
                kernel_version: String::new(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                policy: String::new(),
                duration_s: scenario.duration.as_secs_f64(),
                trace_offset_s: plan.trace_offset.as_secs_f64(),
                start_jitter_s: plan.start_jitter.as_secs_f64(),
            },
        };
        simulation
            .watch
            .0
            .begin_slot(Instant::ZERO, &simulation.network);
        Ok(simulation)
    }

    /// Whether the run has come to its end.
    pub fn is_finished(&self) -> bool {
        self.now >= self.end
    }

    /// The present time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs until `until` or the end, whichever is first.
    pub fn advance(&mut self, until: Instant) {
        let until = until.min(self.end);
        loop {
            let on_path = self.network.next_event();
            let (timer, connection, side) = self.endpoints.next_timer();
            let (wakes, flow) = self.next_application();
            let housekeeping = self.next_slot.min(self.next_sample);
            let next = on_path.min(timer).min(wakes).min(housekeeping);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if on_path == next {
                self.run_path();
            } else if timer == next {
                self.endpoints.end(connection, side).on_deadline(next);
                self.after(connection, side, false);
            } else if wakes == next {
                self.wake(flow);
            } else {
                self.housekeep();
            }
        }
    }

    /// The samples since the last call.
    pub fn take_samples(&mut self) -> Samples {
        core::mem::take(&mut self.watch.0.samples)
    }

    /// Ends the run and gives its tables.
    ///
    /// # Errors
    /// If the checker has found the path at fault, or the capture could not be written.
    pub fn finish(self) -> Result<Tables, SimError> {
        let (mut recorder, (tap, checker)) = self.watch;
        if let Some(tap) = tap {
            tap.finish()?;
        }
        if let Some(checker) = checker {
            checker
                .verify_with(&self.network)
                .map_err(|violation| SimError::Invariant(violation.to_string()))?;
        }
        let samples = core::mem::take(&mut recorder.samples);
        let info = |connection: u32| self.endpoints.pair(connection).sender.info();
        let (flows, slots, events) = recorder.finish(self.now, info);
        let mut runs = Runs::default();
        runs.push(self.run);
        Ok(Tables {
            runs,
            flows,
            slots,
            samples,
            events,
        })
    }

    fn next_application(&self) -> (Instant, usize) {
        let wakes = self.flows.iter().map(|flow| flow.application.next_at());
        wakes.zip(0..).min().unwrap_or((Instant::NEVER, 0))
    }

    fn run_path(&mut self) {
        let mut deliveries = core::mem::take(&mut self.deliveries);
        self.network
            .advance(self.now, &mut self.watch, &mut deliveries);
        for delivery in deliveries.drain(..) {
            let connection = delivery.packet.flow;
            let side = self.endpoints.side_at(connection, delivery.host);
            self.endpoints
                .end(connection, side)
                .on_segment(self.now, &delivery.packet.segment);
            self.after(connection, side, true);
        }
        self.deliveries = deliveries;
    }

    /// One end has worked on a segment or a timer: what follows from it.
    fn after(&mut self, connection: u32, side: Side, segment: bool) {
        match side {
            Side::Receiver => self.take_delivered(connection),
            Side::Sender => {
                self.write(self.owners[connection as usize].0);
                let info = self.endpoints.pair(connection).sender.info();
                self.watch.0.sender_changed(self.now, connection, &info);
                if segment && !info.srtt.is_zero() {
                    self.watch.0.acked(connection, &info);
                    if self.sampling == scenario::Samples::EveryAck {
                        self.watch
                            .0
                            .sample(self.now, connection, &info, &self.network);
                    }
                }
            }
        }
        self.flush(connection, side);
    }

    fn flush(&mut self, connection: u32, side: Side) {
        self.endpoints.flush(
            self.now,
            connection,
            side,
            &mut self.network,
            &mut self.watch,
        );
    }

    /// Hands to the application what has arrived in order.
    fn take_delivered(&mut self, connection: u32) {
        let receiver = &self.endpoints.pair(connection).receiver;
        let (received, state) = (receiver.received(), receiver.state());
        let (flow, before) = &mut self.owners[connection as usize];
        let fresh = received - *before;
        *before = received;
        let flow = *flow;
        if fresh > 0 {
            self.watch.0.delivered(self.now, connection, fresh);
            let running = &self.flows[flow];
            let done = running.connection == Some(connection)
                && running.budget == Some(0)
                && running.written == received;
            if done && self.is_finite(flow) {
                self.complete(flow, connection);
            }
        }
        if state == State::CloseWait {
            self.endpoints
                .end(connection, Side::Receiver)
                .close(self.now);
        }
    }

    /// Whether the end of what is written is the end of the transfer.
    fn is_finite(&self, flow: usize) -> bool {
        self.flows[flow].closing
            || !matches!(self.flows[flow].flow.workload, scenario::Workload::OnOff(_))
    }

    fn complete(&mut self, flow: usize, connection: u32) {
        self.watch.0.complete(self.now, connection);
        let running = &mut self.flows[flow];
        running.connection = None;
        running.application.completed(self.now);
        self.endpoints.end(connection, Side::Sender).close(self.now);
        self.flush(connection, Side::Sender);
    }

    fn wake(&mut self, flow: usize) {
        let running = &mut self.flows[flow];
        match running.application.wake(self.now) {
            Command::Open(budget) => {
                running.budget = budget;
                running.written = 0;
                self.open(flow);
                return;
            }
            Command::Write(bytes) => {
                running.budget = running.budget.map(|budget| budget + bytes);
            }
            Command::WriteEndlessly => running.budget = None,
            Command::Pause => running.budget = Some(0),
            Command::Close => {
                running.budget = Some(0);
                running.closing = true;
            }
        }
        if let Some(connection) = running.connection {
            self.write(flow);
            self.flush(connection, Side::Sender);
        }
    }

    /// The receiver opens a connection to the sender.
    fn open(&mut self, flow: usize) {
        let running = &self.flows[flow];
        let number = self.owners.len() as u32;
        let end = |side| {
            let choice = &running.flow.cca;
            let start = running.flow.slow_start;
            settings::endpoint(&self.config, choice, start, self.seed, number, side)
        };
        let (Ok(mut sender), Ok(mut receiver)): (Result<Connection, _>, Result<Connection, _>) =
            (end(0), end(1))
        else {
            unreachable!("the congestion control of every flow was looked up at the start");
        };
        sender.listen();
        receiver.connect(self.now);
        let hosts = running.hosts;
        self.watch.0.open(
            self.now,
            Introduction {
                name: running.flow.name.clone(),
                ue: running.flow.to.clone(),
                cca: sender.cca(),
                hosts,
                uplink: running.flow.from == "phone",
                mss: self.config.mss,
            },
        );
        if let Some(tap) = &mut self.watch.1.0 {
            let port = FIRST_PORT.wrapping_add(number as u16).max(1_024);
            tap.add_flow(FlowPorts {
                client: (hosts.1, port),
                server: (hosts.0, SERVICE_PORT),
            });
        }
        let connection = self.endpoints.add(Pair {
            sender,
            receiver,
            hosts,
        });
        self.owners.push((flow, 0));
        self.flows[flow].connection = Some(connection);
        self.flush(connection, Side::Receiver);
    }

    /// Writes what the application has and the connection takes.
    fn write(&mut self, flow: usize) {
        let running = &mut self.flows[flow];
        let Some(connection) = running.connection else {
            return;
        };
        let sender = self.endpoints.end(connection, Side::Sender);
        let room = sender.writable();
        let bytes = running.budget.unwrap_or(room).min(room);
        if bytes > 0 {
            let taken = sender.write(self.now, bytes);
            running.written += taken;
            running.budget = running.budget.map(|budget| budget - taken);
        }
        if running.closing && running.budget == Some(0) && room > 0 {
            let received = self.owners[connection as usize].1;
            if received == running.written {
                self.complete(flow, connection);
            }
        }
    }

    fn housekeep(&mut self) {
        if self.next_slot <= self.now {
            let endpoints = &self.endpoints;
            let info = |connection: u32| endpoints.pair(connection).sender.info();
            self.watch.0.end_slot(self.now, &self.network, info);
            self.watch.0.begin_slot(self.now, &self.network);
            self.next_slot += self.slot;
        }
        if self.next_sample <= self.now {
            for connection in 0..self.owners.len() as u32 {
                let info = self.endpoints.pair(connection).sender.info();
                self.watch
                    .0
                    .sample(self.now, connection, &info, &self.network);
            }
            if let scenario::Samples::Interval(interval) = self.sampling {
                self.next_sample += interval;
            }
        }
    }
}
