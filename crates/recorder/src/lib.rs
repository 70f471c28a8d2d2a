//! Watches a path and fills the tables of results: the same for every engine.

mod observed_path;
mod radio;
mod tap;

use ::radio::ran::{ConnectionEvent, TtiRecord, UserId};
use cca::{CaState, SenderView, Takeover};
use net::{HostId, Kind, LinkId, Network, Observer, Packet};
use path::Access;
use record::{
    Ack, DecisionRow, EstimateRow, EventRow, FlowRow, Meter, Performance, SampleRow, SlotCounts,
    SlotInput, SlotRow, Tables, Weights,
};
use tcp::{Flags, Unwrapper};
use units::{Duration, Instant, Rate};

pub use observed_path::{Capture, Engine, ObservationError, ObservedPath, Options};

/// What is measured of one connection.
#[derive(Debug)]
struct Watched {
    name: String,
    ue: String,
    cca: String,
    hosts: (HostId, HostId),
    /// The link that limits it, by its number among the bottlenecks.
    bottleneck: usize,
    mss: u32,
    /// Sequence numbers of its data.
    stream: Unwrapper,
    meter: Meter,
    requested: Instant,
    completed: Option<Instant>,
    state: CaState,
    timeouts: Option<u64>,
    /// Bytes of this connection that its bottleneck carried in the slot, at the IP layer.
    carried: u64,
    timeouts_by_slot: BySlot,
    loss_probes_by_slot: BySlot,
    pending: Vec<Pending>,
}

/// Counter of a sender at the end of the last slot; `None` where the engine does not tell.
#[derive(Debug)]
struct BySlot(Option<u64>);

impl BySlot {
    /// Ends a slot: returns what the counter gained in it; NaN if it is not known at both ends.
    fn end_slot(&mut self, now: Option<u64>) -> f64 {
        let before = core::mem::replace(&mut self.0, now);
        now.zip(before)
            .map_or(f64::NAN, |(now, before)| now.saturating_sub(before) as f64)
    }
}

/// A slot whose PM waits for the lowest RTT of the connection.
#[derive(Debug)]
struct Pending {
    counts: SlotCounts,
    capacity: u64,
    oldest_age: Option<Duration>,
    row: SlotRow,
}

/// One direction of the access link of the phone or another UE.
#[derive(Clone, Copy, Debug)]
struct Bottleneck {
    link: LinkId,
    /// Capacity of the present slot, of the radio of the last one, bit/s.
    capacity_bps: u64,
    /// Bytes of all that it carried in the slot, at the IP layer.
    carried: u64,
}

/// The observer that measures.
#[derive(Debug)]
pub struct Recorder {
    slot: Duration,
    watched: Vec<Watched>,
    /// The host of each UE, which has two bottlenecks.
    ues: Vec<HostId>,
    bottlenecks: Vec<Bottleneck>,
    /// Whether TTIs of the radio are kept.
    log_radio: bool,
    /// The tables; those of flows and slots are filled at the end.
    pub(crate) tables: Tables,
}

/// A new connection as the recorder needs to know it.
#[derive(Debug)]
pub struct Introduction {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Node that receives.
    pub ue: String,
    /// Congestion control, by the kernel's name.
    pub cca: String,
    /// Where data come from, and where they go.
    pub hosts: (HostId, HostId),
    /// The host of the two that opens the connection.
    pub opener: HostId,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Number of the flow in the scenario.
    pub flow: usize,
}

impl Recorder {
    /// Slots of that length; both directions of the access link of each UE, the phone's first; whether
    /// TTIs of the radio are kept.
    pub fn new(slot: Duration, access: &[Access], log_radio: bool) -> Self {
        let links = access.iter().flat_map(|access| [access.down, access.up]);
        let bottleneck = |link| Bottleneck {
            link,
            capacity_bps: 0,
            carried: 0,
        };
        Self {
            slot,
            watched: Vec::new(),
            bottlenecks: links.map(bottleneck).collect(),
            ues: access.iter().map(|access| access.ue).collect(),
            log_radio,
            tables: Tables::default(),
        }
    }

    /// How many connections have been requested.
    pub fn connections(&self) -> u32 {
        self.watched.len() as u32
    }

    /// The host that sends the data of a connection.
    pub fn sender(&self, connection: u32) -> HostId {
        self.watched[connection as usize].hosts.0
    }

    /// The congestion control `to` has taken over a connection, whose window was `cwnd` segments then.
    pub fn switched(&mut self, now: Instant, connection: u32, to: &str, how: Takeover, cwnd: u32) {
        let detail = match how {
            Takeover::Kernel => format!("{to} kernel"),
            Takeover::Context => format!("{to} context cwnd {cwnd}"),
        };
        self.event(now, connection, "switch", detail);
    }

    /// Records a figure of an application as an event: its name is the kind, its value the detail.
    pub fn figure(&mut self, now: Instant, connection: u32, name: &str, value: f64) {
        self.event(now, connection, name, value.to_string());
    }

    /// A selector has chosen a congestion control.
    pub fn decided(&mut self, decision: DecisionRow) {
        self.tables.decisions.push(decision);
    }

    /// What a selector sees.
    pub fn estimated(&mut self, estimate: EstimateRow) {
        self.tables.estimates.push(estimate);
    }

    /// What waits at a bottleneck, bytes, and its capacity in the present slot, bit/s.
    pub(crate) fn truth(&self, uplink: bool, network: &Network) -> (u64, u64) {
        let index = usize::from(uplink);
        let backlog = network.queue(self.bottlenecks[index].link);
        (backlog.bytes, self.bottlenecks[index].capacity_bps)
    }

    /// Towards the UE that receives, or from the one that sends; in doubt that of the phone.
    fn bottleneck_of(&self, (sender, receiver): (HostId, HostId)) -> usize {
        let ue = |host| self.ues.iter().position(|ue| *ue == host);
        match (ue(receiver), ue(sender)) {
            (Some(ue), _) => 2 * ue,
            (None, Some(ue)) => 2 * ue + 1,
            (None, None) => 0,
        }
    }

    /// A connection is requested.
    pub fn open(&mut self, now: Instant, new: Introduction) {
        let flow = self.watched.len() as u32;
        self.event(now, flow, "open", new.cca.clone());
        self.watched.push(Watched {
            name: new.name,
            ue: new.ue,
            cca: new.cca,
            hosts: new.hosts,
            bottleneck: self.bottleneck_of(new.hosts),
            mss: new.mss,
            stream: Unwrapper::default(),
            meter: Meter::default(),
            requested: now,
            completed: None,
            state: CaState::Open,
            timeouts: None,
            carried: 0,
            timeouts_by_slot: BySlot(Some(0)),
            loss_probes_by_slot: BySlot(Some(0)),
            pending: Vec::new(),
        });
    }

    /// Payload was delivered in order to the application.
    pub fn delivered(&mut self, now: Instant, connection: u32, bytes: u64) {
        self.watched[connection as usize]
            .meter
            .data_delivered(now, bytes);
    }

    /// The last byte of a finite transfer was received.
    pub fn complete(&mut self, now: Instant, connection: u32) {
        self.watched[connection as usize].completed = Some(now);
        self.event(now, connection, "complete", String::new());
    }

    /// The sender has worked on something: notes changes of state.
    pub fn sender_changed(&mut self, now: Instant, connection: u32, view: &SenderView) {
        let watched = &mut self.watched[connection as usize];
        if view.ca_state != watched.state {
            watched.state = view.ca_state;
            self.event(now, connection, "state", view.ca_state.name().to_owned());
        }
        let watched = &mut self.watched[connection as usize];
        if view.slow_start_exit.is_some() {
            watched.meter.slow_start_left();
        }
        if view.timeouts > watched.timeouts.or(Some(0)) {
            watched.timeouts = view.timeouts;
            self.event(now, connection, "timeout", format!("rto {}", view.rto));
        }
    }

    /// An ACK was worked on.
    pub fn acked(&mut self, connection: u32, srtt: Duration) {
        self.watched[connection as usize].meter.srtt.push(srtt);
    }

    /// Records the state of a sender.
    pub fn sample(&mut self, now: Instant, connection: u32, view: &SenderView, network: &Network) {
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
            queue_bytes: network.queue(self.bottlenecks[bottleneck].link).bytes,
            capacity_bps: self.bottlenecks[bottleneck].capacity_bps,
        });
    }

    /// A slot begins. The capacity of a wire is known, whatever will be sent; of the radio, that of the
    /// slot before is.
    pub(crate) fn begin_slot(&mut self, now: Instant, network: &Network) {
        let before = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for bottleneck in &mut self.bottlenecks {
            let from = if network.foresees(bottleneck.link) {
                now
            } else {
                before
            };
            let bytes = network.capacity_bytes(bottleneck.link, from, from + self.slot);
            bottleneck.capacity_bps = Rate::of(bytes, self.slot).bits_per_second();
        }
    }

    /// A slot ends at `now`; `view` shows the sender of each connection, where it has shown itself.
    pub fn end_slot(
        &mut self,
        now: Instant,
        network: &Network,
        view: impl Fn(u32) -> Option<SenderView>,
    ) {
        let from = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for (connection, watched) in (0..).zip(&mut self.watched) {
            let carried = core::mem::take(&mut watched.carried);
            if watched.completed.is_some_and(|at| at <= from) {
                continue;
            }
            let sender = view(connection).unwrap_or_default();
            let timeouts = watched.timeouts_by_slot.end_slot(sender.timeouts);
            let loss_probes = watched.loss_probes_by_slot.end_slot(sender.loss_probes);
            if watched.meter.first_data.is_none() {
                continue;
            }
            let bottleneck = self.bottlenecks[watched.bottleneck];
            let capacity = network.capacity_bytes(bottleneck.link, from, now).get();
            let for_us = capacity.saturating_sub(bottleneck.carried - carried);
            // Payload share of a full packet with timestamps.
            let full = u64::from(watched.mss) + 52;
            let capacity_payload = for_us * u64::from(watched.mss) / full;
            let counts = watched.meter.end_slot();
            let backlog = network.queue(bottleneck.link);
            let mbps = |bytes: u64| Rate::of(units::Bytes::new(bytes), self.slot).as_mbps();
            let mean_ms = |(sum, count): (Duration, u64)| {
                if count == 0 {
                    f64::NAN
                } else {
                    sum.as_secs_f64() * 1e3 / count as f64
                }
            };
            let row = SlotRow {
                flow: connection,
                t_s: from.as_secs_f64(),
                delivered_bytes: counts.delivered,
                goodput_mbps: mbps(counts.delivered),
                rate_mbps: mbps(counts.arrived),
                capacity_mbps: mbps(capacity_payload),
                rtt_mean_ms: mean_ms(counts.rtt),
                owd_mean_ms: mean_ms(counts.one_way),
                retransmissions: counts.retransmissions,
                cwnd: sender.cwnd,
                inflight: sender.inflight,
                queue_bytes: backlog.bytes,
                queue_packets: backlog.packets,
                a: f64::NAN,
                b: f64::NAN,
                c: f64::NAN,
                pm_balanced: f64::NAN,
                pm_delay: f64::NAN,
                segments: counts.segments,
                duplicate_acks: counts.duplicate_acks,
                timeouts,
                loss_probes,
                rtt_increment_mean_ms: counts.increments.mean_ms(),
                rtt_increment_max_ms: counts.increments.largest_ms(),
            };
            let oldest_age = watched.meter.oldest_age(now);
            watched.pending.push(Pending {
                counts,
                capacity: capacity_payload,
                oldest_age,
                row,
            });
        }
        for bottleneck in &mut self.bottlenecks {
            bottleneck.carried = 0;
        }
    }

    fn event(&mut self, now: Instant, flow: u32, kind: &str, detail: String) {
        let t_ns = now.as_nanos();
        self.tables.events.push(EventRow {
            flow,
            t_ns,
            kind: kind.to_owned(),
            detail,
        });
    }

    /// The tables but for that of runs, once the run has ended.
    pub fn finish(self, end: Instant, view: impl Fn(u32) -> Option<SenderView>) -> Tables {
        let mut tables = self.tables;
        for (connection, mut watched) in (0..).zip(self.watched) {
            let mut pm = [(0.0, 0_u64); 2];
            for pending in core::mem::take(&mut watched.pending) {
                tables
                    .slots
                    .push(with_performance(&watched, self.slot, pending, &mut pm));
            }
            let last = view(connection).unwrap_or_default();
            tables
                .flows
                .push(summary(connection, watched, end, &last, pm));
        }
        tables
    }
}

/// Fills in PM, which needs the lowest RTT of the whole connection.
fn with_performance(
    watched: &Watched,
    slot: Duration,
    pending: Pending,
    pm: &mut [(f64, u64); 2],
) -> SlotRow {
    let Pending {
        counts,
        capacity,
        oldest_age,
        mut row,
    } = pending;
    let (sum, count) = counts.rtt;
    let performance = Performance::of(&SlotInput {
        slot,
        delivered: counts.delivered,
        capacity,
        lowest_rtt: watched.meter.rtt.lowest(),
        mean_rtt: (count > 0).then(|| sum / count),
        oldest_age,
        retransmitted: counts.retransmissions * u64::from(watched.mss),
    });
    let parts = performance.parts();
    [row.a, row.b, row.c] = parts;
    for (total, (weights, value)) in pm.iter_mut().zip([
        (Weights::BALANCED, &mut row.pm_balanced),
        (Weights::DELAY, &mut row.pm_delay),
    ]) {
        *value = weights.pm(parts);
        if !value.is_nan() {
            total.0 += *value;
            total.1 += 1;
        }
    }
    row
}

fn summary(
    connection: u32,
    mut watched: Watched,
    end: Instant,
    view: &SenderView,
    pm: [(f64, u64); 2],
) -> FlowRow {
    let meter = &mut watched.meter;
    let first = meter.first_data;
    let last = watched.completed.unwrap_or(end);
    let duration = first.map_or(Duration::ZERO, |first| last.saturating_since(first));
    let mean = |(sum, count): (f64, u64)| {
        if count == 0 {
            f64::NAN
        } else {
            sum / count as f64
        }
    };
    let (rtt_mean_ms, rtt_min_ms) = (meter.rtt.mean_ms(), meter.rtt.lowest_ms());
    let count = |told: Option<u64>| told.map_or(f64::NAN, |count| count as f64);
    let exit = view.slow_start_exit.zip(first);
    FlowRow {
        flow: connection,
        name: watched.name,
        ue: watched.ue,
        cca: watched.cca,
        start_s: watched.requested.as_secs_f64(),
        first_data_s: first.map_or(f64::NAN, Instant::as_secs_f64),
        duration_s: duration.as_secs_f64(),
        completion_s: watched.completed.map_or(f64::NAN, |at| {
            at.saturating_since(watched.requested).as_secs_f64()
        }),
        bytes: meter.delivered,
        goodput_mbps: Rate::of(units::Bytes::new(meter.delivered), duration).as_mbps(),
        rtt_mean_ms,
        rtt_p95_ms: meter.rtt.percentile_ms(95),
        rtt_min_ms,
        owd_mean_ms: meter.one_way.mean_ms(),
        owd_p95_ms: meter.one_way.percentile_ms(95),
        owd_min_ms: meter.one_way.lowest_ms(),
        induced_delay_ms: rtt_mean_ms - rtt_min_ms,
        srtt_mean_ms: meter.srtt.mean_ms(),
        segments: meter.segments,
        retransmissions: meter.retransmissions,
        timeouts: count(view.timeouts),
        loss_probes: count(view.loss_probes),
        recoveries: count(view.fast_recoveries),
        undone: count(view.undone),
        slow_start_exit_s: exit.map_or(f64::NAN, |((at, _), first)| {
            at.saturating_since(first).as_secs_f64()
        }),
        slow_start_exit_cwnd: exit.map_or(f64::NAN, |((_, cwnd), _)| f64::from(cwnd)),
        pm_balanced: mean(pm[0]),
        pm_delay: mean(pm[1]),
        duplicate_acks: meter.duplicate_acks,
        slow_start_bytes: count(meter.sent_before_exit()),
        rtt_increment_mean_ms: meter.increments.mean_ms(),
        rtt_increment_max_ms: meter.increments.largest_ms(),
    }
}

impl Observer for Recorder {
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let watched = &mut self.watched[packet.flow as usize];
        let segment = &packet.segment;
        if host != watched.hosts.0 || segment.len == 0 {
            return;
        }
        let seq = watched.stream.segment(segment.seq);
        watched.meter.data_sent(at, seq, segment.len);
    }

    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let watched = &mut self.watched[packet.flow as usize];
        let segment = &packet.segment;
        if host == watched.hosts.1 && segment.len > 0 {
            watched.meter.data_arrived(at, packet.sent_at, packet.size);
        } else if host == watched.hosts.0
            && segment.flags.contains(Flags::ACK)
            && let Some(ack) = watched.stream.acknowledgement(segment.ack)
        {
            let edge = |wire| watched.stream.acknowledgement(wire);
            let sacks = segment.sack.as_slice().iter();
            let sacks = sacks.filter_map(|&(left, right)| Some((edge(left)?, edge(right)?)));
            let connects = segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::FIN);
            let ack = Ack {
                number: ack,
                window: segment.window,
                bare: segment.len == 0 && !connects,
            };
            watched.meter.ack_arrived(at, ack, sacks);
        }
    }

    fn transmitted(&mut self, link: LinkId, packet: &Packet, _: Instant, _: Instant) {
        let Some(index) = self.bottlenecks.iter().position(|b| b.link == link) else {
            return;
        };
        self.bottlenecks[index].carried += u64::from(packet.size);
        if packet.kind == Kind::Tcp {
            let watched = &mut self.watched[packet.flow as usize];
            if watched.bottleneck == index {
                watched.carried += u64::from(packet.size);
            }
        }
    }

    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        if self.log_radio {
            self.tables.radio.push(radio::row(at, record));
        }
    }

    fn connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let (kind, detail) = radio::event(event);
        let ue = self.ues.get(user as usize).copied();
        for connection in 0..self.watched.len() {
            let watched = &self.watched[connection];
            let concerns = Some(watched.hosts.0) == ue || Some(watched.hosts.1) == ue;
            if concerns && watched.completed.is_none() {
                self.event(at, connection as u32, kind, detail.clone());
            }
        }
    }
}
