//! Captures that are made up: packets of a download, and files of both formats around them.

#![allow(dead_code, reason = "benches and the targets of fuzz use a part")]

use std::net::{Ipv4Addr, SocketAddrV4};

use packet::wire::{IpPacket, encode};
use tcp::{Flags, Segment};

/// Time of a packet, ns, and its bytes from the IP header on.
pub type TimedPacket = (u64, Vec<u8>);

/// Start of all captures: after 2023, so that seconds fill 32 bits.
pub const BEGIN_NS: u64 = 1_700_000_000_000_000_000;
pub const MS: u64 = 1_000_000;
/// First sequence numbers of client and server.
pub const ISN: [u32; 2] = [u32::MAX - 20, 7_000];
/// Payload of a full segment.
pub const MSS: u32 = 1_000;

pub const CLIENT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 50_000);
pub const SERVER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 443);

/// Writes down the packets of one connection as they pass the capture.
#[derive(Default)]
pub struct Script {
    pub packets: Vec<TimedPacket>,
    identification: u16,
}

impl Script {
    /// Adds a segment from the client (`up`) or the server at `ms`.
    pub fn segment(&mut self, ms: f64, up: bool, segment: Segment) -> &mut Self {
        self.identification += 1;
        let (source, destination) = if up {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        let datagram = IpPacket {
            source: source.into(),
            destination: destination.into(),
            identification: self.identification,
            segment,
        };
        let mut bytes = Vec::new();
        encode(&datagram, 96, &mut bytes).expect("a segment that fits");
        self.packets
            .push((BEGIN_NS + (ms * MS as f64) as u64, bytes));
        self
    }

    /// Adds the handshake, captured at these RTTs (ms) from server and client.
    pub fn handshake(&mut self, server_ms: f64, client_ms: f64) -> &mut Self {
        let syn = Segment {
            seq: ISN[0],
            flags: Flags::SYN,
            window: 65_535,
            mss: Some(1_460),
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::default()
        };
        self.segment(0.0, true, syn);
        let answer = Segment {
            seq: ISN[1],
            ack: ISN[0].wrapping_add(1),
            flags: Flags::SYN | Flags::ACK,
            ..syn
        };
        self.segment(server_ms, false, answer);
        self.ack(server_ms + client_ms, 0)
    }

    /// Adds segment `number` of the download.
    pub fn data(&mut self, ms: f64, number: u32) -> &mut Self {
        let segment = Segment {
            seq: ISN[1].wrapping_add(1 + number * MSS),
            ack: ISN[0].wrapping_add(1),
            len: MSS,
            flags: Flags::ACK,
            window: 500,
            ..Segment::default()
        };
        self.segment(ms, false, segment)
    }

    /// Adds an ACK of the client for the first `segments` of the download.
    pub fn ack(&mut self, ms: f64, segments: u32) -> &mut Self {
        self.sack(ms, segments, &[])
    }

    /// Adds an ACK with SACK blocks, in segments.
    pub fn sack(&mut self, ms: f64, segments: u32, blocks: &[(u32, u32)]) -> &mut Self {
        let edge = |segments: u32| ISN[1].wrapping_add(1 + segments * MSS);
        let mut segment = Segment {
            seq: ISN[0].wrapping_add(1),
            ack: edge(segments),
            flags: Flags::ACK,
            window: 500,
            ..Segment::default()
        };
        for (left, right) in blocks {
            segment.sack.push(edge(*left), edge(*right));
        }
        self.segment(ms, true, segment)
    }
}

/// Returns a download of `segments`, two at a time, captured 2 ms from the client.
pub fn download(segments: u32) -> Vec<TimedPacket> {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    for pair in 0..segments / 2 {
        let ms = 90.0 + f64::from(pair);
        script.data(ms, 2 * pair).data(ms, 2 * pair + 1);
        script.ack(ms + 0.9, 2 * pair + 2);
    }
    script.packets
}

/// Returns a packet in an Ethernet frame with padding.
pub fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &[0x08, 0x00], packet, &[0; 6]].concat()
}

fn put(out: &mut Vec<u8>, words: &[u32], big: bool) {
    for word in words {
        out.extend(if big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    }
}

/// Returns the packets as a pcap file.
pub fn pcap(packets: &[TimedPacket], link_type: u32, big: bool, nanoseconds: bool) -> Vec<u8> {
    let (magic, unit) = if nanoseconds {
        (0xa1b2_3c4d, 1)
    } else {
        (0xa1b2_c3d4, 1_000)
    };
    let mut out = Vec::new();
    put(&mut out, &[magic], big);
    let version: [u16; 2] = [2, 4];
    for part in version {
        out.extend(if big {
            part.to_be_bytes()
        } else {
            part.to_le_bytes()
        });
    }
    put(&mut out, &[0, 0, 65_535, link_type], big);
    for (at, bytes) in packets {
        let (seconds, fraction) = (at / 1_000_000_000, at % 1_000_000_000 / unit);
        // The segment was longer than its captured part.
        let total = total_len(bytes, link_type);
        put(
            &mut out,
            &[seconds as u32, fraction as u32, bytes.len() as u32, total],
            big,
        );
        out.extend(bytes);
    }
    out
}

/// Returns the packets as a pcapng file whose clock has this resolution.
pub fn pcapng(packets: &[TimedPacket], link_type: u32, resolution: u8, big: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, &[0x0a0d_0d0a, 28, 0x1a2b_3c4d], big);
    for part in [1_u16, 0] {
        out.extend(if big {
            part.to_be_bytes()
        } else {
            part.to_le_bytes()
        });
    }
    put(&mut out, &[u32::MAX, u32::MAX, 28], big);
    put(&mut out, &[1, 32], big);
    for part in [link_type as u16, 0] {
        out.extend(if big {
            part.to_be_bytes()
        } else {
            part.to_le_bytes()
        });
    }
    put(&mut out, &[0], big);
    // Option if_tsresol, and the end of options.
    for part in [9_u16, 1] {
        out.extend(if big {
            part.to_be_bytes()
        } else {
            part.to_le_bytes()
        });
    }
    out.extend([resolution, 0, 0, 0]);
    put(&mut out, &[0, 32], big);
    let exponent = u32::from(resolution & 0x7f);
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    let units = base.pow(exponent);
    for (at, bytes) in packets {
        let padded = bytes.len().div_ceil(4) * 4;
        let len = 32 + padded as u32;
        let count = (u128::from(*at) * units / 1_000_000_000) as u64;
        let words = [
            6,
            len,
            0,
            (count >> 32) as u32,
            count as u32,
            bytes.len() as u32,
            total_len(bytes, link_type),
        ];
        put(&mut out, &words, big);
        out.extend(bytes);
        out.resize(out.len() + padded - bytes.len(), 0);
        put(&mut out, &[len], big);
    }
    out
}

fn total_len(bytes: &[u8], link_type: u32) -> u32 {
    let ip = if link_type == 1 { 14 } else { 0 };
    let said = bytes
        .get(ip + 2..ip + 4)
        .map_or(0, |b| u32::from(b[0]) << 8 | u32::from(b[1]));
    (said + ip as u32).max(bytes.len() as u32)
}
