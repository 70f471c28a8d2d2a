//! Behaviour of sessions: any IP packet passes the path whole, is lost with a count, or is rejected.

mod changes;

use std::collections::HashMap;
use std::path::Path;

use etherparse::PacketBuilder;
use live::{Arrival, Departure, Session};
use net::HostId;
use network_builder::Traces;
use packet::addressing::{address, address_v6};
use scenario::Scenario;
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

const SERVER: HostId = HostId(0);

fn loaded(text: &str) -> (Scenario, Traces) {
    let scenario = Scenario::from_toml(text, "test", &[]).unwrap();
    let traces = Traces::load(&scenario, Path::new(".")).unwrap();
    (scenario, traces)
}

fn session(text: &str, seed: u64) -> Session {
    let (scenario, traces) = loaded(text);
    Session::new(&scenario, &traces, seed, "cubic", "6.18").unwrap()
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns a packet between two hosts: of both versions of IP, of UDP, TCP, ICMP or ESP, with ports and length drawn.
fn random_packet(draw: &mut RngStream, from: HostId, to: HostId) -> Vec<u8> {
    let mut below = |bound: u64| draw.uniform_u64(bound);
    let payload: Vec<u8> = (0..below(1_400)).map(|_| below(256) as u8).collect();
    let ports = [1 + below(65_535) as u16, 1 + below(65_535) as u16];
    let (kind, sequence) = (below(8), below(1 << 32) as u32);
    let v4 = PacketBuilder::ipv4(address(from.0).octets(), address(to.0).octets(), 64);
    let v6 = PacketBuilder::ipv6(address_v6(from.0).octets(), address_v6(to.0).octets(), 64);
    let mut bytes = Vec::new();
    let written = match kind {
        0 => v4.udp(ports[0], ports[1]).write(&mut bytes, &payload),
        1 => v6.udp(ports[0], ports[1]).write(&mut bytes, &payload),
        2 => v4
            .tcp(ports[0], ports[1], sequence, 100)
            .write(&mut bytes, &payload),
        3 => v6
            .tcp(ports[0], ports[1], sequence, 100)
            .write(&mut bytes, &payload),
        4 => v4
            .tcp(ports[0], ports[1], sequence, 100)
            .syn()
            .write(&mut bytes, &[]),
        5 => v4.icmpv4_echo_request(1, 2).write(&mut bytes, &payload),
        6 => v6.icmpv6_echo_request(1, 2).write(&mut bytes, &payload),
        // ESP (RFC 4303).
        _ => v4.write(&mut bytes, 50.into(), &payload),
    };
    written.unwrap();
    bytes
}

/// Packets of a run.
#[derive(PartialEq, Debug)]
struct Played {
    departures: Vec<Departure>,
    sent: HashMap<u64, Vec<u8>>,
    lost: u64,
}

/// Plays random packets in both directions.
fn play(text: &str, seed: u64) -> Played {
    let mut session = session(text, seed);
    let phone = session.host("phone").unwrap();
    let mut draw = RngStream::new(seed, Purpose::StartJitter, 0);
    let (mut departures, mut sent) = (Vec::new(), HashMap::new());
    let mut now = Instant::ZERO;
    let collect = |session: &mut Session, departures: &mut Vec<_>| {
        while let Some(departure) = session.next_departure() {
            departures.push(departure);
        }
    };
    for _ in 0..1_000 {
        now += Duration::from_micros(draw.uniform_u64(2_000));
        session.advance(now).unwrap();
        let (from, to) = if draw.uniform_u64(2) == 0 {
            (SERVER, phone)
        } else {
            (phone, SERVER)
        };
        let bytes = random_packet(&mut draw, from, to);
        match session.arrive(now, from, &bytes) {
            Arrival::Sent(packet) => assert_eq!(sent.insert(packet, bytes), None),
            rejected => panic!("{rejected:?}"),
        }
        collect(&mut session, &mut departures);
    }
    session.advance(now + Duration::from_secs(10)).unwrap();
    collect(&mut session, &mut departures);
    let lost = session.traffic().map(|(_, traffic)| traffic.lost).sum();
    Played {
        departures,
        sent,
        lost,
    }
}

const LOSSY: &str = "duration = \"30s\"\n[path]\nrtt = \"40ms\"\nbuffer = \"30kB\"\nloss = 0.02\n\
                     [path.down]\nrate = \"5Mbps\"\n[path.up]\nrate = \"2Mbps\"\n";
/// A drive through NR cells.
const NR: &str = include_str!("../../../../../python/celltcp/library/nr/sub6-drive.toml");

#[test]
fn every_packet_arrives_as_it_was_sent_or_is_counted_as_lost() {
    for (text, seed) in [(LOSSY, 1), (LOSSY, 2), (NR, 3)] {
        let played = play(text, seed);
        assert!(text == NR || played.lost > 0);
        let arrived = played.departures.len() as u64;
        assert_eq!(arrived + played.lost, played.sent.len() as u64);
        for departure in &played.departures {
            assert_eq!(played.sent[&departure.packet], departure.bytes);
        }
        assert!(played.departures.is_sorted_by_key(|departure| departure.at));
    }
}

#[test]
fn the_same_arrivals_depart_the_same_again() {
    for text in [LOSSY, NR] {
        assert_eq!(play(text, 7), play(text, 7));
    }
}

#[test]
fn a_delay_is_that_of_the_path() {
    let text = "duration = \"5s\"\n[path]\nrtt = \"40ms\"\n[path.down]\nrate = \"10Mbps\"\n[path.up]\nrate = \"10Mbps\"\n";
    let mut session = session(text, 1);
    let phone = session.host("phone").unwrap();
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4(address(phone.0).octets(), address(0).octets(), 64);
    builder.udp(9, 9).write(&mut packet, &[0; 972]).unwrap();
    session.advance(at(100)).unwrap();
    session.arrive(at(100), phone, &packet);
    session.advance(at(200)).unwrap();
    let departure = session.next_departure().unwrap();
    // 1000 bytes at 10 Mbit/s take 0.8 ms, half of the round trip 20 ms.
    assert!(
        departure.at >= at(120) && departure.at <= at(122),
        "{departure:?}"
    );
}

#[test]
fn packets_to_nobody_are_rejected() {
    let mut session = session(LOSSY, 1);
    let phone = session.host("phone").unwrap();
    let udp = |to: [u8; 4]| {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4(address(phone.0).octets(), to, 64).udp(5, 6);
        builder.write(&mut bytes, &[1]).unwrap();
        bytes
    };
    let mut arrive = |bytes: &[u8]| session.arrive(at(1), phone, bytes);
    assert_eq!(arrive(&udp([192, 0, 2, 1])), Arrival::NoRoute);
    assert_eq!(arrive(&udp([224, 0, 0, 1])), Arrival::NoRoute);
    assert_eq!(arrive(&udp(address(phone.0).octets())), Arrival::NoRoute);
    let mut request = Vec::new();
    let builder = PacketBuilder::ipv4(address(phone.0).octets(), [10, 9, 9, 9], 64);
    let builder = builder.tcp(5, 6, 7, 8).syn();
    builder.write(&mut request, &[]).unwrap();
    assert_eq!(arrive(&request), Arrival::NoRoute);
    assert_eq!(arrive(&udp(address(0).octets())[..20]), Arrival::Malformed);
    assert_eq!(arrive(&[]), Arrival::Malformed);
    let stranger = session.arrive(at(1), HostId(99), &udp(address(0).octets()));
    assert_eq!(stranger, Arrival::NoRoute);
}

#[test]
fn a_split_host_is_rejected_by_name() {
    let text = format!("{LOSSY}[[path.middleboxes]]\nkind = \"es\"\n");
    let (scenario, traces) = loaded(&text);
    let error = Session::new(&scenario, &traces, 1, "cubic", "6.18")
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "path.middleboxes: \"es\" splits connections or needs servers that understand it; allowed in real time: snoop, \
         freeze, ack-regulator, reset-tracker"
    );
}
