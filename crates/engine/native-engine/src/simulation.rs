//! Simulation: one run, as a loop from one event to the next.

mod selecting;

use measurement::{Engine, NewConnection, ObservationError, ObservedPath, Options};
use net::{Delivery, HostId};
use network_builder::{Plan, SERVER, Traces};
use results::{Samples, Tables};
use scenario::{CcaChoice, Flow, Scenario};
use selection::{Selectors, decision_row};
use tcp::{NetDevice, State, TcpConfig};
use units::{Duration, Instant};
use workload::{Action, End, Sessions, SwitchSchedule};

use crate::endpoints::{ConnectionEnds, Endpoints};
use crate::error::SimError;
use crate::settings;

/// A run of a scenario.
pub struct Simulation {
    now: Instant,
    end: Instant,
    sampling: scenario::Samples,
    next_sample: Instant,
    config: TcpConfig,
    /// Minimum RTO of each host.
    min_rtos: Vec<Duration>,
    seed: u64,
    path: ObservedPath,
    endpoints: Endpoints,
    /// The flows of the scenario, and the hosts of their servers and clients.
    flows: Vec<(Flow, (HostId, HostId))>,
    sessions: Sessions,
    switches: SwitchSchedule<CcaChoice>,
    selectors: Selectors,
    deliveries: Vec<Delivery>,
    /// Ends at which bytes have arrived at the current time.
    readers: Vec<(u32, End)>,
}

impl Simulation {
    /// Creates the run of `scenario` with `seed`.
    ///
    /// # Errors
    /// [`SimError`] has the reason why the scenario cannot be run.
    pub fn new(
        scenario: &Scenario,
        traces: &Traces,
        seed: u64,
        options: Options,
    ) -> Result<Self, SimError> {
        if !scenario.kernel.is_empty() {
            return Err(SimError::Kernel);
        }
        let expanded = scenario.expand_flows();
        let plan = Plan::new(&expanded, traces, seed).map_err(ObservationError::from)?;
        let path = ObservedPath::new(scenario, &plan, seed, Engine::Native, options)?;
        let scenario = &*expanded;
        let mut flows = Vec::new();
        for flow in &scenario.flows {
            let hosts = plan.ends(flow).map_err(ObservationError::from)?;
            let choices = core::iter::once(&flow.cca).chain(flow.switch.iter().map(|s| &s.to));
            for choice in choices {
                settings::check(choice).map_err(|error| SimError::Cca {
                    flow: flow.name.clone(),
                    error,
                })?;
            }
            flows.push((flow.clone(), hosts));
        }
        Ok(Self {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            sampling: scenario.samples,
            next_sample: match scenario.samples {
                scenario::Samples::Interval(interval) => Instant::ZERO + interval,
                _ => Instant::NEVER,
            },
            config: TcpConfig {
                far_ack_kind: scenario.far_ack_kind(),
                eln: scenario.has_eln(),
                ..TcpConfig::new(scenario.tcp.clone(), scenario.path.path_mtu())
            },
            min_rtos: plan.min_rtos(&scenario.tcp),
            seed,
            path,
            endpoints: Endpoints::new(),
            flows,
            sessions: Sessions::new(scenario.flow_plans(plan.start_jitter), seed),
            switches: scenario.switches(),
            selectors: Selectors::new(scenario.selected(), &scenario.selection, seed)?,
            deliveries: Vec::new(),
            readers: Vec::new(),
        })
    }

    /// Returns the current time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs until `until` or the end, whichever is first.
    pub fn advance(&mut self, until: Instant) {
        let until = until.min(self.end);
        loop {
            let timer = self.endpoints.next_timer();
            let wakes = self.sessions.next_at();
            let switch = self.switches.next_at().min(self.selectors.next_sample());
            let housekeeping = self.path.next_slot().min(self.next_sample);
            let next = timer.min(wakes).min(switch).min(housekeeping);
            // Events on the path come first, and change nothing here before something arrives.
            if self.path.next_event() <= next.min(until) {
                self.run_path(next.min(until));
                continue;
            }
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if timer == next {
                if let Some((connection, end)) = self.endpoints.expired(next) {
                    if self.endpoints.end(connection, end).run_timers(next) {
                        let is_sender = end == End::Server;
                        self.path.recorder().timed_out(next, connection, is_sender);
                    }
                    self.follow_up(connection, end, false);
                }
            } else if wakes == next {
                self.sessions.wake(next);
                self.carry_out();
            } else if let Some(due) = self.switches.pop(next) {
                self.switch_flow(&due);
            } else if self.selectors.next_sample() == next {
                self.select();
            } else {
                self.housekeep();
            }
        }
    }

    /// Returns the samples since the last call.
    pub fn take_samples(&mut self) -> Samples {
        self.path.take_samples()
    }

    /// Ends the run and returns its tables.
    ///
    /// # Errors
    /// If the checker has found the path at fault, or the capture could not be written.
    pub fn finish(mut self) -> Result<Tables, SimError> {
        self.sessions.stop(self.now);
        self.carry_out();
        let endpoints = &self.endpoints;
        let recorder = self.path.recorder();
        for connection in 0..endpoints.count() {
            recorder.record_timeouts(connection, endpoints.other_timeouts(connection));
        }
        Ok(self.path.finish(self.now, |connection| {
            Some(endpoints.view_at(connection, self.now))
        })?)
    }

    /// Lets the path run until `until`, or until something arrives, which is handled. There must be an event.
    fn run_path(&mut self, until: Instant) {
        let mut deliveries = core::mem::take(&mut self.deliveries);
        self.now = self.path.advance_to_arrivals(until, &mut deliveries);
        // Everything that arrives at one time, as from the radio, is in the buffer before an application reads.
        self.readers.clear();
        for delivery in &deliveries {
            let connection = delivery.packet.flow;
            let end = self.endpoints.end_at(connection, delivery.host);
            let Some(segment) = delivery.packet.segment() else {
                continue;
            };
            if let Some(reset) = self.endpoints.reset_reply(connection, end, segment) {
                let place = (connection, end);
                self.endpoints.send(self.now, place, reset, &mut self.path);
                continue;
            }
            let socket = self.endpoints.end(connection, end);
            let before = socket.state();
            socket.process_segment(self.now, segment);
            let opening = matches!(before, State::SynSent | State::SynReceived);
            if opening && socket.state() == State::Established {
                if end == End::Server {
                    self.establish(connection);
                }
                if before == State::SynReceived {
                    self.sessions.on_established(connection);
                }
            }
            self.follow_up(connection, end, true);
            if !self.readers.contains(&(connection, end)) {
                self.readers.push((connection, end));
            }
        }
        for index in 0..self.readers.len() {
            let (connection, end) = self.readers[index];
            if self.endpoints.end(connection, end).read_all(self.now) {
                self.flush(connection, end);
            }
        }
        deliveries.clear();
        self.deliveries = deliveries;
    }

    /// Follows up a segment or timer that one end has handled: reads, writes and records what follows from it.
    fn follow_up(&mut self, connection: u32, end: End, is_segment: bool) {
        // With a timer nothing arrives; only a change of the state is news to the session.
        if is_segment || self.endpoints.end(connection, end).state() != State::Established {
            self.read(connection, end);
            self.endpoints.read_within_budget(self.now, connection, end);
        }
        if !self.endpoints.end(connection, end).nospace() {
            self.write(connection, end);
        }
        if end == End::Server {
            self.record(connection, is_segment);
        }
        self.flush(connection, end);
    }

    /// Records changes of the sender of a connection, and the RTT after a segment.
    #[inline]
    fn record(&mut self, connection: u32, is_segment: bool) {
        let view = self.endpoints.view(connection);
        let recorder = self.path.recorder();
        recorder.sender_changed(self.now, connection, &view);
        let Some(srtt) = view.srtt.filter(|_| is_segment) else {
            return;
        };
        recorder.acked(connection, srtt);
        if self.sampling == scenario::Samples::EveryAck {
            self.sample(connection);
        }
    }

    /// Records the state of the sender of a connection.
    fn sample(&mut self, connection: u32) {
        let view = self.endpoints.view(connection);
        let mode = self.endpoints.mode(connection);
        self.path.sample(self.now, connection, &view, mode);
    }

    fn flush(&mut self, connection: u32, end: End) {
        self.endpoints
            .flush(self.now, connection, end, &mut self.path);
    }

    /// Hands the bytes that have arrived in order to the session.
    fn read(&mut self, connection: u32, end: End) {
        let socket = self.endpoints.end(connection, end);
        let (received, state) = (socket.received(), socket.state());
        let sessions = &mut self.sessions;
        let new_bytes = sessions.on_received(self.now, connection, end, received);
        if new_bytes > 0 && end == End::Client {
            self.path
                .recorder()
                .delivered(self.now, connection, new_bytes);
        }
        if new_bytes > 0 {
            self.carry_out();
        }
        if state == State::CloseWait {
            self.sessions.on_fin(self.now, connection, end);
            self.carry_out();
        }
    }

    /// Writes bytes of the session, as many as the connection takes.
    fn write(&mut self, connection: u32, end: End) {
        loop {
            let write_bytes = self.sessions.next_write_bytes(connection, end);
            if write_bytes == 0 {
                return;
            }
            let accepted = self
                .endpoints
                .end(connection, end)
                .write(self.now, write_bytes);
            if accepted > 0 {
                self.sessions
                    .on_accepted(Some(self.now), connection, end, accepted);
            }
            if accepted < write_bytes {
                return;
            }
        }
    }

    /// Carries out the actions of the sessions.
    #[inline]
    fn carry_out(&mut self) {
        while let Some(action) = self.sessions.next_action() {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Open {
                connection,
                flow,
                by,
                ..
            } => self.open(connection, flow, by),
            Action::Write { connection, end } => {
                self.write(connection, end);
                self.flush(connection, end);
            }
            Action::Record {
                connection,
                name,
                value,
            } => {
                let recorder = self.path.recorder();
                recorder.record_app_metric(self.now, connection, name, value);
            }
            Action::ReadMore {
                connection,
                end,
                bytes,
            } => {
                self.endpoints
                    .allow_reading(self.now, connection, end, bytes);
                self.flush(connection, end);
            }
            Action::Abandon { connection, end } => {
                let view = self.endpoints.view_at(connection, self.now);
                self.path
                    .recorder()
                    .abandon(self.now, connection, Some(view));
                self.selectors.close(connection);
                self.endpoints.abandon(self.now, connection, end);
                self.flush(connection, end);
            }
            Action::Complete { connection } => {
                let view = self.endpoints.view_at(connection, self.now);
                self.path
                    .recorder()
                    .complete(self.now, connection, Some(view));
                self.selectors.close(connection);
            }
            Action::Close { connection, end } => {
                self.endpoints.end(connection, end).close(self.now);
                self.flush(connection, end);
            }
            // Bytes are read and counted as they arrive.
            Action::Read { .. } | Action::Finish { .. } => {}
        }
    }

    /// Opens a connection from the end `opener_end` to the other one.
    fn open(&mut self, connection: u32, flow_index: usize, opener_end: End) {
        let selected = self.choose(flow_index, connection);
        let (flow, hosts) = &self.flows[flow_index];
        let current = self.switches.current(flow_index);
        let choice = selected
            .as_ref()
            .map(|decision| CcaChoice::with_defaults(decision.to));
        let choice = choice.as_ref().unwrap_or(current);
        let mut config = self.config.clone();
        // For other hosts the first link of the path stands for the card.
        config.net_device = if hosts.0 == SERVER {
            NetDevice::SERVER
        } else {
            NetDevice::Immediate
        };
        config.nagle = !flow.sends_at_once(config.settings.nodelay);
        if let Some(cap) = flow.max_pacing_rate {
            config.max_pacing_rate = cap;
        }
        if let Some(decision) = &selected {
            let initial_window = &mut config.settings.initial_window;
            *initial_window = decision.initial_window_or(*initial_window);
        }
        let min_rtos = [hosts.0, hosts.1].map(|host| self.min_rtos[host.0 as usize]);
        let ends = settings::ends(config, min_rtos, choice, self.seed, connection);
        let Ok((mut server, mut client)) = ends else {
            unreachable!("the congestion control of every flow was looked up at the start");
        };
        let (opener, acceptor, at) = match opener_end {
            End::Client => (&mut client, &mut server, hosts.1),
            End::Server => (&mut server, &mut client, hosts.0),
        };
        acceptor.listen();
        opener.connect(self.now);
        let hosts = *hosts;
        self.path.open(
            self.now,
            NewConnection {
                name: flow.name.clone(),
                ue: flow.to.clone(),
                cca: current.to_string(),
                hosts,
                opener: at,
                mss: self.config.mss,
                flow: flow_index,
            },
        );
        if let Some(decision) = selected {
            self.path
                .recorder()
                .record_decision(decision_row(connection, &decision));
        }
        self.endpoints.add(ConnectionEnds {
            server,
            client,
            hosts,
            abandoned: None,
            read_budget: [None; 2],
        });
        self.flush(connection, opener_end);
    }

    fn housekeep(&mut self) {
        if self.path.next_slot() <= self.now {
            let endpoints = &self.endpoints;
            let now = self.path.next_slot();
            self.path
                .end_slot(|connection| Some(endpoints.view_at(connection, now)));
            let slot = self.path.slot_before(self.now);
            for estimate in self.selectors.estimates(slot) {
                self.path.recorder().estimated(estimate);
            }
        }
        if self.next_sample <= self.now {
            for connection in 0..self.endpoints.count() {
                self.sample(connection);
            }
            if let scenario::Samples::Interval(interval) = self.sampling {
                self.next_sample += interval;
            }
        }
    }
}
