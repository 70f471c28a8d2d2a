//! Recorder: fills the tables of a run while it goes on.

use cca::{CaState, SenderInfo, SwitchMode};
use net::{HostId, LinkId, Network, PathOutages};
use network_builder::Access;
use results::{
    BottleneckSlot, Connection, DecisionRow, EstimateRow, EventRow, Identity, OtherTimeouts,
    SampleRow, Slots, Tables,
};
use tcp::SeqUnwrapper;
use units::{Duration, Instant, Rate};

use crate::bottlenecks::Bottlenecks;
use crate::far_acks::FarAcks;
use crate::outages::OutageLog;
use crate::recoveries::{RecoveryTracker, SenderState};
use crate::segment_outcomes::SegmentOutcomes;

/// Headers of a full packet with timestamps, bytes.
const HEADERS: u64 = 52;

/// One connection on the path.
#[derive(Clone, Debug)]
pub(crate) struct TrackedConnection {
    /// Sending and receiving host.
    pub(crate) hosts: (HostId, HostId),
    /// Index of the bottleneck next to its UE.
    bottleneck: usize,
    /// Number of the way of its data in the log of outages.
    way: usize,
    /// Links on the way of its data.
    links: Vec<LinkId>,
    /// Sequence numbers of its data.
    pub(crate) stream: SeqUnwrapper,
    pub(crate) record: Connection,
    state: CaState,
    /// Time-outs and loss probes of the sender.
    timers: (u64, u64),
    /// Nodes of middleboxes through which it is known to pass, and whether it is known to be over there.
    pub(crate) middleboxes: Vec<(HostId, bool)>,
    pub(crate) far_acks: FarAcks,
    pub(crate) recoveries: RecoveryTracker,
}

/// Description of a new connection.
#[derive(Clone, Debug)]
pub struct NewConnection {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Node that receives.
    pub ue: String,
    /// Congestion control, by the kernel's name.
    pub cca: String,
    /// Sending and receiving host.
    pub hosts: (HostId, HostId),
    /// The one of the two that opens the connection.
    pub opener: HostId,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Index of the flow in the scenario.
    pub flow: usize,
}

/// Recorder of a run: the observer that measures.
#[derive(Clone, Debug)]
pub struct Recorder {
    slot: Duration,
    pub(crate) watched: Vec<TrackedConnection>,
    pub(crate) bottlenecks: Bottlenecks,
    outages: OutageLog,
    /// Whether TTIs of the radio are recorded.
    pub(crate) log_radio: bool,
    /// Whether delays of the uplink are recorded.
    pub(crate) log_control: bool,
    /// Outcomes of data segments, if they are recorded.
    pub(crate) fates: Option<SegmentOutcomes>,
    /// The tables; those of flows and slots are filled at the end.
    pub(crate) tables: Tables,
}

impl Recorder {
    /// Creates a recorder with slots of length `slot`. `access` is the access link of each UE, the phone's first; `wires`
    /// are the outages of the wires; `log_radio`: whether TTIs of the radio are recorded.
    pub(crate) fn new(
        slot: Duration,
        access: &[Access],
        wires: PathOutages,
        log_radio: bool,
    ) -> Self {
        Self {
            slot,
            watched: Vec::new(),
            bottlenecks: Bottlenecks::new(slot, access, wires.link_count()),
            outages: OutageLog::new(wires, slot),
            log_radio,
            log_control: false,
            fates: None,
            tables: Tables::default(),
        }
    }

    /// Goes over to the outages of changed wires at `now`.
    pub(crate) fn change_outages(&mut self, now: Instant, wires: &PathOutages) {
        self.outages.change(now, wires);
    }

    /// Keeps the fate of each data segment from now on.
    pub(crate) fn record_outcomes(&mut self) {
        self.fates = Some(SegmentOutcomes::default());
    }

    /// Keeps the delay of each packet of the uplink from now on.
    pub(crate) fn record_uplink(&mut self) {
        self.log_control = true;
    }

    /// Returns the number of connections that have been requested.
    pub fn connections(&self) -> u32 {
        self.watched.len() as u32
    }

    /// Returns the slots so far of a connection from number `first` on; none before it is requested.
    pub fn slots_from(&self, connection: u32, first: usize) -> Slots {
        self.watched
            .get(connection as usize)
            .map(|watched| watched.record.slots_from(first))
            .unwrap_or_default()
    }

    /// Returns the host that sends the data of a connection.
    pub fn sender(&self, connection: u32) -> HostId {
        self.watched[connection as usize].hosts.0
    }

    /// Returns the bytes that wait at the bottleneck towards the phone or, if `uplink`, from it, and its capacity in
    /// the current slot, bit/s.
    pub(crate) fn bottleneck_state(&self, uplink: bool, network: &Network) -> (u64, u64) {
        let index = usize::from(uplink);
        (
            self.bottlenecks.queue(index, network).bytes,
            self.bottlenecks.capacity_bps(index),
        )
    }

    /// Notes that a connection is requested.
    pub fn open(&mut self, now: Instant, new: NewConnection) {
        let flow = self.connections();
        self.event(now, flow, "open", new.cca.clone());
        let identity = Identity {
            flow,
            name: new.name,
            ue: new.ue,
            cca: new.cca,
            mss: new.mss,
            requested: now,
        };
        let (sender, receiver) = new.hosts;
        let way = self.outages.way(sender, receiver);
        let links = self.outages.links(sender, receiver).collect();
        self.bottlenecks.open();
        self.outages.way(receiver, sender);
        self.watched.push(TrackedConnection {
            hosts: new.hosts,
            way,
            links,
            bottleneck: self.bottlenecks.of(new.hosts),
            stream: SeqUnwrapper::default(),
            record: Connection::new(identity, self.slot),
            state: CaState::Open,
            timers: (0, 0),
            middleboxes: Vec::new(),
            far_acks: FarAcks::default(),
            recoveries: RecoveryTracker::default(),
        });
    }

    /// Notes payload that was delivered in order to the application.
    pub fn delivered(&mut self, now: Instant, connection: u32, bytes: u64) {
        let record = &mut self.watched[connection as usize].record;
        record.meter.data_delivered(now, bytes);
    }

    /// Notes that the last byte of a finite transfer was received; `view` shows the sender, if it has shown itself.
    pub fn complete(&mut self, now: Instant, connection: u32, view: Option<SenderInfo>) {
        self.watched[connection as usize].record.complete(now, view);
        self.event(now, connection, "complete", String::new());
    }

    /// Notes that the receiver has given a connection up; `view` shows the sender, if it has shown itself.
    pub fn abandon(&mut self, now: Instant, connection: u32, view: Option<SenderInfo>) {
        let record = &mut self.watched[connection as usize].record;
        record.complete(now, view);
        record.waste.abandoned = true;
        self.event(now, connection, "abandon", String::new());
    }

    /// Notes that an end of a connection has timed out, because the other end had not answered for too long: the event
    /// `timed_out`, whose detail is "sender" or "receiver" of the data.
    pub fn timed_out(&mut self, now: Instant, connection: u32, is_sender: bool) {
        let end = if is_sender { "sender" } else { "receiver" };
        self.event(now, connection, "timed_out", end.to_owned());
    }

    /// Notes the switch of a connection to the CCA `to`, at a window of `cwnd` segments.
    pub fn switched(
        &mut self,
        now: Instant,
        connection: u32,
        to: &str,
        mode: SwitchMode,
        cwnd: u32,
    ) {
        let detail = match mode {
            SwitchMode::Kernel => format!("{to} kernel"),
            SwitchMode::Context => format!("{to} context cwnd {cwnd}"),
        };
        self.event(now, connection, "switch", detail);
    }

    /// Notes the time-outs of a connection other than those of the sender of its data.
    pub fn record_timeouts(&mut self, connection: u32, other: OtherTimeouts) {
        self.watched[connection as usize].record.other_timeouts = Some(other);
    }

    /// Records a metric of an application as an event: its name is the kind, its value the detail.
    pub fn record_app_metric(&mut self, now: Instant, connection: u32, name: &str, value: f64) {
        self.event(now, connection, name, value.to_string());
    }

    /// Keeps a decision of a selector.
    pub fn record_decision(&mut self, decision: DecisionRow) {
        self.tables.decisions.push(decision);
    }

    /// Keeps the estimates of a selector.
    pub fn estimated(&mut self, estimate: EstimateRow) {
        self.tables.estimates.push(estimate);
    }

    /// Notes changes of a sender that has worked on a segment or a timer.
    #[inline]
    pub fn sender_changed(&mut self, now: Instant, connection: u32, view: &SenderInfo) {
        let watched = &mut self.watched[connection as usize];
        if view.slow_start_exit.is_some() {
            watched.record.meter.slow_start_left();
        }
        let timers = (view.timeouts.unwrap_or(0), view.loss_probes.unwrap_or(0));
        let is_new_state = watched.state != view.ca_state;
        if !is_new_state && watched.timers == timers && !watched.recoveries.is_probing() {
            return;
        }
        // Without a reference to the view, an engine need not put it together for what is looked at here.
        let sender = SenderState {
            state: view.ca_state,
            slow_start_exit: view.slow_start_exit.map(|(at, _)| at),
            undone: view.undone,
        };
        self.sender_event(now, connection, sender, timers, view.rto);
    }

    /// Notes a change of a sender's loss-recovery state, its time-outs and loss probes (`timers`), and the end of what a
    /// loss probe repairs.
    #[cold]
    fn sender_event(
        &mut self,
        now: Instant,
        connection: u32,
        sender: SenderState,
        timers: (u64, u64),
        rto: Duration,
    ) {
        let watched = &mut self.watched[connection as usize];
        let is_new_state = core::mem::replace(&mut watched.state, sender.state) != sender.state;
        let previous = core::mem::replace(&mut watched.timers, timers);
        if is_new_state {
            self.state_changed(now, connection, sender);
        }
        let watched = &mut self.watched[connection as usize];
        let meter = &watched.record.meter;
        if timers.1 > previous.1 {
            watched.recoveries.probed(now, connection, sender, meter);
        }
        if timers.0 > previous.0 {
            watched.recoveries.timed_out(now, meter);
            self.event(now, connection, "timeout", format!("rto {rto}"));
        }
        if self.watched[connection as usize].recoveries.is_probing() {
            self.probe_answered(now, connection, sender.undone);
        }
    }

    fn state_changed(&mut self, now: Instant, connection: u32, sender: SenderState) {
        self.event(now, connection, "state", sender.state.name().to_owned());
        let watched = &mut self.watched[connection as usize];
        let meter = &watched.record.meter;
        let ended = watched
            .recoveries
            .state_changed(now, connection, sender, meter);
        if let Some(row) = ended {
            self.tables.recoveries.push(row);
        }
    }

    /// Ends a recovery by a loss probe once what was lost is acknowledged.
    fn probe_answered(&mut self, now: Instant, connection: u32, undone: Option<u64>) {
        let watched = &mut self.watched[connection as usize];
        let meter = &watched.record.meter;
        if let Some(row) = watched.recoveries.probe_answered(now, undone, meter) {
            self.tables.recoveries.push(row);
        }
    }

    /// Notes the smoothed RTT of a sender that has worked on an ACK.
    pub fn acked(&mut self, connection: u32, srtt: Duration) {
        self.watched[connection as usize]
            .record
            .meter
            .srtt
            .push(srtt);
    }

    /// Keeps a sample of the state of a sender; `mode` is that of its congestion control.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        connection: u32,
        view: &SenderInfo,
        mode: &'static str,
        network: &Network,
    ) {
        let bottleneck = self.watched[connection as usize].bottleneck;
        self.tables.samples.push(SampleRow {
            flow: connection,
            t_ns: now.as_nanos(),
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            inflight: view.inflight,
            srtt_us: view.srtt.map_or(0, Duration::as_micros),
            delivery_rate_bps: view.delivery_rate.map_or(0, Rate::bits_per_second),
            pacing_rate_bps: view.pacing_rate.map_or(0, Rate::bits_per_second),
            state: view.ca_state as u32,
            queue_bytes: self.bottlenecks.queue(bottleneck, network).bytes,
            capacity_bps: self.bottlenecks.capacity_bps(bottleneck),
            mode: mode.into(),
        });
    }

    /// Begins a slot.
    pub(crate) fn begin_slot(&mut self, now: Instant, network: &Network) {
        self.bottlenecks.begin_slot(now, network);
    }

    /// Ends a slot at `now`; `view` returns the state of the sender of each connection that has reported one.
    pub(crate) fn end_slot(
        &mut self,
        now: Instant,
        network: &Network,
        view: impl Fn(u32) -> Option<SenderInfo>,
    ) {
        let from = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for (connection, watched) in (0..).zip(&mut self.watched) {
            let (mut all, mut left) = (u64::MAX, u64::MAX);
            let is_over = watched.record.completed().is_some_and(|at| at <= from);
            for &link in &watched.links {
                let own = self.bottlenecks.take_own(link, connection);
                if !is_over {
                    let times = (from, now);
                    let of_link = self.bottlenecks.capacity_bytes((link, own), times, network);
                    all = all.min(of_link.0);
                    left = left.min(of_link.1);
                }
            }
            if is_over {
                continue;
            }
            let outage = all == 0 || self.outages.loses_all(watched.way, from, now);
            // Where all is lost, nothing that is sent can arrive.
            let capacity = if outage { 0 } else { left };
            let backlog = self.bottlenecks.queue(watched.bottleneck, network);
            let mss = u64::from(watched.record.mss());
            let bottleneck = BottleneckSlot {
                from,
                capacity: (u128::from(capacity) * u128::from(mss) / u128::from(mss + HEADERS))
                    as u64,
                queue_bytes: backlog.bytes,
                queue_packets: backlog.packets,
                outage,
            };
            watched.record.end_slot(now, &bottleneck, view(connection));
        }
        self.record_legs(from, now, network);
    }

    /// Keeps an event of a connection.
    pub(crate) fn event(&mut self, now: Instant, flow: u32, kind: &str, detail: String) {
        self.tables.events.push(EventRow {
            flow,
            t_ns: now.as_nanos(),
            kind: kind.to_owned(),
            detail,
        });
    }

    /// Ends the run at `end`: returns its tables, of which that of runs is empty.
    pub fn finish(self, end: Instant, view: impl Fn(u32) -> Option<SenderInfo>) -> Tables {
        let mut tables = self.tables;
        for (connection, mut watched) in (0..).zip(self.watched) {
            let view = view(connection);
            let undone = view.and_then(|view| view.undone);
            let meter = &watched.record.meter;
            if let Some(row) = watched.recoveries.end(f64::NAN, undone, meter) {
                tables.recoveries.push(row);
            }
            let lifetime = watched.record.lifetime(end);
            let outages = self
                .outages
                .rows(connection, watched.hosts, lifetime, &self.bottlenecks);
            for row in outages {
                tables.outages.push(row);
            }
            watched.record.finish(end, view, &mut tables);
        }
        for row in self.fates.into_iter().flat_map(SegmentOutcomes::finish) {
            tables.fates.push(row);
        }
        tables
    }
}
