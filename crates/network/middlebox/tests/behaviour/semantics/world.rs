//! Testbed: two hosts, a split host between them, and trouble on both sides of it, all drawn from a seed.

use std::sync::Arc;

use cca::{CongestionState, Settings, Window, registry};
use middlebox::{Kind, Middlebox, RunDefaults, SplitHost};
use net::{HostId, LinkCapacity, LinkConfig, Network, Packet, Topology};
use tcp::{Connection, State, Tcp, TcpConfig};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant, Rate};

use crate::semantics::hazard::{CrashingNode, Impairment};

const SERVER: HostId = HostId(0);
const PHONE: HostId = HostId(4);
/// Time after which a run is over in any case.
const END: Instant = Instant::from_nanos(3_000_000_000_000);

/// Outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Whether all data of both directions has arrived and both ends have closed.
    pub complete: bool,
    /// Whether bytes of the server, and of the phone, were acknowledged before they arrived.
    pub early_bytes: [bool; 2],
    /// Times that everything sent was acknowledged before it had arrived.
    pub early_ends: u32,
}

/// One end of the connection.
struct End {
    host: HostId,
    socket: Connection,
    /// Bytes to be written in turns, and the pauses between them.
    writes: Vec<u64>,
    pause: Duration,
    writes_at: Instant,
    total: u64,
    aborts_at: Instant,
    believed: u64,
}

pub struct Testbed {
    network: Network,
    ends: [End; 2],
    now: Instant,
    next_id: u64,
    outcome: Outcome,
}

/// Draws of one run.
struct Draws(RngStream, u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        self.0.at(self.1) % bound
    }

    fn time(&mut self, milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(self.below(1_000 * milliseconds))
    }

    /// Returns a time with the chance of one in `of`, and never otherwise.
    fn rare_time(&mut self, of: u64, milliseconds: u64) -> Instant {
        if self.below(of) == 0 {
            self.time(milliseconds)
        } else {
            Instant::NEVER
        }
    }
}

/// Lets the link behind the split host be interrupted in half of the worlds of kinds that are notified of it.
fn interrupt(topology: &mut Topology, kind: Kind, seed: u64) {
    let mut dice = Draws(RngStream::new(seed, Purpose::GeneratedOutage, 0), 0);
    let link = topology.links.iter_mut().find(|link| link.name == "2-3");
    let is_notified = matches!(kind, Kind::As | Kind::MtcpPlus);
    let (Some(link), true) = (link, is_notified && dice.below(2) == 0) else {
        return;
    };
    let LinkCapacity::Constant(rate) = link.capacity else {
        return;
    };
    let mut at = Duration::from_millis(dice.below(2_000));
    let mut steps = vec![(Duration::ZERO, rate)];
    for _ in 0..=dice.below(3) {
        at += Duration::from_millis(1 + dice.below(1_000));
        steps.push((at, Rate::ZERO));
        at += Duration::from_millis(1 + dice.below(3_000));
        steps.push((at, rate));
    }
    link.capacity = LinkCapacity::steps(&steps).unwrap();
}

impl Testbed {
    /// Creates the world of a seed. Only with `fatal` may ends be reset and the split host be killed.
    pub fn new(kind: Kind, seed: u64, fatal: bool) -> Self {
        let mut dice = Draws(RngStream::new(seed, Purpose::Workload, 0), 0);
        let mut topology = Topology::default();
        let names = ["server", "left", "gateway", "right", "phone"];
        let nodes = names.map(|name| topology.node(name));
        for pair in 0..4 {
            let rate = Rate::from_mbps(1.0 + dice.below(60) as f64);
            let delay = Duration::from_micros(dice.below(40_000));
            for (from, to) in [(pair, pair + 1), (pair + 1, pair)] {
                let name = format!("{from}-{to}");
                let capacity = LinkCapacity::Constant(rate);
                let link = LinkConfig::new(&name, nodes[from], nodes[to], capacity, delay);
                topology.links.push(link);
            }
        }
        interrupt(&mut topology, kind, seed);
        let mut network = Network::new(&topology, seed).unwrap();
        for (number, name) in [(0, "left"), (1, "right")] {
            let shares = [40, 20, 60].map(|most| dice.below(most));
            let start = dice.rare_time(2, 3_000);
            let outage = (
                start,
                if start == Instant::NEVER {
                    start
                } else {
                    start + Duration::from_millis(dice.below(4_000))
                },
            );
            let trouble = Impairment::new(seed, number, shares, outage);
            network.place(name, Box::new(trouble)).unwrap();
        }
        let ccas = ["reno", "cubic", "bbr"];
        let name = ccas[dice.below(3) as usize];
        let build = move || {
            registry::find(name)
                .unwrap()
                .build(&Settings::new())
                .unwrap()
        };
        let (timestamps, sack) = (dice.below(4) > 0, dice.below(4) > 0);
        let own = Tcp {
            timestamps,
            delayed_ack: dice.below(4) > 0,
            ..Tcp::default()
        };
        let tcp = TcpConfig { sack, ..own.into() };
        let settings = Middlebox {
            kind,
            buffer: Bytes::new(3_000 + dice.below(300_000)),
            reserve: (kind == Kind::Es).then(|| 2 + dice.below(3) as u32),
            ..Middlebox::default()
        };
        let environment = RunDefaults {
            tcp: tcp.clone(),
            cca: Arc::new(move |_, _| build()),
            seed,
        };
        let dies_at = dice.rare_time(3, 3_000);
        let mortal = CrashingNode {
            host: SplitHost::new(&settings, environment),
            dies_at: if fatal { dies_at } else { Instant::NEVER },
            then_routes: dice.below(2) == 0,
        };
        network.place("gateway", Box::new(mortal)).unwrap();
        let far_ack_kind = settings.far_ack_kind();
        let ends = [SERVER, PHONE].map(|host| {
            let draws = RngStream::new(seed, Purpose::CongestionControl, host.0);
            let congestion = CongestionState::new(Window::new(1448, 10, draws), build());
            let turns = 1 + dice.below(4);
            let most = if host == SERVER { 400_000 } else { 20_000 };
            let writes: Vec<u64> = (0..turns).map(|_| 1 + dice.below(most)).collect();
            let aborts_at = dice.rare_time(4, 4_000);
            let [iss, clock] = [(); 2].map(|()| dice.below(1 << 32) as u32);
            let mut socket = Connection::new(tcp.clone(), congestion, iss, clock);
            if let Some(kind) = far_ack_kind.filter(|_| host == SERVER) {
                socket.accept_far_acks(kind);
            }
            End {
                host,
                socket,
                total: writes.iter().sum(),
                writes,
                pause: Duration::from_micros(dice.below(600_000)),
                writes_at: Instant::NEVER,
                aborts_at: if fatal { aborts_at } else { Instant::NEVER },
                believed: 0,
            }
        });
        Self {
            network,
            ends,
            now: Instant::ZERO,
            next_id: 0,
            outcome: Outcome::default(),
        }
    }

    pub fn run(mut self) -> Outcome {
        self.ends[0].socket.listen();
        self.ends[1].socket.connect(self.now);
        self.flush(1);
        while !self.is_over() {
            let times = self
                .ends
                .iter()
                .flat_map(|end| [end.socket.deadline(), end.writes_at, end.aborts_at]);
            let next = times.fold(self.network.next_event(), Instant::min);
            if next > END {
                break;
            }
            self.now = next;
            let mut arrived = Vec::new();
            self.network.advance(next, &mut (), &mut arrived);
            for delivery in arrived {
                let end = usize::from(delivery.host == PHONE);
                let socket = &mut self.ends[end].socket;
                socket.on_segment(next, delivery.packet.segment().unwrap());
                self.after(end);
            }
            for end in 0..2 {
                let socket = &mut self.ends[end].socket;
                if socket.deadline() <= next {
                    socket.on_deadline(next);
                }
                if self.ends[end].aborts_at <= next {
                    self.ends[end].aborts_at = Instant::NEVER;
                    self.ends[end].socket.abort(next);
                }
                self.after(end);
            }
            self.look();
        }
        let done = |end: usize| {
            let (own, other) = (&self.ends[end], &self.ends[1 - end]);
            own.socket.received() == other.total && own.socket.has_ended()
        };
        self.outcome.complete = done(0) && done(1);
        self.outcome
    }

    fn is_over(&self) -> bool {
        let closed = |end: &End| matches!(end.socket.state(), State::Closed | State::TimeWait);
        self.ends.iter().all(closed) && self.network.packets_inside() == 0
    }

    /// Lets an end write and close, and sends what it has.
    fn after(&mut self, end: usize) {
        let now = self.now;
        let this = &mut self.ends[end];
        let open = matches!(this.socket.state(), State::Established | State::CloseWait);
        if open && this.writes_at == Instant::NEVER && !this.writes.is_empty() {
            this.writes_at = now;
        }
        if open && this.writes_at <= now {
            let wanted = this.writes[0];
            let taken = this.socket.write(now, wanted);
            this.writes[0] -= taken;
            this.writes_at = now + Duration::from_millis(5);
            if this.writes[0] == 0 {
                this.writes.remove(0);
                this.writes_at = now + this.pause;
            }
            if this.writes.is_empty() {
                this.socket.close(now);
                this.writes_at = Instant::NEVER;
            }
        } else if !open {
            this.writes_at = Instant::NEVER;
        }
        self.flush(end);
    }

    fn flush(&mut self, end: usize) {
        let this = &mut self.ends[end];
        let (source, destination) = (this.host, if end == 0 { PHONE } else { SERVER });
        while let Some(segment) = this.socket.poll_transmit() {
            let packet = Packet {
                id: self.next_id,
                source,
                destination,
                size: segment.ip_len(),
                payload: segment.into(),
                sent_at: self.now,
                ..Packet::default()
            };
            self.next_id += 1;
            self.network.inject(self.now, packet, &mut ());
        }
    }

    /// Compares what senders believe with what has arrived.
    fn look(&mut self) {
        for end in 0..2 {
            let received = self.ends[1 - end].socket.received();
            let this = &mut self.ends[end];
            if matches!(this.socket.state(), State::Listen | State::SynSent) {
                continue;
            }
            let acknowledged = this.socket.delivered();
            if acknowledged <= received {
                continue;
            }
            self.outcome.early_bytes[end] = true;
            let all = this.socket.view().packets_out == 0;
            if all && acknowledged > this.believed {
                this.believed = acknowledged;
                self.outcome.early_ends += 1;
            }
        }
    }
}
