//! Middleboxes: what they may do with packets, and that the checker follows them.

use net::{
    Actions, CREATED_FROM, Checker, HostId, LinkCapacity, LinkConfig, LinkId, Network, Node,
    Observer, Packet, Topology,
};
use proptest::prelude::*;
use units::random::{Purpose, RngStream};
use units::{Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

/// A server, a gateway and a phone, 1 ms apart.
fn line() -> Topology {
    let mut topology = Topology::default();
    let nodes = ["server", "gateway", "phone"].map(|name| topology.node(name));
    for (from, to) in [(0, 1), (1, 2), (2, 1), (1, 0)] {
        let (name, rate) = (format!("{from}-{to}"), Rate::from_mbps(1e4));
        let (capacity, delay) = (LinkCapacity::Constant(rate), Duration::from_millis(1));
        topology.links.push(LinkConfig::new(
            &name,
            nodes[from],
            nodes[to],
            capacity,
            delay,
        ));
    }
    topology
}

fn lab(name: &str, node: impl Node + 'static) -> Lab {
    let mut lab = Lab::of(&line(), 1);
    lab.place(name, node);
    lab
}

/// Sends packets from the server to the phone, 10 ms apart, and runs until all is over.
fn send(mut lab: Lab, packets: u64) -> Notes {
    (0..packets).for_each(|n| lab.send_between(ms(10 * n), (0, 2), 0, 1_000));
    lab.finish(ms(1_000_000))
}

struct DropEvery(u64, u64);

impl Node for DropEvery {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        self.1 += 1;
        if self.1.is_multiple_of(self.0) {
            actions.absorb(packet.id);
        } else {
            actions.forward(packet.id);
        }
    }
}

#[test]
fn a_box_drops_every_hundredth_packet() {
    let notes = send(lab("gateway", DropEvery(100, 0)), 300);
    let lost = [99, 199, 299].map(|id| (id, HostId(1)));
    assert_eq!(
        (notes.received.len(), &notes.absorbed[..]),
        (297, &lost[..])
    );
}

/// Sends every packet twice.
struct Duplicate;

impl Node for Duplicate {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        actions.forward(packet.id);
        actions.create(*packet, None);
    }
}

#[test]
fn a_box_duplicates_packets() {
    let notes = send(lab("gateway", Duplicate), 2);
    let copies = [CREATED_FROM, CREATED_FROM + 1];
    assert_eq!(notes.order(), [0, copies[0], 1, copies[1]]);
    assert_eq!(notes.created, copies.map(|id| (id, HostId(1))));
}

/// Holds packets back until there is a pair of them, or for 7 ms.
#[derive(Default)]
struct Pairs(Vec<u64>);

impl Node for Pairs {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        self.0.push(packet.id);
        actions.call_at(actions.now() + Duration::from_millis(7));
        if self.0.len() == 2 {
            self.on_call(actions);
            actions.call_at(Instant::NEVER);
        }
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        // The latest first: a box may reorder.
        while let Some(id) = self.0.pop() {
            assert!(actions.forward(id));
            assert!(!actions.forward(id), "it has left");
        }
    }
}

#[test]
fn a_box_delays_and_reorders_packets() {
    let mut lab = lab("gateway", Pairs::default());
    for at in [0, 3, 20] {
        lab.send_between(ms(at), (0, 2), 0, 1_000);
    }
    lab.until(ms(22));
    assert_eq!(lab.network().packets_inside(), 1, "held by the box");
    let notes = lab.finish(ms(100));
    assert_eq!(notes.order(), [1, 0, 2]);
    assert_eq!(notes.arrivals_ms(), [5, 5, 29]);
}

/// Sends a packet of its own to the server every 50 ms, five times, and takes what comes for itself.
struct Beacon(u64);

impl Node for Beacon {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if self.0 == 0 {
            actions.call_at(actions.now());
        }
        actions.absorb(packet.id);
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        self.0 += 1;
        let packet = Packet {
            source: actions.node(),
            destination: HostId(0),
            size: 40,
            sent_at: actions.now(),
            ..Packet::default()
        };
        actions.create(packet, None);
        if self.0 < 5 {
            actions.call_at(actions.now() + Duration::from_millis(50));
        }
    }
}

#[test]
fn a_box_creates_packets_of_its_own() {
    let notes = send(lab("gateway", Beacon(0)), 1);
    assert_eq!(notes.arrivals_ms(), [2, 52, 102, 152, 202]);
    assert_eq!((notes.created.len(), notes.absorbed.len()), (5, 1));
}

/// Answers every packet to its sender.
struct Answer;

impl Node for Answer {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        actions.absorb(packet.id);
        let answer = Packet {
            source: packet.destination,
            destination: packet.source,
            ..*packet
        };
        actions.create(answer, None);
    }
}

#[test]
fn a_box_at_a_host_sees_what_it_sends_and_receives() {
    let sent = send(lab("server", Answer), 3);
    assert_eq!(sent.arrivals_ms(), [0, 10, 20], "delivered where it began");
    let received = send(lab("phone", Answer), 3);
    assert_eq!(received.arrivals_ms(), [4, 14, 24]);
    assert_eq!(received.order(), [0, 1, 2].map(|n| CREATED_FROM + n));
}

#[test]
fn a_packet_is_sent_from_any_node() {
    let mut plain = Lab::of(&line(), 1);
    plain.send_between(ms(0), (1, 2), 0, 1_000);
    assert_eq!(plain.finish(ms(100)).arrivals_ms(), [1]);

    let mut watched = lab("gateway", Duplicate);
    watched.send_between(ms(0), (1, 2), 0, 1_000);
    assert_eq!(watched.finish(ms(100)).arrivals_ms(), [1, 1]);
}

#[test]
fn a_box_needs_a_node() {
    let mut network = Network::new(&line(), 1).unwrap();
    let rejected = network.place("getaway", Box::new(Answer)).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        "node \"getaway\" does not exist: there are server, gateway, phone"
    );
}

/// Sends a copy of every packet, with its payload, and asks for the payload of a packet that is elsewhere.
struct Copy;

impl Node for Copy {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        assert_eq!(actions.payload(packet.id + 1), None);
        let payload = actions.payload(packet.id);
        actions.forward(packet.id);
        actions.create(*packet, payload);
    }
}

#[test]
fn a_box_reads_and_writes_payload() {
    let mut network = Network::new(&line(), 1).unwrap();
    network.place("gateway", Box::new(Copy)).unwrap();
    network.enable_contents();
    for id in 7..9 {
        let packet = Packet {
            id,
            destination: HostId(2),
            size: 1_000,
            ..Packet::default()
        };
        // Two bytes of headers.
        let bytes = [&[0xee; 2][..], &id.to_be_bytes()].concat();
        let contents = network.contents().unwrap();
        contents.insert(id, &bytes, 2);
        network.inject(ms(0), packet, &mut ());
    }
    network.advance(ms(100), &mut (), &mut Vec::new());
    let contents = network.contents().unwrap();
    for (copy, id) in (CREATED_FROM..).zip(7_u64..9) {
        assert_eq!(contents.pop(copy), Some(id.to_be_bytes().to_vec()));
        assert_eq!(contents.pop(id).map(|bytes| bytes.len()), Some(10));
    }
}

/// Passes everything on to a checker but what boxes create, absorb, or both.
struct Silent {
    checker: Checker,
    created: bool,
    absorbed: bool,
}

impl Observer for Silent {
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.checker.on_sent(at, host, packet);
    }
    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.checker.on_received(at, host, packet);
    }
    fn on_arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.checker.on_arrived(at, node, packet);
    }
    fn on_created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        if self.created {
            self.checker.on_created(at, node, packet);
        }
    }
    fn on_absorbed(&mut self, at: Instant, node: HostId, packet: &Packet) {
        if self.absorbed {
            self.checker.on_absorbed(at, node, packet);
        }
    }
    fn on_transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        self.checker.on_transmitted(link, packet, start, finish);
    }
}

/// Returns the verdict of the checker on one packet through a box that answers, if some events are not reported to it.
fn forgery(created: bool, absorbed: bool) -> String {
    let mut network = Network::new(&line(), 1).unwrap();
    network.place("gateway", Box::new(Answer)).unwrap();
    let checker = Checker::new(&line()).unwrap();
    let mut silent = Silent {
        checker,
        created,
        absorbed,
    };
    let packet = Packet {
        destination: HostId(2),
        size: 1_000,
        ..Packet::default()
    };
    network.inject(ms(0), packet, &mut silent);
    network.advance(ms(100), &mut silent, &mut Vec::new());
    let verdict = silent.checker.verify_with(&network);
    verdict.map_or_else(|violation| violation.to_string(), |()| String::new())
}

#[test]
fn a_box_that_forges_is_found() {
    assert_eq!(forgery(true, true), "");
    assert!(forgery(false, true).contains("was never sent, sent twice, or gone before"));
    assert_eq!(forgery(true, false), "1 packets should be under way, 0 are");
}

/// Does with each packet what a random number says.
struct Whim(u64, Vec<u64>);

impl Node for Whim {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        self.0 = RngStream::new(self.0, Purpose::Loss, 0).at(0);
        match self.0 >> 61 {
            0 => _ = actions.absorb(packet.id),
            1 => _ = actions.create(*packet, None),
            2 => {
                self.1.push(packet.id);
                actions.call_at(actions.now() + Duration::from_nanos(self.0 >> 40));
                return;
            }
            _ => {}
        }
        actions.forward(packet.id);
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        self.1.drain(..).for_each(|id| _ = actions.forward(id));
    }
}

proptest! {
    /// Each packet that is sent or created is received or absorbed once, whatever boxes do at any node.
    #[test]
    fn packets_are_accounted_for_whatever_boxes_do(
        seeds in prop::collection::vec(any::<u64>(), 3),
        sends in prop::collection::vec((0_u64..3, any::<bool>()), 1..100),
    ) {
        let mut lab = Lab::of(&line(), 1);
        for (name, seed) in ["server", "gateway", "phone"].into_iter().zip(seeds) {
            lab.place(name, Whim(seed, Vec::new()));
        }
        let mut at = 0;
        for &(pause, forth) in &sends {
            at += pause;
            lab.send_between(ms(at), if forth { (0, 2) } else { (2, 0) }, 0, 1_000);
        }
        let notes = lab.finish(ms(1_000_000));
        let mut ended = notes.order();
        ended.extend(notes.absorbed.iter().map(|(id, _)| id));
        ended.sort_unstable();
        let begun = (0..sends.len() as u64).chain(notes.created.iter().map(|(id, _)| *id));
        prop_assert_eq!(ended, begun.collect::<Vec<_>>());
    }
}
