//! A bench to put links on.

use net::{
    Backlog, Checker, DropReason, HostId, LinkCapacity, LinkConfig, LinkId, Network, Node,
    Observer, Packet, Payload, Topology,
};
use tcp::{Ecn, Segment};
use units::{Duration, Instant, Rate};

pub fn ms(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Everything that was seen, in order.
#[derive(Default)]
pub struct Notes {
    /// Identity and time.
    pub received: Vec<(u64, Instant)>,
    pub created: Vec<(u64, HostId)>,
    pub absorbed: Vec<(u64, HostId)>,
    pub dropped: Vec<(u64, DropReason)>,
    pub marked: Vec<u64>,
    /// Packet, start and finish of transmissions.
    pub transmitted: Vec<(Packet, Instant, Instant)>,
    pub longest_backlog: u64,
}

impl Observer for Notes {
    fn on_received(&mut self, at: Instant, _: HostId, packet: &Packet) {
        self.received.push((packet.id, at));
    }
    fn on_created(&mut self, _: Instant, node: HostId, packet: &Packet) {
        self.created.push((packet.id, node));
    }
    fn on_absorbed(&mut self, _: Instant, node: HostId, packet: &Packet) {
        self.absorbed.push((packet.id, node));
    }
    fn on_enqueued(&mut self, _: Instant, _: LinkId, _: &Packet, backlog: Backlog) {
        self.longest_backlog = self.longest_backlog.max(backlog.packets);
    }
    fn on_dropped(&mut self, _: Instant, _: LinkId, packet: &Packet, reason: DropReason) {
        self.dropped.push((packet.id, reason));
    }
    fn on_marked(&mut self, _: Instant, _: LinkId, packet: &Packet) {
        self.marked.push(packet.id);
    }
    fn on_transmitted(&mut self, _: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        self.transmitted.push((*packet, start, finish));
    }
}

impl Notes {
    pub fn arrivals_ms(&self) -> Vec<u64> {
        self.received
            .iter()
            .map(|(_, at)| at.since_start().as_millis())
            .collect()
    }

    pub fn order(&self) -> Vec<u64> {
        self.received.iter().map(|&(id, _)| id).collect()
    }

    /// Time from sending to the start of transmission, of packets transmitted from `from` on.
    pub fn mean_wait(&self, from: Instant, of: impl Fn(&Packet) -> bool) -> Duration {
        let counted = self
            .transmitted
            .iter()
            .filter(|(p, start, _)| *start >= from && of(p));
        let waits: Vec<u64> = counted
            .map(|(p, start, _)| (*start - p.sent_at).as_nanos())
            .collect();
        assert!(!waits.is_empty(), "nothing was transmitted");
        Duration::from_nanos(waits.iter().sum::<u64>() / waits.len() as u64)
    }
}

/// Two hosts, a link that is looked at and a fast one back.
pub struct Lab {
    network: Network,
    watch: (Notes, Checker),
    next_id: u64,
    pub ecn: Ecn,
    /// Whether packets are of another protocol than TCP.
    pub other: bool,
}

pub const LINK: LinkId = LinkId(0);

pub fn topology(capacity: LinkCapacity, change: impl FnOnce(&mut LinkConfig)) -> Topology {
    let mut topology = Topology::default();
    let (a, b) = (topology.node("a"), topology.node("b"));
    let mut there = LinkConfig::new("there", a, b, capacity, Duration::ZERO);
    change(&mut there);
    let fast = LinkCapacity::Constant(Rate::from_mbps(1e4));
    topology.links = vec![there, LinkConfig::new("back", b, a, fast, Duration::ZERO)];
    topology
}

impl Lab {
    pub fn new(capacity: LinkCapacity, change: impl FnOnce(&mut LinkConfig)) -> Self {
        Self::of(&topology(capacity, change), 1)
    }

    pub fn of(topology: &Topology, seed: u64) -> Self {
        let network = Network::new(topology, seed).unwrap();
        let watch = (Notes::default(), Checker::new(topology).unwrap());
        Self {
            network,
            watch,
            next_id: 0,
            ecn: Ecn::NotEct,
            other: false,
        }
    }

    /// Places a middlebox at the node called `name`.
    pub fn place(&mut self, name: &str, node: impl Node + 'static) {
        self.network.place(name, Box::new(node)).unwrap();
    }

    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Drops and marks so far.
    pub fn signals(&self) -> usize {
        self.watch.0.dropped.len() + self.watch.0.marked.len()
    }

    pub fn until(&mut self, end: Instant) {
        let mut deliveries = Vec::new();
        while self.network.next_event() <= end && self.network.next_event() != Instant::NEVER {
            let next = self.network.next_event();
            self.network.advance(next, &mut self.watch, &mut deliveries);
        }
    }

    /// Sends a packet of `size` bytes at `at` from one host to another; identities count from zero.
    pub fn send_between(&mut self, at: Instant, ends: (u32, u32), flow: u32, size: u32) {
        let packet = self.packet(at, ends, flow, size);
        self.network.inject(at, packet, &mut self.watch);
    }

    /// The next packet, at a time that the network has reached.
    fn packet(&mut self, at: Instant, ends: (u32, u32), flow: u32, size: u32) -> Packet {
        if at > Instant::ZERO {
            self.until(Instant::from_nanos(at.as_nanos() - 1));
        }
        self.next_id += 1;
        Packet {
            id: self.next_id - 1,
            flow,
            source: HostId(ends.0),
            destination: HostId(ends.1),
            size,
            payload: if self.other {
                Payload::Other { ecn: self.ecn }
            } else {
                Payload::Tcp(Segment {
                    ecn: self.ecn,
                    ..Segment::default()
                })
            },
            sent_at: at,
        }
    }

    pub fn send(&mut self, at: Instant, size: u32) {
        self.send_between(at, (0, 1), 0, size);
    }

    /// Runs on until `end` and hands out what was seen, after the checker has agreed.
    #[track_caller]
    pub fn finish(mut self, end: Instant) -> Notes {
        self.until(end);
        let (notes, checker) = self.watch;
        if let Err(violation) = checker.verify_with(&self.network) {
            panic!("{violation}");
        }
        notes
    }
}
