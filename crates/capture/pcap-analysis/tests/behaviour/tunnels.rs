//! Tunnels and link layers: whatever carries a download, it is the same connection; what is not read is counted.

use std::io::Cursor;

use pcap_analysis::tables::Tables;
use pcap_analysis::{Analysis, Summary};

use crate::connections::{at_server, only};
use crate::made_up::{MSS, TimedPacket, pcap};

const IPV4: [u8; 2] = [0x08, 0x00];
const UDP: u8 = 17;

fn analysed(packets: &[TimedPacket], link_type: u32) -> (Summary, Tables) {
    let file = pcap(packets, link_type, false, true);
    let mut analysis = Analysis::new(Box::new(Cursor::new(file)), true);
    while analysis.advance(1_000) {}
    (analysis.summary(), analysis.take_tables())
}

/// Returns a packet of IPv4 around a payload of which the wire had `len` bytes.
fn ipv4(protocol: u8, payload: &[u8], len: usize) -> Vec<u8> {
    let total = (20 + len) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 7, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 11, 192, 0, 2, 12]);
    [&packet, payload].concat()
}

fn ipv6(protocol: u8, payload: &[u8], len: usize) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((len as u16).to_be_bytes());
    packet.extend([protocol, 64]);
    packet.extend([0xfd; 32]);
    [&packet, payload].concat()
}

fn udp(port: u16, payload: &[u8], len: usize) -> Vec<u8> {
    let mut datagram = 40_000_u16.to_be_bytes().to_vec();
    datagram.extend(port.to_be_bytes());
    datagram.extend(((8 + len) as u16).to_be_bytes());
    datagram.extend([0, 0]);
    [&datagram, payload].concat()
}

/// Returns bytes in Ethernet with this EtherType.
fn ethernet(kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind, payload].concat()
}

/// Carrier of a packet whose wire length was `len`: what stands before it, and by how much it is longer.
type Carrier = fn(&[u8], usize) -> Vec<u8>;

fn framed(header: &[u8], packet: &[u8]) -> Vec<u8> {
    [header, &ethernet(IPV4, packet)].concat()
}

fn gre(header: &[u8], payload: &[u8], len: usize) -> Vec<u8> {
    ipv4(47, &[header, payload].concat(), header.len() + len)
}

fn tunnel(port: u16, header: &[u8], payload: &[u8], len: usize) -> Vec<u8> {
    let carried = [header, payload].concat();
    let len = header.len() + len;
    ipv4(UDP, &udp(port, &carried, len), 8 + len)
}

/// Tunnels in IP, each with the packet as it is sent.
const IN_IP: [(&str, Carrier); 30] = [
    ("IP in IP", |p, len| ipv4(4, p, len)),
    ("IP in IPv6", |p, len| ipv6(4, p, len)),
    ("GRE", |p, len| gre(&[0, 0, 8, 0], p, len)),
    ("GRE with checksum, key and number", |p, len| {
        gre(&[0xb0, 0, 8, 0, 1, 2, 0, 0, 0, 0, 0, 5, 0, 0, 0, 9], p, len)
    }),
    ("PPTP", |p, len| {
        gre(
            &[
                0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21,
            ],
            p,
            len,
        )
    }),
    ("NVGRE", |p, len| {
        gre(
            &[0x20, 0, 0x65, 0x58, 0, 0, 7, 0],
            &framed(&[], p),
            14 + len,
        )
    }),
    ("ERSPAN I", |p, len| {
        gre(&[0, 0, 0x88, 0xbe], &framed(&[], p), 14 + len)
    }),
    ("ERSPAN II", |p, len| {
        gre(
            &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1],
            &framed(&[0x10; 8], p),
            22 + len,
        )
    }),
    ("ERSPAN III", |p, len| {
        gre(
            &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1],
            &framed(&[0x20; 12], p),
            26 + len,
        )
    }),
    ("ERSPAN III with a subheader", |p, len| {
        let mut header = [0x20; 20];
        header[10] = 0;
        header[11] = 1;
        gre(
            &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1],
            &framed(&header, p),
            34 + len,
        )
    }),
    ("GRE with MPLS", |p, len| {
        gre(&[0, 0, 0x88, 0x47, 0, 1, 1, 64], p, len)
    }),
    ("WCCP", |p, len| {
        gre(&[0, 0, 0x88, 0x3e, 0, 0, 0, 1], p, len)
    }),
    ("EtherIP", |p, len| {
        ipv4(97, &framed(&[0x30, 0], p), 16 + len)
    }),
    ("MPLS in IP", |p, len| {
        ipv4(137, &[&[0, 1, 1, 64], p].concat(), 4 + len)
    }),
    ("L2TPv3", |p, len| {
        ipv4(115, &framed(&[0, 0, 0, 9], p), 18 + len)
    }),
    ("L2TPv3 with cookie and sublayer", |p, len| {
        ipv4(
            115,
            &framed(&[0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0], p),
            30 + len,
        )
    }),
    ("L2TPv3 in UDP", |p, len| {
        tunnel(1_701, &[0, 3, 0, 0, 0, 0, 0, 9], &framed(&[], p), 14 + len)
    }),
    ("L2TPv2", |p, len| {
        tunnel(
            1_701,
            &[0x48, 2, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0xff, 3, 0, 0x21],
            p,
            len,
        )
    }),
    ("L2TPv2 with a short protocol", |p, len| {
        tunnel(1_701, &[0, 2, 0, 1, 0, 2, 0x21], p, len)
    }),
    ("GTP-U", |p, len| {
        tunnel(2_152, &[0x30, 255, 0, 0, 0, 0, 0, 9], p, len)
    }),
    ("VXLAN", |p, len| {
        tunnel(4_789, &[8, 0, 0, 0, 0, 0, 7, 0], &framed(&[], p), 14 + len)
    }),
    ("VXLAN-GPE", |p, len| {
        tunnel(4_790, &[0x0c, 0, 0, 1, 0, 0, 7, 0], p, len)
    }),
    ("Geneve", |p, len| {
        let header = [2, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 1, 0, 0, 0, 5];
        tunnel(6_081, &header, &framed(&[], p), 14 + len)
    }),
    ("CAPWAP with Ethernet", |p, len| {
        tunnel(
            5_247,
            &[0, 0x10, 2, 0, 0, 0, 0, 0],
            &framed(&[], p),
            14 + len,
        )
    }),
    ("CAPWAP with 802.11", |p, len| {
        let header = [&[0, 0x10, 3, 0, 0, 0, 0, 0][..], &wifi(0x88, 1)].concat();
        tunnel(5_247, &header, p, len)
    }),
    ("CAPWAP with swapped 802.11", |p, len| {
        let mut frame = wifi(0x88, 1);
        frame.swap(0, 1);
        let header = [&[0, 0x10, 3, 0, 0, 0, 0, 0][..], &frame].concat();
        tunnel(5_247, &header, p, len)
    }),
    (
        "CAPWAP with swapped 802.11 of the longest header",
        |p, len| {
            let mut frame = vec![3 | 0x80, 0x88];
            frame.extend([2; 28]);
            frame.extend([0x80, 0, 0, 0, 0, 0]);
            frame.extend([2; 14]);
            let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
            let header = [&[0, 0x10, 3, 0, 0, 0, 0, 0][..], &frame, &llc].concat();
            tunnel(5_247, &header, p, len)
        },
    ),
    ("MPLS in UDP", |p, len| {
        tunnel(6_635, &[0, 1, 1, 64], p, len)
    }),
    ("GUE", |p, len| tunnel(6_080, &[0, 4, 0, 0], p, len)),
    ("TZSP", |p, len| {
        tunnel(
            37_008,
            &[1, 0, 0, 1, 10, 1, 7, 0, 1],
            &framed(&[], p),
            14 + len,
        )
    }),
];

/// Headers of a data frame of 802.11 with LLC.
fn wifi(kind: u8, flags: u8) -> Vec<u8> {
    let mut header = vec![kind, flags, 0, 0];
    header.extend([2; 20]);
    header.extend(vec![0; if kind & 0x80 == 0 { 0 } else { 2 }]);
    [&header, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..]].concat()
}

/// Wraps each packet of a download.
fn carried(carrier: Carrier) -> (Vec<TimedPacket>, Vec<TimedPacket>) {
    let mut script = at_server(60);
    script.data(300.0, 30).ack(340.0, 60);
    let packets = script.packets;
    let wrapped = packets.iter().map(|(at, bytes)| {
        let len = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        let mut whole = bytes.clone();
        whole.resize(len, 0);
        (*at, carrier(&whole, len))
    });
    (wrapped.collect(), packets)
}

fn assert_same(name: &str, wrapped: &[TimedPacket], link_type: u32, packets: &[TimedPacket]) {
    let (summary, tables) = analysed(wrapped, link_type);
    let expected = only(packets);
    assert_eq!(
        summary.segments,
        packets.len() as u64,
        "{name}: {:?}",
        summary.skipped()
    );
    assert_eq!(tables.connections.len(), 1, "{name}");
    let row = tables.connections.row(0);
    assert_eq!(row.bytes_down, expected.bytes_down, "{name}");
    assert_eq!(row.client, expected.client, "{name}");
    assert_eq!(row.retransmissions_down, 1, "{name}");
    assert_eq!(row.rtt_min_ms, expected.rtt_min_ms, "{name}");
    assert_eq!((row.wrong_lengths, row.missed_bytes), (0, 0), "{name}");
}

#[test]
fn tunnels_in_ip_are_read() {
    for (name, carrier) in IN_IP {
        let (wrapped, packets) = carried(carrier);
        assert_same(name, &wrapped, 101, &packets);
        assert_eq!(
            analysed(&wrapped, 101).1.connections.is_tunnelled,
            [1],
            "{name}"
        );
    }
}

#[test]
fn link_layers_are_read() {
    let layers: [(&str, u32, Carrier); 19] = [
        ("LLC", 1, |p, len| {
            let size = ((8 + len) as u16).to_be_bytes();
            ethernet(size, &[&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], p].concat())
        }),
        ("LLC with IP", 1, |p, len| {
            ethernet(((3 + len) as u16).to_be_bytes(), &[&[6, 6, 3], p].concat())
        }),
        ("MPLS", 1, |p, _| {
            ethernet([0x88, 0x47], &[&[0, 1, 0, 64, 0, 2, 1, 64], p].concat())
        }),
        ("pseudowire", 1, |p, _| {
            ethernet([0x88, 0x47], &framed(&[0, 1, 1, 64, 0, 0, 0, 0], p))
        }),
        ("pseudowire without control word", 1, |p, _| {
            ethernet([0x88, 0x47], &framed(&[0, 1, 1, 64], p))
        }),
        ("provider backbone", 1, |p, _| {
            ethernet([0x88, 0xe7], &framed(&[0, 0, 0, 1], p))
        }),
        ("VN-Tag", 1, |p, _| {
            ethernet([0x89, 0x26], &[&[0, 0, 0, 1, 8, 0], p].concat())
        }),
        ("E-Tag", 1, |p, _| {
            ethernet([0x89, 0x3f], &[&[0, 0, 0, 1, 0, 0, 8, 0], p].concat())
        }),
        ("NSH", 1, |p, _| {
            ethernet([0x89, 0x4f], &[&[0, 2, 1, 1, 0, 0, 1, 1][..], p].concat())
        }),
        ("802.11", 105, |p, _| [&wifi(0x88, 1), p].concat()),
        ("802.11 without QoS", 105, |p, _| {
            [&wifi(0x08, 2), p].concat()
        }),
        ("radiotap", 127, |p, _| {
            [&[0, 0, 9, 0, 0, 0, 0, 0, 0][..], &wifi(0x08, 2), p].concat()
        }),
        ("PPI", 192, |p, _| framed(&[0, 0, 8, 0, 1, 0, 0, 0], p)),
        ("PKTAP", 258, |p, _| {
            let mut header = vec![0; 108];
            header[0] = 108;
            header[8] = 101;
            [&header, p].concat()
        }),
        ("ERF", 197, |p, _| {
            let mut header = vec![0; 26];
            header[8] = 0x82;
            framed(&header, p)
        }),
        ("NFLOG", 239, |p, len| {
            let size = ((4 + len) as u16).to_le_bytes();
            let header = [2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0, size[0], size[1], 9, 0];
            [&header, p].concat()
        }),
        ("Cisco HDLC", 104, |p, _| [&[0x0f, 0, 8, 0], p].concat()),
        ("PPP with direction", 204, |p, _| {
            [&[1, 0xff, 3, 0, 0x21], p].concat()
        }),
        ("SLL with LLC", 113, |p, _| {
            let header = [&[0; 14][..], &[0, 4, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat();
            [&header, p].concat()
        }),
    ];
    for (name, link_type, carrier) in layers {
        let (wrapped, packets) = carried(carrier);
        assert_same(name, &wrapped, link_type, &packets);
    }
}

/// Cuts packets of IPv4 into fragments of at most `size` bytes of payload; the snapshot length keeps 96.
fn fragmented(packets: &[TimedPacket], size: usize, is_reversed: bool) -> Vec<TimedPacket> {
    let mut result = Vec::new();
    for (number, (at, bytes)) in packets.iter().enumerate() {
        let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        let mut whole = bytes.clone();
        whole.resize(total, 0);
        let starts: Vec<usize> = (0..total - 20).step_by(size).collect();
        let mut parts: Vec<_> = starts
            .iter()
            .map(|start| {
                let end = (start + size).min(total - 20);
                let mut part = whole[..20].to_vec();
                part.extend(&whole[20 + start..20 + end]);
                part[2..4].copy_from_slice(&((20 + end - start) as u16).to_be_bytes());
                part[4..6].copy_from_slice(&(number as u16 + 1).to_be_bytes());
                let more = if end < total - 20 { 0x2000 } else { 0 };
                let field = more | (start / 8) as u16;
                part[6..8].copy_from_slice(&field.to_be_bytes());
                part.truncate(96);
                (*at, part)
            })
            .collect();
        if is_reversed {
            parts.reverse();
        }
        result.extend(parts);
    }
    result
}

#[test]
fn fragments_are_put_together() {
    let gtp: Carrier = |p, len| tunnel(2_152, &[0x30, 255, 0, 0, 0, 0, 0, 9], p, len);
    let plain: Carrier = |p, _| p.to_vec();
    for carrier in [gtp, plain] {
        for (size, is_reversed) in [(544, false), (544, true), (960, false), (160, true)] {
            let (wrapped, packets) = carried(carrier);
            let parts = fragmented(&wrapped, size, is_reversed);
            assert_same("fragments", &parts, 101, &packets);
            let summary = analysed(&parts, 101).0;
            let later = (parts.len() - packets.len()) as u64;
            assert_eq!(
                (summary.lone_fragments, summary.joined_fragments),
                (0, later)
            );
        }
    }
}

#[test]
fn fragments_without_their_first_are_left_out() {
    let (wrapped, _) = carried(|p, _| p.to_vec());
    let later: Vec<_> = fragmented(&wrapped, 544, false)
        .into_iter()
        .filter(|(_, bytes)| bytes[7] != 0)
        .collect();
    let (summary, tables) = analysed(&later, 101);
    assert_eq!(summary.lone_fragments, later.len() as u64);
    assert_eq!((tables.connections.len(), summary.joined_fragments), (0, 0));
    assert!(later.len() as u32 >= 60 * (MSS / 1_000));
}

#[test]
fn what_is_left_out_is_counted_by_kind() {
    let kinds: [(&str, u32, Vec<u8>); 9] = [
        ("ARP", 1, ethernet([8, 6], &[0; 28])),
        ("UDP", 101, ipv4(UDP, &udp(53, &[0; 9], 9), 17)),
        (
            "QUIC (encrypted)",
            101,
            ipv4(UDP, &udp(443, &[0; 9], 9), 17),
        ),
        ("ICMP", 101, ipv4(1, &[0; 9], 9)),
        ("ESP (encrypted)", 101, ipv4(50, &[0; 9], 9)),
        (
            "CAPWAP (encrypted)",
            101,
            tunnel(5_247, &[1, 0, 0, 0], &[0; 30], 30),
        ),
        ("EtherType 0x88b5", 1, ethernet([0x88, 0xb5], &[0; 28])),
        ("link type 147", 147, vec![0; 60]),
        (
            "GTP-U without a packet",
            101,
            tunnel(2_152, &[0x32, 1, 0, 4], &[0; 8], 8),
        ),
    ];
    for (name, link_type, bytes) in kinds {
        let packets: Vec<_> = (0..3)
            .map(|n| (1_700_000_000_000_000_000 + n, bytes.clone()))
            .collect();
        let (summary, _) = analysed(&packets, link_type);
        assert_eq!(summary.skipped(), [(name.to_owned(), 3)]);
        assert_eq!(summary.other_protocols + summary.unread, 3);
    }
}
