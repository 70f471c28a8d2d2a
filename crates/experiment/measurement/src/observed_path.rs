//! Observed path: the path of a run with its recorder, capture and checker.

use std::io::Write;

use cca::SenderInfo;
use net::{
    Checker, Contents, Delivery, HostId, LinkId, Network, Observer, Packet, PathOutages, Topology,
};
use network_builder::{Plan, PlanError};
use packet::addressing;
use radio::ran::RadioHints;
use results::{RunRow, Samples, Tables};
use scenario::{AckSemantics, Scenario};
use selection::Hints;
use units::{Duration, Instant};

use crate::pcap_tap::{FlowPorts, PcapTap};
use crate::{NewConnection, Recorder, ack_semantics};

/// Stored bytes of each packet of a capture: headers with all options.
pub const SNAPLEN: u32 = 128;

/// Destination of a capture.
pub type Capture = Box<dyn Write + Send>;

/// Options of an observed path.
#[derive(Default)]
pub struct Options {
    /// Verify the run by the invariant checker.
    pub check: bool,
    /// Write a capture of the packets of a node.
    pub pcap: Option<Capture>,
    /// The node of the capture, a host or one with a middlebox; unset: the server's host.
    pub pcap_at: Option<String>,
}

/// Error of observing a path.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// No path can be built from the scenario.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The capture cannot be written.
    #[error("capture: {0}")]
    Capture(#[from] std::io::Error),
    /// The node of the capture does not exist, or has neither a host nor a middlebox.
    #[error("capture: {node:?} is neither a host nor a node with a middlebox; allowed: {allowed}")]
    CaptureNode {
        /// The node.
        node: String,
        /// Possible nodes.
        allowed: String,
    },
    /// The checker has found a violation.
    #[error("the run breaks an invariant: {0}")]
    Invariant(String),
}

/// Engine that runs TCP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The TCP of this project.
    Native,
    /// A Linux kernel in virtual time.
    Kernel {
        /// Its version.
        version: String,
    },
    /// The kernel of this machine, in real time.
    Live {
        /// Its version.
        version: String,
    },
}

impl Engine {
    /// Name of the native engine.
    pub const NATIVE: &str = "native";
    /// Name of the kernel engine.
    pub const KERNEL: &str = "kernel";
    /// Name of the live engine.
    pub const LIVE: &str = "live";

    /// Returns the name and the version of the kernel; empty for the native engine.
    fn name_and_version(self) -> (&'static str, String) {
        match self {
            Self::Native => (Self::NATIVE, String::new()),
            Self::Kernel { version } => (Self::KERNEL, version),
            Self::Live { version } => (Self::LIVE, version),
        }
    }
}

/// Observers of a path: recorder, capture and checker.
type Watch = (Recorder, (Option<PcapTap<Capture>>, Option<Checker>));

/// Returns the node called `name` if a capture can be written there.
fn capture_node(scenario: &Scenario, plan: &Plan, name: &str) -> Result<HostId, ObservationError> {
    let boxes = plan
        .middleboxes
        .iter()
        .map(|middlebox| middlebox.node.as_str());
    let expanded = scenario.expand_flows();
    let ends = expanded
        .flows
        .iter()
        .flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]);
    let mut allowed: Vec<&str> = ["server"].into_iter().chain(ends).chain(boxes).collect();
    if allowed.contains(&name) {
        return Ok(plan.node("capture", name)?);
    }
    allowed.sort_unstable();
    allowed.dedup();
    Err(ObservationError::CaptureNode {
        node: name.to_owned(),
        allowed: allowed.join(", "),
    })
}

/// Records of a run up to a time.
pub struct Snapshot {
    recorder: Recorder,
    run: RunRow,
    at: Instant,
    senders: Vec<Option<SenderInfo>>,
}

impl Snapshot {
    /// Returns the tables up to the time of the snapshot.
    pub fn tables(self) -> Tables {
        let sender = |connection: u32| *self.senders.get(connection as usize)?;
        let mut tables = self.recorder.finish(self.at, sender);
        tables.runs.push(self.run);
        tables
    }
}

/// The path of one run, with its observers.
pub struct ObservedPath {
    network: Network,
    watch: Watch,
    slot: Duration,
    next_slot: Instant,
    run: RunRow,
    /// ACK semantics to verify; `None` without the checker.
    ack_semantics: Option<AckSemantics>,
}

impl ObservedPath {
    /// Creates the path of `plan`, which was made from `scenario` and `seed`.
    ///
    /// # Errors
    /// If the plan is no network, or the capture cannot be written.
    pub fn new(
        scenario: &Scenario,
        plan: &Plan,
        seed: u64,
        engine: Engine,
        options: Options,
    ) -> Result<Self, ObservationError> {
        let rejected = PlanError::Network;
        let mut topology = plan.topology.clone();
        let is_logged = topology.radio.as_ref().is_some_and(|ran| ran.radio.log);
        if let Some(radio) = &mut topology.radio {
            // The checker works from the log.
            radio.radio.log |= options.check;
        }
        let mut network = Network::new(&topology, seed).map_err(rejected)?;
        for middlebox in &plan.middleboxes {
            network
                .place(&middlebox.node, (middlebox.build)())
                .map_err(rejected)?;
        }
        let captured_node = capture_node(
            scenario,
            plan,
            options.pcap_at.as_deref().unwrap_or("server"),
        )?;
        let tap = options
            .pcap
            .map(|out| PcapTap::new(captured_node, SNAPLEN, out))
            .transpose()?;
        let checker = options
            .check
            .then(|| Checker::new(&topology))
            .transpose()
            .map_err(rejected)?;
        let end = Instant::ZERO + scenario.duration;
        let wires = PathOutages::new(&topology, seed, end, scenario.slot).map_err(rejected)?;
        let mut recorder = Recorder::new(scenario.slot, &plan.access, wires, is_logged);
        if let Some(rate) = plan.hidden_queue {
            recorder.bottlenecks.hide_queue(rate);
        }
        if tap.is_some() {
            recorder.record_outcomes();
        }
        let radio = topology.radio.as_ref().map(|ran| &ran.radio);
        if radio.is_some_and(|radio| radio.control_log == Some(true)) {
            recorder.record_uplink();
        }
        recorder.begin_slot(Instant::ZERO, &network);
        let (engine, kernel_version) = engine.name_and_version();
        Ok(Self {
            network,
            watch: (recorder, (tap, checker)),
            slot: scenario.slot,
            next_slot: Instant::ZERO + scenario.slot,
            ack_semantics: options.check.then(|| plan.ack_semantics()),
            run: RunRow {
                seed,
                scenario: scenario.name.clone(),
                scenario_hash: scenario.hash(),
                engine: engine.to_owned(),
                kernel_version,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                memory_pressures: 0,
                policy: scenario.policies().join("+"),
                duration_s: scenario.duration.as_secs_f64(),
                trace_offset_s: plan.trace_offset.as_secs_f64(),
                start_jitter_s: plan.start_jitter.as_secs_f64(),
            },
        })
    }

    /// Returns the time of the next event on the path; [`Instant::NEVER`] if there is none.
    pub fn next_event(&self) -> Instant {
        self.network.next_event()
    }

    /// Sends a packet from its source towards its destination; `also` observes it, too.
    #[inline]
    pub fn inject(&mut self, now: Instant, packet: Packet, also: &mut impl Observer) {
        self.network
            .inject(now, packet, &mut (&mut self.watch, also));
    }

    /// Records that the kernel's TCP ran short of memory this many times.
    pub fn add_memory_pressures(&mut self, times: u32) {
        self.run.memory_pressures += times;
    }

    /// Stores the bytes of packets from now on, for middleboxes.
    pub fn enable_contents(&mut self) {
        self.network.enable_contents();
    }

    /// Returns the bytes of packets; `None` unless contents are enabled.
    pub fn contents(&mut self) -> Option<&mut Contents> {
        self.network.contents()
    }

    /// Advances the path to `now` and appends packets that arrive to `deliveries`; `also` observes it, too.
    pub fn advance(
        &mut self,
        now: Instant,
        deliveries: &mut Vec<Delivery>,
        also: &mut impl Observer,
    ) {
        self.network
            .advance(now, &mut (&mut self.watch, also), deliveries);
    }

    /// Advances the path until `until`, but not beyond the first arrivals, which are appended to `deliveries`. Returns the
    /// time of the last event; [`Instant::NEVER`] if there was none.
    pub fn advance_to_arrivals(
        &mut self,
        until: Instant,
        deliveries: &mut Vec<Delivery>,
    ) -> Instant {
        self.network
            .advance_to_arrivals(until, &mut self.watch, deliveries)
    }

    /// Changes `links` at `now`, up to which the path has been advanced, to their configurations in `changed`, as far as
    /// these can change. `run` is the scenario of the path. There may be no checker.
    ///
    /// # Errors
    /// If the links of `changed` are not those of a network.
    pub fn change_wires(
        &mut self,
        now: Instant,
        links: &[LinkId],
        changed: &Topology,
        run: &Scenario,
    ) -> Result<(), PlanError> {
        let end = Instant::ZERO + run.duration;
        let wires =
            PathOutages::new(changed, self.run.seed, end, self.slot).map_err(PlanError::Network)?;
        for link in links {
            let config = &changed.links[link.0 as usize];
            self.network
                .change_wire(now, *link, config, &mut self.watch);
        }
        self.watch.0.change_outages(now, &wires);
        Ok(())
    }

    /// Returns the recorder.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.watch.0
    }

    /// Opens the next connection.
    pub fn open(&mut self, now: Instant, new: NewConnection) {
        if let Some(tap) = &mut self.watch.1.0 {
            let connection = self.watch.0.connections();
            let (sender, receiver) = new.hosts;
            let acceptor = if new.opener == sender {
                receiver
            } else {
                sender
            };
            tap.add_flow(FlowPorts {
                client: (new.opener, addressing::client_port(connection)),
                server: (acceptor, addressing::service_port(new.flow)),
            });
        }
        self.watch.0.open(now, new);
    }

    /// Records the state of a sender; `mode` is that of its congestion control, empty if it is not known.
    pub fn sample(&mut self, now: Instant, connection: u32, info: &SenderInfo, mode: &'static str) {
        let (recorder, network) = (&mut self.watch.0, &self.network);
        recorder.sample(now, connection, info, mode, network);
    }

    /// Returns the time at which the current slot ends.
    pub fn next_slot(&self) -> Instant {
        self.next_slot
    }

    /// Ends the current slot; `info` returns the state of the sender of each connection.
    pub fn end_slot(&mut self, info: impl Fn(u32) -> Option<SenderInfo>) {
        let now = self.next_slot;
        self.watch.0.end_slot(now, &self.network, info);
        self.watch.0.begin_slot(now, &self.network);
        self.next_slot += self.slot;
    }

    /// Returns the number of samples since the last call of [`Self::take_samples`].
    pub fn sample_count(&self) -> usize {
        self.watch.0.tables.samples.len()
    }

    /// Removes and returns the samples since the last call.
    pub fn take_samples(&mut self) -> Samples {
        core::mem::take(&mut self.watch.0.tables.samples)
    }

    /// Returns the records up to `now` of a running run; `senders` has the state of the sender of each connection, if it is
    /// known.
    pub fn snapshot(&self, now: Instant, senders: &[Option<SenderInfo>]) -> Snapshot {
        Snapshot {
            recorder: self.watch.0.clone(),
            run: RunRow {
                duration_s: now.since_start().as_secs_f64(),
                ..self.run.clone()
            },
            at: now,
            senders: senders.to_vec(),
        }
    }

    /// Ends the run and returns its tables.
    ///
    /// # Errors
    /// If the checker has found a violation, or the capture could not be written.
    pub fn finish(
        self,
        now: Instant,
        info: impl Fn(u32) -> Option<SenderInfo>,
    ) -> Result<Tables, ObservationError> {
        let (recorder, (tap, checker)) = self.watch;
        if let Some(tap) = tap {
            tap.finish()?;
        }
        if let Some(checker) = checker {
            checker
                .verify_with(&self.network)
                .map_err(ObservationError::Invariant)?;
        }
        let mut tables = recorder.finish(now, info);
        if let Some(ack_semantics) = self.ack_semantics {
            ack_semantics::verify(ack_semantics, &tables.flows)
                .map_err(ObservationError::Invariant)?;
        }
        tables.runs.push(self.run);
        Ok(tables)
    }

    /// Returns the measurements of the radio of `host` at `now`; `None` on a wire.
    pub fn radio_hints(&self, now: Instant, host: HostId) -> Option<RadioHints> {
        self.network.radio_hints(host, now)
    }

    /// Returns the hints for selectors from the radio of `host` at `now`; `None` on a wire.
    pub fn hints(&self, now: Instant, host: HostId) -> Option<Hints> {
        let radio = self.radio_hints(now, host)?;
        Some(Hints {
            sinr_db: Some(radio.sinr_db),

            speed_mps: radio.speed_mps,
            sinr_trend: Some(radio.sinr_trend_db_per_s),
        })
    }

    /// Returns the start of the slot that ends at `now`.
    pub fn slot_before(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since_start().saturating_sub(self.slot)
    }

    /// Returns the backlog (bytes) and the capacity in the current slot (bit/s) of the bottleneck towards the phone or, if
    /// `is_uplink`, from it.
    pub fn bottleneck_state(&self, is_uplink: bool) -> (u64, u64) {
        self.watch.0.bottleneck_state(is_uplink, &self.network)
    }
}
