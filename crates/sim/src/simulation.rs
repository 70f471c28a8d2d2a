//! One run: the loop from one event to the next.

mod selecting;

use net::{Delivery, HostId};
use path::{Plan, Traces};
use record::{Samples, Tables};
use recorder::{Engine, Introduction, ObservationError, ObservedPath, Options};
use scenario::{CcaChoice, Flow, Scenario};
use tcp::{State, TcpConfig};
use units::Instant;
use workload::{Application, Command, Selection, Switches, decision_row};

use crate::endpoints::{ConnectionEnds, Endpoints, Side};
use crate::error::SimError;
use crate::settings;

/// One flow of the scenario at work.
struct Running {
    flow: Flow,
    /// Its number in the scenario.
    number: usize,
    application: Application,
    hosts: (HostId, HostId),
    connection: Option<u32>,
    /// Bytes still to be written; `None` for as many as it takes.
    budget: Option<u64>,
    /// Bytes written so far on this connection.
    written: u64,
    closing: bool,
}

/// A run of a scenario.
pub struct Simulation {
    now: Instant,
    end: Instant,
    sampling: scenario::Samples,
    next_sample: Instant,
    config: TcpConfig,
    seed: u64,
    path: ObservedPath,
    endpoints: Endpoints,
    flows: Vec<Running>,
    switches: Switches,
    selection: Selection,
    /// The flow of each connection, and what its receiver had got.
    owners: Vec<(usize, u64)>,
    deliveries: Vec<Delivery>,
    /// Ends at which something has arrived in this moment.
    readers: Vec<(u32, Side)>,
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
        if !scenario.kernel.is_empty() {
            return Err(SimError::Kernel);
        }
        let plan = Plan::new(scenario, traces, seed).map_err(ObservationError::from)?;
        let engine = Engine {
            name: "native",
            kernel_version: String::new(),
        };
        let path = ObservedPath::new(scenario, &plan, seed, engine, options)?;
        let mut flows = Vec::new();
        for (number, flow) in scenario.flows.iter().enumerate() {
            let hosts = plan.ends(flow).map_err(ObservationError::from)?;
            let all = core::iter::once(&flow.cca).chain(flow.switch.iter().map(|s| &s.to));
            for choice in all {
                settings::check(choice).map_err(|error| SimError::Cca {
                    flow: flow.name.clone(),
                    error,
                })?;
            }
            for _ in 0..flow.count {
                let start = Instant::ZERO + flow.start + plan.start_jitter;
                let entity = flows.len() as u32;
                flows.push(Running {
                    application: Application::new(&flow.workload, start, seed, entity),
                    flow: flow.clone(),
                    number,
                    hosts,
                    connection: None,
                    budget: Some(0),
                    written: 0,
                    closing: false,
                });
            }
        }
        Ok(Self {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            sampling: scenario.samples,
            next_sample: match scenario.samples {
                scenario::Samples::Interval(interval) => Instant::ZERO + interval,
                _ => Instant::NEVER,
            },
            config: settings::config(scenario),
            seed,
            path,
            endpoints: Endpoints::new(),
            flows,
            switches: Switches::new(scenario),
            selection: Selection::new(scenario, seed)?,
            owners: Vec::new(),
            deliveries: Vec::new(),
            readers: Vec::new(),
        })
    }

    /// The present time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs until `until` or the end, whichever is first.
    pub fn advance(&mut self, until: Instant) {
        let until = until.min(self.end);
        loop {
            let on_path = self.path.next_event();
            let (timer, connection, side) = self.endpoints.next_timer();
            let (wakes, flow) = self.next_application();
            let switch = self.switches.next_at().min(self.selection.next());
            let housekeeping = self.path.next_slot().min(self.next_sample);
            let next = on_path.min(timer).min(wakes).min(switch).min(housekeeping);
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
            } else if let Some(due) = self.switches.pop(next) {
                self.switch_flow(&due);
            } else if self.selection.next() == next {
                self.select();
            } else {
                self.housekeep();
            }
        }
    }

    /// The samples since the last call.
    pub fn take_samples(&mut self) -> Samples {
        self.path.take_samples()
    }

    /// Ends the run and gives its tables.
    ///
    /// # Errors
    /// If the checker has found the path at fault, or the capture could not be written.
    pub fn finish(self) -> Result<Tables, SimError> {
        let endpoints = &self.endpoints;
        Ok(self
            .path
            .finish(self.now, |connection| endpoints.state(connection))?)
    }

    fn next_application(&self) -> (Instant, usize) {
        let wakes = self.flows.iter().map(|flow| flow.application.next_at());
        wakes.zip(0..).min().unwrap_or((Instant::NEVER, 0))
    }

    fn run_path(&mut self) {
        let mut deliveries = core::mem::take(&mut self.deliveries);
        self.path.advance(self.now, &mut deliveries, &mut ());
        // What comes in one moment, as from the radio, is there before an application gets to read.
        self.readers.clear();
        for delivery in deliveries.drain(..) {
            let connection = delivery.packet.flow;
            let side = self.endpoints.side_at(connection, delivery.host);
            let end = self.endpoints.end(connection, side);
            let before = end.state();
            end.take_segment(self.now, &delivery.packet.segment);
            if before == State::SynReceived && end.state() == State::Established {
                self.greet(connection);
            }
            self.after(connection, side, true);
            if !self.readers.contains(&(connection, side)) {
                self.readers.push((connection, side));
            }
        }
        for index in 0..self.readers.len() {
            let (connection, side) = self.readers[index];
            self.endpoints.end(connection, side).on_read(self.now);
            self.flush(connection, side);
        }
        self.deliveries = deliveries;
    }

    /// One end has worked on a segment or a timer: what follows from it.
    fn after(&mut self, connection: u32, side: Side, segment: bool) {
        match side {
            Side::Receiver => self.take_delivered(connection),
            Side::Sender => {
                self.write(self.owners[connection as usize].0);
                let info = self.endpoints.state(connection);
                self.path
                    .recorder()
                    .sender_changed(self.now, connection, &info);
                if segment && !info.srtt.is_zero() {
                    self.path.recorder().acked(connection, &info);
                    if self.sampling == scenario::Samples::EveryAck {
                        self.path.sample(self.now, connection, &info);
                    }
                }
            }
        }
        self.flush(connection, side);
    }

    fn flush(&mut self, connection: u32, side: Side) {
        self.endpoints
            .flush(self.now, connection, side, &mut self.path);
    }

    /// Hands to the application what has arrived in order.
    fn take_delivered(&mut self, connection: u32) {
        let receiver = &self.endpoints.ends(connection).receiver;
        let (received, state) = (receiver.received(), receiver.state());
        let (flow, before) = &mut self.owners[connection as usize];
        let fresh = received - *before;
        *before = received;
        let flow = *flow;
        if fresh > 0 {
            self.path.recorder().delivered(self.now, connection, fresh);
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
        self.path.recorder().complete(self.now, connection);
        let running = &mut self.flows[flow];
        self.selection.close(connection, &running.flow.to);
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
        let hints = self.hints(running.hosts.1);
        let asked = self.switches.present(running.number);
        let to = &running.flow.to;
        let selected = self
            .selection
            .open(self.now, running.number, number, to, hints);
        let choice = selected
            .as_ref()
            .map(|decision| CcaChoice::plain(decision.to));
        let choice = choice.as_ref().unwrap_or(asked);
        let ends = settings::ends(&self.config, choice, self.seed, number);
        let Ok((mut sender, mut receiver)) = ends else {
            unreachable!("the congestion control of every flow was looked up at the start");
        };
        sender.listen();
        receiver.connect(self.now);
        let hosts = running.hosts;
        self.path.open(
            self.now,
            Introduction {
                name: running.flow.name.clone(),
                ue: running.flow.to.clone(),
                cca: asked.to_string(),
                hosts,
                mss: self.config.mss,
                flow: running.number,
            },
        );
        if let Some(decision) = selected {
            self.path
                .recorder()
                .decided(decision_row(number, &decision));
        }
        let connection = self.endpoints.add(ConnectionEnds {
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
        if self.path.next_slot() <= self.now {
            let endpoints = &self.endpoints;
            self.path.end_slot(|connection| endpoints.state(connection));
            let slot = self.path.slot_before(self.now);
            for estimate in self.selection.estimates(slot) {
                self.path.recorder().estimated(estimate);
            }
        }
        if self.next_sample <= self.now {
            for connection in 0..self.owners.len() as u32 {
                let info = self.endpoints.state(connection);
                self.path.sample(self.now, connection, &info);
            }
            if let scenario::Samples::Interval(interval) = self.sampling {
                self.next_sample += interval;
            }
        }
    }
}
