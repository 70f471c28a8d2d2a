//! Ends: which side is the server, by a SYN, the ports or the payload.

use std::net::SocketAddr;

use packet::wire::{IpPacket, encode};
use tcp::{Flags, Segment};

use crate::connections::only;
use crate::made_up::{BEGIN_NS, MS, TimedPacket};

/// Payload of a request and of its answer, bytes.
const REQUEST: u32 = 90;
const ANSWER: u32 = 1_200;

/// Returns segments with these payloads, in turn from the first and the second port.
fn segments(ports: [u16; 2], payloads: &[u32], flags: [Flags; 2]) -> Vec<TimedPacket> {
    let [first, second] =
        [1, 2].map(|host| SocketAddr::from(([10, 3, 0, host], ports[usize::from(host) - 1])));
    let packet = |(number, len): (usize, &u32)| {
        let [source, destination] = [[first, second], [second, first]][number % 2];
        let datagram = IpPacket {
            source,
            destination,
            identification: number as u16 + 1,
            segment: Segment {
                seq: 7_000 * number as u32,
                flags: flags[number % 2],
                len: *len,
                window: 900,
                ..Segment::default()
            },
        };
        let mut bytes = Vec::new();
        encode(&datagram, 96, &mut bytes).expect("a segment that fits");
        (BEGIN_NS + number as u64 * MS, bytes)
    };
    payloads.iter().enumerate().map(packet).collect()
}

fn server_port(packets: &[TimedPacket]) -> u16 {
    let server = only(packets).server;
    let (_, port) = server.rsplit_once(':').expect("a port");
    port.parse().expect("a number")
}

#[test]
fn ports_of_services_belong_to_servers_whatever_is_sent() {
    let acks = [Flags::ACK; 2];
    for service in [22, 443, 5_201, 8_080] {
        for payloads in [[REQUEST, ANSWER], [ANSWER, REQUEST]] {
            for ports in [[51_000, service], [service, 51_000]] {
                assert_eq!(server_port(&segments(ports, &payloads, acks)), service);
            }
        }
    }
}

#[test]
fn of_ports_alike_the_server_has_that_of_the_side_with_more_payload() {
    let acks = [Flags::ACK; 2];
    for ports in [[34_000, 52_000], [52_000, 34_000], [1_040, 8_080]] {
        let download = segments(ports, &[REQUEST, ANSWER], acks);
        assert_eq!(server_port(&download), ports[1]);
        let upload = segments(ports, &[ANSWER, REQUEST], acks);
        assert_eq!(server_port(&upload), ports[0]);
    }
    let silent = segments([52_000, 34_000], &[0, 0], acks);
    assert_eq!(server_port(&silent), 34_000);
}

#[test]
fn a_syn_decides_even_if_it_is_captured_late() {
    let syn = [Flags::SYN, Flags::SYN | Flags::ACK];
    assert_eq!(server_port(&segments([80, 52_000], &[0, 0], syn)), 52_000);
    let late = [Flags::ACK, Flags::SYN | Flags::ACK];
    assert_eq!(server_port(&segments([80, 52_000], &[0, 0], late)), 52_000);
}
