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
    pub(crate) sender: HostId,
    pub(crate) receiver: HostId,
    /// Index of the bottleneck next to its UE.
    pub(crate) bottleneck: usize,
    /// Index of the path of its data in the log of outages.
    path: usize,
    /// Links on the path of its data.
    links: Vec<LinkId>,
    /// Sequence numbers of its data.
    pub(crate) stream: SeqUnwrapper,
    pub(crate) record: Connection,
    state: CaState,
    timers: TimerCounts,
    /// Nodes of the middleboxes that have reported it, and whether it is over there.
    pub(crate) middleboxes: Vec<(HostId, bool)>,
    pub(crate) far_acks: FarAcks,
    pub(crate) recoveries: RecoveryTracker,
}

/// Number of expired timers of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct TimerCounts {
    timeouts: u64,
    loss_probes: u64,
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
    /// The host that opens the connection, one of these.
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
    pub(crate) connections: Vec<TrackedConnection>,
    pub(crate) bottlenecks: Bottlenecks,
    outages: OutageLog,
    /// Whether TTIs of the radio are recorded.
    pub(crate) log_radio: bool,
    /// Whether delays of the uplink are recorded.
    pub(crate) log_control: bool,
    /// Outcomes of data segments, if they are recorded.
    pub(crate) outcomes: Option<SegmentOutcomes>,
    /// The tables; those of flows and slots are filled at the end.
    pub(crate) tables: Tables,
}

impl Recorder {
    /// Creates a recorder with slots of length `slot`. `access` is the access link of each UE, the phone's first; `wires`
    /// are the outages of the wires. With `log_radio` TTIs of the radio are recorded.
    pub(crate) fn new(
        slot: Duration,
        access: &[Access],
        wires: PathOutages,
        log_radio: bool,
    ) -> Self {
        Self {
            slot,
            connections: Vec::new(),
            bottlenecks: Bottlenecks::new(slot, access, wires.link_count()),
            outages: OutageLog::new(wires, slot),
            log_radio,
            log_control: false,
            outcomes: None,
            tables: Tables::default(),
        }
    }

    /// Replaces the outages from `now` on by those of changed wires.
    pub(crate) fn change_outages(&mut self, now: Instant, wires: &PathOutages) {
        self.outages.change(now, wires);
    }

    /// Records the outcome of each data segment from now on.
    pub(crate) fn record_outcomes(&mut self) {
        self.outcomes = Some(SegmentOutcomes::default());
    }

    /// Records the delay of each packet of the uplink from now on.
    pub(crate) fn record_uplink(&mut self) {
        self.log_control = true;
    }

    /// Returns the number of connections that have been requested.
    pub fn connections(&self) -> u32 {
        self.connections.len() as u32
    }

    /// Returns the slots so far of a connection from number `first` on; none before it is requested.
    pub fn slots_from(&self, connection: u32, first: usize) -> Slots {
        self.connections
            .get(connection as usize)
            .map(|tracked| tracked.record.slots_from(first))
            .unwrap_or_default()
    }

    /// Returns the host that sends the data of a connection.
    pub fn sender(&self, connection: u32) -> HostId {
        self.connections[connection as usize].sender
    }

    /// Returns the backlog (bytes) and the capacity in the current slot (bit/s) of the bottleneck towards the phone or, if
    /// `is_uplink`, from it.
    pub(crate) fn bottleneck_state(&self, is_uplink: bool, network: &Network) -> (u64, u64) {
        let index = usize::from(is_uplink);
        (
            self.bottlenecks.queue(index, network).bytes,
            self.bottlenecks.capacity_bps(index),
        )
    }

    /// Records the request of the next connection.
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
        let path = self.outages.add_path(sender, receiver);
        let links: Vec<_> = self.outages.links(sender, receiver).collect();
        self.bottlenecks.add_connection();
        self.outages.add_path(receiver, sender);
        self.connections.push(TrackedConnection {
            sender,
            receiver,
            path,
            bottleneck: self.bottlenecks.index_of(&links),
            links,
            stream: SeqUnwrapper::default(),
            record: Connection::new(identity, self.slot),
            state: CaState::Open,
            timers: TimerCounts::default(),
            middleboxes: Vec::new(),
            far_acks: FarAcks::default(),
            recoveries: RecoveryTracker::default(),
        });
    }

    /// Records payload that was delivered in order to the application.
    pub fn delivered(&mut self, now: Instant, connection: u32, bytes: u64) {
        let record = &mut self.connections[connection as usize].record;
        record.meter.on_delivery(now, bytes);
    }

    /// Records the last byte of a finite transfer, with the state of the sender if it is known.
    pub fn complete(&mut self, now: Instant, connection: u32, info: Option<SenderInfo>) {
        self.connections[connection as usize]
            .record
            .complete(now, info);
        self.event(now, connection, "complete", String::new());
    }

    /// Records that the receiver has aborted a connection, with the state of the sender if it is known.
    pub fn abandon(&mut self, now: Instant, connection: u32, info: Option<SenderInfo>) {
        let record = &mut self.connections[connection as usize].record;
        record.complete(now, info);
        record.after_reset.is_aborted = true;
        self.event(now, connection, "abandon", String::new());
    }

    /// Records that an end of a connection has timed out, as the event `timed_out` with the detail "sender" or "receiver".
    pub fn timed_out(&mut self, now: Instant, connection: u32, is_sender: bool) {
        let end = if is_sender { "sender" } else { "receiver" };
        self.event(now, connection, "timed_out", end.to_owned());
    }

    /// Records the switch of a connection to the CCA `to`, at a window of `cwnd` segments.
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

    /// Records the time-outs of a connection other than those of the sender of its data.
    pub fn record_timeouts(&mut self, connection: u32, other: OtherTimeouts) {
        self.connections[connection as usize].record.other_timeouts = Some(other);
    }

    /// Records a metric of an application as an event: its name is the kind, its value the detail.
    pub fn record_app_metric(&mut self, now: Instant, connection: u32, name: &str, value: f64) {
        self.event(now, connection, name, value.to_string());
    }

    /// Records a decision of a selector.
    pub fn record_decision(&mut self, decision: DecisionRow) {
        self.tables.decisions.push(decision);
    }

    /// Records the estimates of a selector.
    pub fn estimated(&mut self, estimate: EstimateRow) {
        self.tables.estimates.push(estimate);
    }

    /// Records changes of a sender after it has processed a segment or a timer.
    #[inline]
    pub fn sender_changed(&mut self, now: Instant, connection: u32, info: &SenderInfo) {
        let tracked = &mut self.connections[connection as usize];
        if info.slow_start_exit.is_some() {
            tracked.record.meter.on_slow_start_exit();
        }
        let timers = TimerCounts {
            timeouts: info.timeouts.unwrap_or(0),
            loss_probes: info.loss_probes.unwrap_or(0),
        };
        let is_new_state = tracked.state != info.ca_state;
        if !is_new_state && tracked.timers == timers && !tracked.recoveries.is_probing() {
            return;
        }
        // Copies, so that an engine need not build all of `info` where this function is inlined.
        let sender = SenderState {
            state: info.ca_state,
            slow_start_exit: info.slow_start_exit.map(|(at, _)| at),
            undone: info.undone,
        };
        self.record_sender_change(now, connection, sender, timers, info.rto);
    }

    /// Records a change of a sender's loss-recovery state or of its timers, and the end of a recovery by loss probes.
    #[cold]
    fn record_sender_change(
        &mut self,
        now: Instant,
        connection: u32,
        sender: SenderState,
        timers: TimerCounts,
        rto: Duration,
    ) {
        let tracked = &mut self.connections[connection as usize];
        let is_new_state = core::mem::replace(&mut tracked.state, sender.state) != sender.state;
        let previous = core::mem::replace(&mut tracked.timers, timers);
        if is_new_state {
            self.record_state(now, connection, sender);
        }
        let tracked = &mut self.connections[connection as usize];
        let meter = &tracked.record.meter;
        if timers.loss_probes > previous.loss_probes {
            tracked.recoveries.on_probe(now, connection, sender, meter);
        }
        if timers.timeouts > previous.timeouts {
            tracked.recoveries.on_timeout(now, meter);
            self.event(now, connection, "timeout", format!("rto {rto}"));
        }
        if self.connections[connection as usize]
            .recoveries
            .is_probing()
        {
            self.end_probing(now, connection, sender.undone);
        }
    }

    fn record_state(&mut self, now: Instant, connection: u32, sender: SenderState) {
        self.event(now, connection, "state", sender.state.name().to_owned());
        let tracked = &mut self.connections[connection as usize];
        let meter = &tracked.record.meter;
        let ended = tracked.recoveries.on_state(now, connection, sender, meter);
        if let Some(row) = ended {
            self.tables.recoveries.push(row);
        }
    }

    /// Ends a recovery by loss probes once the lost segments are acknowledged.
    fn end_probing(&mut self, now: Instant, connection: u32, undone: Option<u64>) {
        let tracked = &mut self.connections[connection as usize];
        let meter = &tracked.record.meter;
        if let Some(row) = tracked.recoveries.end_probing(now, undone, meter) {
            self.tables.recoveries.push(row);
        }
    }

    /// Records the smoothed RTT of a sender after it has processed an ACK.
    pub fn acked(&mut self, connection: u32, srtt: Duration) {
        self.connections[connection as usize]
            .record
            .meter
            .srtt
            .push(srtt);
    }

    /// Records a sample of the state of a sender; `mode` is that of its congestion control.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        connection: u32,
        info: &SenderInfo,
        mode: &'static str,
        network: &Network,
    ) {
        let bottleneck = self.connections[connection as usize].bottleneck;
        self.tables.samples.push(SampleRow {
            flow: connection,
            t_ns: now.as_nanos(),
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            inflight: info.inflight,
            srtt_us: info.srtt.map_or(0, Duration::as_micros),
            delivery_rate_bps: info.delivery_rate.map_or(0, Rate::bits_per_second),
            pacing_rate_bps: info.pacing_rate.map_or(0, Rate::bits_per_second),
            state: info.ca_state as u32,
            queue_bytes: self.bottlenecks.queue(bottleneck, network).bytes,
            capacity_bps: self.bottlenecks.capacity_bps(bottleneck),
            mode: mode.into(),
        });
    }

    /// Begins a slot.
    pub(crate) fn begin_slot(&mut self, now: Instant, network: &Network) {
        self.bottlenecks.begin_slot(now, network);
    }

    /// Ends a slot at `now`; `info` returns the state of the sender of each connection, if it is known.
    pub(crate) fn end_slot(
        &mut self,
        now: Instant,
        network: &Network,
        info: impl Fn(u32) -> Option<SenderInfo>,
    ) {
        let from = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for (index, tracked) in (0..).zip(&mut self.connections) {
            let (mut all, mut left) = (u64::MAX, u64::MAX);
            let is_over = tracked.record.completed_at().is_some_and(|at| at <= from);
            for &link in &tracked.links {
                let bytes = self.bottlenecks.take_connection_bytes(link, index);
                if !is_over {
                    let (link_all, link_left) = self
                        .bottlenecks
                        .capacity_bytes(link, bytes, from, now, network);
                    all = all.min(link_all);
                    left = left.min(link_left);
                }
            }
            if is_over {
                continue;
            }
            let is_outage = all == 0 || self.outages.loses_all(tracked.path, from, now);
            let capacity = if is_outage { 0 } else { left };
            let backlog = self.bottlenecks.queue(tracked.bottleneck, network);
            let mss = u64::from(tracked.record.mss());
            let bottleneck = BottleneckSlot {
                from,
                capacity: (u128::from(capacity) * u128::from(mss) / u128::from(mss + HEADERS))
                    as u64,
                queue_bytes: backlog.bytes,
                queue_packets: backlog.packets,
                is_outage,
            };
            tracked.record.end_slot(now, &bottleneck, info(index));
        }
        self.record_legs(from, now, network);
    }

    /// Records an event of a connection.
    pub(crate) fn event(&mut self, now: Instant, flow: u32, kind: &str, detail: String) {
        self.tables.events.push(EventRow {
            flow,
            t_ns: now.as_nanos(),
            kind: kind.to_owned(),
            detail,
        });
    }

    /// Ends the run at `end`, and returns all its tables but that of runs.
    pub(crate) fn finish(self, end: Instant, info: impl Fn(u32) -> Option<SenderInfo>) -> Tables {
        let mut tables = self.tables;
        for (index, mut tracked) in (0..).zip(self.connections) {
            let info = info(index);
            let undone = info.and_then(|info| info.undone);
            let meter = &tracked.record.meter;
            if let Some(row) = tracked.recoveries.end(f64::NAN, undone, meter) {
                tables.recoveries.push(row);
            }
            let lifetime = tracked.record.lifetime(end);
            let hosts = (tracked.sender, tracked.receiver);
            let outages = self.outages.rows(index, hosts, lifetime, &self.bottlenecks);
            for row in outages {
                tables.outages.push(row);
            }
            tracked.record.finish(end, info, &mut tables);
        }
        for row in self.outcomes.into_iter().flat_map(SegmentOutcomes::finish) {
            tables.fates.push(row);
        }
        tables
    }
}
