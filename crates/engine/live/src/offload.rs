//! Offloads of a TUN device: segmentation of large packets from the kernel (GSO), as by a network card, and merging of
//! packets to the kernel (GRO).

use std::io;

use etherparse::checksum::Sum16BitWords;

use net::HostId;
use units::Instant;

use crate::session::{Departure, MAX_PACKET};

/// Bytes of the header that precedes a packet: `struct virtio_net_hdr` of linux/virtio_net.h, in the byte order of the
/// machine.
pub const OFFLOAD_HEADER: usize = 10;
/// Flag: the checksum is to be completed (`VIRTIO_NET_HDR_F_NEEDS_CSUM`).
const NEEDS_CHECKSUM: u8 = 1;
/// Kinds of packets that hold several segments: none, TCP over IPv4, TCP over IPv6; and the bit of ECN.
const NONE: u8 = 0;
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const ECN: u8 = 0x80;

/// Protocol number of TCP.
const TCP: u8 = 6;
/// Bytes of an IPv4 header without options, and of an IPv6 header.
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
/// Offsets in a TCP header (RFC 9293 section 3.1).
const SEQUENCE: usize = 4;
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;
const CHECKSUM: usize = 16;
/// Maximum number of merged segments, and so of the pieces of a packet.
pub const MAX_SEGMENTS: usize = 64;

/// Minimum length of a TCP header.
const TCP_HEADER: usize = 20;
const FIN: u8 = 1;
const PSH: u8 = 1 << 3;
const ACK: u8 = 1 << 4;
const CWR: u8 = 1 << 7;

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn set_word(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

fn sequence_number(segment: &[u8]) -> u32 {
    let [a, b, c, d] = [0, 1, 2, 3].map(|byte| segment[SEQUENCE + byte]);
    u32::from_be_bytes([a, b, c, d])
}

/// Splits a packet into segments as its virtio header requires, completes their checksums, and calls `on_segment` for each.
/// `buffer` is scratch space for a segment.
///
/// # Errors
/// If the header does not match the packet, or `on_segment` fails.
pub fn segment_packet(
    header: [u8; OFFLOAD_HEADER],
    packet: &mut [u8],
    buffer: &mut Vec<u8>,
    mut on_segment: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let [flags, kind, ..] = header;
    let field = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    // `transport` is where the checksum starts: at the header of TCP, or of another transport.
    let (size, transport, checksum) = (field(4), field(6), field(8));
    let mismatch = || io::Error::other("an offload header does not match its packet");
    if kind == NONE {
        if flags & NEEDS_CHECKSUM != 0 {
            if transport + checksum + 2 > packet.len() {
                return Err(mismatch());
            }
            let sum = Sum16BitWords::new().add_slice(&packet[transport..]);
            // In UDP, zero is no checksum (RFC 768).
            let sum = match sum.ones_complement().to_be() {
                0 => u16::MAX,
                sum => sum,
            };
            set_word(packet, transport + checksum, sum);
        }
        return on_segment(packet);
    }
    let tcp = transport;
    if ![TCP_IPV4, TCP_IPV6].contains(&(kind & !ECN))
        || size == 0
        || packet.len() < tcp + TCP_HEADER
    {
        return Err(mismatch());
    }
    let headers_len = tcp + usize::from(packet[tcp + DATA_OFFSET] >> 4) * 4;
    let is_v4 = packet[0] >> 4 == 4;
    if headers_len > packet.len() || tcp < if is_v4 { IPV4_HEADER } else { IPV6_HEADER } {
        return Err(mismatch());
    }
    let (headers, payload) = packet.split_at(headers_len);
    let segments = payload.len().div_ceil(size);
    for (number, part) in payload.chunks(size).enumerate() {
        buffer.clear();
        buffer.extend_from_slice(headers);
        buffer.extend_from_slice(part);
        let sequence = sequence_number(&buffer[tcp..]).wrapping_add((number * size) as u32);
        buffer[tcp + SEQUENCE..tcp + SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
        if number > 0 {
            buffer[tcp + FLAGS] &= !CWR;
        }
        if number + 1 < segments {
            buffer[tcp + FLAGS] &= !(FIN | PSH);
        }
        if is_v4 {
            let identification = word(buffer, 4).wrapping_add(number as u16);
            set_word(buffer, 4, identification);
        }
        let length = buffer.len();
        set_length(buffer, length);
        set_word(buffer, tcp + CHECKSUM, 0);
        let sum = pseudo_header(buffer, tcp, length).add_slice(&buffer[tcp..]);
        set_word(buffer, tcp + CHECKSUM, sum.ones_complement().to_be());
        on_segment(buffer)?;
    }
    Ok(())
}

/// Writes the length of an IP packet to its header, with the checksum of IPv4.
fn set_length(packet: &mut [u8], length: usize) {
    if packet[0] >> 4 == 4 {
        set_word(packet, 2, length as u16);
        set_word(packet, 10, 0);
        let header = usize::from(packet[0] & 0xf) * 4;
        let sum = Sum16BitWords::new().add_slice(&packet[..header]);
        set_word(packet, 10, sum.ones_complement().to_be());
    } else {
        set_word(packet, 4, (length - IPV6_HEADER) as u16);
    }
}

/// Returns the sum of the pseudo-header of the TCP segment that begins at `tcp` of a packet of this length (RFC 9293
/// section 3.1).
fn pseudo_header(packet: &[u8], tcp: usize, length: usize) -> Sum16BitWords {
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    let length = (length - tcp) as u32;
    Sum16BitWords::new()
        .add_slice(&packet[addresses])
        .add_4bytes(length.to_be_bytes())
        .add_2bytes([0, TCP])
}

/// Offsets of the TCP header and of the payload in a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Offsets {
    tcp: usize,
    payload: usize,
}

/// Consecutive TCP segments of a connection, which the kernel receives as one packet, like those that GRO has merged; or any
/// single packet.
pub struct GroSegment {
    first: Departure,
    rest: Vec<Departure>,
    /// Offsets in the first packet, if segments may follow it.
    offsets: Option<Offsets>,
    /// Length of the merged packet, bytes.
    packet_len: usize,
    /// Whether the last segment was shorter than the first or had PSH, so that none may follow.
    is_full: bool,
}

impl GroSegment {
    /// Creates one from a single packet.
    pub fn new(first: Departure) -> Self {
        let offsets = mergeable(&first.bytes);
        Self {
            offsets,
            packet_len: first.bytes.len(),
            is_full: offsets.is_none_or(|Offsets { tcp, .. }| first.bytes[tcp + FLAGS] & PSH != 0),
            first,
            rest: Vec::new(),
        }
    }

    /// Returns whether a segment may follow.
    pub fn is_open(&self) -> bool {
        !self.is_full
    }

    /// Returns its destination host.
    pub fn host(&self) -> HostId {
        self.first.host
    }

    /// Returns the planned time of the first packet.
    pub fn at(&self) -> Instant {
        self.first.at
    }

    /// Returns whether a packet has the same destination host and connection.
    pub fn is_of_connection(&self, other: &Departure) -> bool {
        let Some(Offsets { tcp, .. }) = self.offsets else {
            return false;
        };
        let (first, bytes) = (&self.first.bytes, &other.bytes);
        let (protocol, addresses) = if tcp == IPV4_HEADER {
            (9, 12..20)
        } else {
            (6, 8..40)
        };
        self.first.host == other.host
            && bytes.len() >= tcp + TCP_HEADER
            && bytes[0] == first[0]
            && bytes[protocol] == TCP
            && bytes[addresses.clone()] == first[addresses]
            && bytes[tcp..tcp + SEQUENCE] == first[tcp..tcp + SEQUENCE]
    }

    /// Appends a packet if it continues the segments; returns it otherwise.
    pub fn add(&mut self, packet: Departure) -> Result<(), Departure> {
        let Some(Offsets { tcp, payload }) = self.offsets.filter(|_| !self.is_full) else {
            return Err(packet);
        };
        let (first, bytes) = (&self.first.bytes, &packet.bytes);
        let size = first.len() - payload;
        let merged_len = (self.packet_len - payload) as u32;
        let is_next = self.first.host == packet.host
            && mergeable(bytes) == self.offsets
            && bytes.len() <= first.len()
            && self.packet_len + bytes.len() - payload <= MAX_PACKET
            && self.rest.len() + 1 < MAX_SEGMENTS
            && sequence_number(&first[tcp..]).wrapping_add(merged_len)
                == sequence_number(&bytes[tcp..])
            && has_same_headers(first, bytes, tcp, payload);
        if !is_next {
            return Err(packet);
        }
        let payload_len = bytes.len() - payload;
        self.is_full = payload_len < size || bytes[tcp + FLAGS] & PSH != 0;
        self.packet_len += payload_len;
        self.rest.push(packet);
        Ok(())
    }

    /// Returns the offload header, and the pieces of the packet: all of the first segment, and the payloads of the rest.
    /// If there is a rest, the header of the first segment is that of the merged packet afterwards.
    pub fn pieces(&mut self) -> ([u8; OFFLOAD_HEADER], impl Iterator<Item = &[u8]>) {
        let mut header = [0; OFFLOAD_HEADER];
        let mut payload_at = 0;
        if let (Some(Offsets { tcp, payload }), Some(last)) = (self.offsets, self.rest.last()) {
            let size = self.first.bytes.len() - payload;
            let psh = last.bytes[tcp + FLAGS] & PSH;
            let packet = &mut self.first.bytes;
            let kind = if tcp == IPV4_HEADER {
                TCP_IPV4
            } else {
                TCP_IPV6
            };
            (header[0], header[1]) = (NEEDS_CHECKSUM, kind);
            let fields = [payload, size, tcp, CHECKSUM];
            for (at, field) in (2..).step_by(2).zip(fields) {
                header[at..at + 2].copy_from_slice(&(field as u16).to_ne_bytes());
            }
            packet[tcp + FLAGS] |= psh;
            set_length(packet, self.packet_len);
            // With NEEDS_CHECKSUM, the field holds the sum of the pseudo-header, not its complement.
            let sum = pseudo_header(packet, tcp, self.packet_len).ones_complement();
            set_word(packet, tcp + CHECKSUM, !sum.to_be());
            payload_at = payload;
        }
        let rest = self
            .rest
            .iter()
            .map(move |packet| &packet.bytes[payload_at..]);
        (header, core::iter::once(&*self.first.bytes).chain(rest))
    }

    /// Returns its packets in their order; of several, the first has the header of the merged packet after
    /// [`Self::pieces`].
    pub fn into_packets(self) -> impl Iterator<Item = Departure> {
        core::iter::once(self.first).chain(self.rest)
    }
}

/// Returns the offsets of TCP header and payload if the packet is mergeable: with data, only the flags ACK and PSH, and an
/// IP header without options or extensions.
fn mergeable(packet: &[u8]) -> Option<Offsets> {
    let tcp = match packet.first()? >> 4 {
        4 if packet[0] & 0xf == 5 && packet.len() > IPV4_HEADER => {
            let is_fragment = word(packet, 6) & 0x3fff != 0;
            (packet[9] == TCP && !is_fragment).then_some(IPV4_HEADER)?
        }
        6 if packet.len() > IPV6_HEADER => (packet[6] == TCP).then_some(IPV6_HEADER)?,
        _ => return None,
    };
    let segment = packet.get(tcp..).filter(|rest| rest.len() > TCP_HEADER)?;
    let payload = tcp + usize::from(segment[DATA_OFFSET] >> 4) * 4;
    let is_plain = segment[FLAGS] & !PSH == ACK;
    (is_plain && payload >= tcp + TCP_HEADER && payload < packet.len())
        .then_some(Offsets { tcp, payload })
}

/// Returns whether headers are equal except for lengths, identification, sequence number, PSH and checksums.
fn has_same_headers(first: &[u8], other: &[u8], tcp: usize, payload: usize) -> bool {
    let same = |range: core::ops::Range<usize>| first[range.clone()] == other[range];
    let same_ip = if first[0] >> 4 == 4 {
        same(0..2) && same(6..10) && same(12..20)
    } else {
        same(0..4) && same(6..40)
    };
    same_ip
        && same(tcp..tcp + SEQUENCE)
        && same(tcp + 8..tcp + FLAGS)
        && same(tcp + 14..tcp + CHECKSUM)
        && same(tcp + 18..payload)
}

#[cfg(test)]
pub(crate) mod tests {
    use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder, TcpHeaderSlice};
    use proptest::prelude::*;

    use super::*;

    /// Returns a TCP packet with this payload.
    pub(crate) fn segment(v6: bool, sequence: u32, payload: &[u8], psh: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut tcp = etherparse::TcpHeader::new(5_201, 40_000, sequence, 700);
        (tcp.ack, tcp.psh, tcp.acknowledgment_number) = (true, psh, 9);
        let options = [etherparse::TcpOptionElement::Timestamp(7, 8)];
        tcp.set_options(&options).unwrap();
        let written = if v6 {
            let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64);
            builder.tcp_header(tcp).write(&mut bytes, payload)
        } else {
            let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
            builder.tcp_header(tcp).write(&mut bytes, payload)
        };
        written.unwrap();
        bytes
    }

    /// Returns the segments of a packet.
    fn segmented(header: [u8; OFFLOAD_HEADER], packet: &[u8]) -> Vec<Vec<u8>> {
        let mut result = Vec::new();
        let each = |packet: &[u8]| {
            result.push(packet.to_vec());
            Ok(())
        };
        segment_packet(header, &mut packet.to_vec(), &mut Vec::new(), each).unwrap();
        result
    }

    /// Returns a packet that leaves the path.
    fn departure(bytes: &[u8]) -> Departure {
        let (packet, host, at) = (0, HostId(0), Instant::ZERO);
        let bytes = bytes.to_vec();
        Departure {
            packet,
            host,
            at,
            bytes,
        }
    }

    /// Returns the header and the packet of segments that are merged.
    fn merged(packets: &[Vec<u8>]) -> ([u8; OFFLOAD_HEADER], Vec<u8>) {
        let mut merged = GroSegment::new(departure(&packets[0]));
        for packet in &packets[1..] {
            merged.add(departure(packet)).unwrap();
        }
        let (header, pieces) = merged.pieces();
        let packet = pieces.flatten().copied().collect();
        (header, packet)
    }

    fn has_checksums(packet: &[u8]) -> bool {
        if packet[0] >> 4 == 6 {
            let ip = Ipv6HeaderSlice::from_slice(packet).unwrap();
            let tcp = TcpHeaderSlice::from_slice(&packet[40..]).unwrap();
            let payload = &packet[40 + tcp.slice().len()..];
            return tcp.calc_checksum_ipv6(&ip, payload).unwrap() == tcp.checksum();
        }
        let ip = Ipv4HeaderSlice::from_slice(packet).unwrap();
        let tcp = TcpHeaderSlice::from_slice(&packet[20..]).unwrap();
        let payload = &packet[20 + tcp.slice().len()..];
        tcp.calc_checksum_ipv4(&ip, payload).unwrap() == tcp.checksum()
            && ip.to_header().calc_header_checksum() == ip.header_checksum()
    }

    proptest! {
        /// Merging and segmentation restore the packets of a flow.
        #[test]
        fn segmentation_reverses_merging(
            v6 in any::<bool>(), first in any::<u32>(), size in 1_usize..1_400, whole in 1_usize..30,
            last in 0_usize..1_400, psh in any::<bool>(), seed in any::<u8>(),
        ) {
            let mut sizes = vec![size; whole];
            sizes.extend((last > 0).then_some(last.min(size)));
            let mut packets = Vec::new();
            let mut sequence = first;
            for (number, &size) in sizes.iter().enumerate() {
                let payload: Vec<u8> = (0..size).map(|at| (at as u8).wrapping_mul(7) ^ seed).collect();
                let psh = psh && number + 1 == sizes.len();
                let mut packet = segment(v6, sequence, &payload, psh);
                if !v6 {
                    set_word(&mut packet, 4, number as u16);
                    let length = packet.len();
                    set_length(&mut packet, length);
                }
                packets.push(packet);
                sequence = sequence.wrapping_add(size as u32);
            }
            let (header, packet) = merged(&packets);
            let again = segmented(header, &packet);
            prop_assert!(again.iter().all(|packet| has_checksums(packet)));
            prop_assert_eq!(again, packets);
        }
    }

    #[test]
    fn other_segments_are_not_merged() {
        let first = segment(false, 100, &[1; 50], false);
        let others = [
            segment(false, 151, &[1; 50], false),
            segment(false, 150, &[1; 51], false),
            segment(true, 150, &[1; 50], false),
            segment(false, 150, &[], false),
        ];
        for other in &others {
            let mut merged = GroSegment::new(departure(&first));
            assert_eq!(merged.add(departure(other)).unwrap_err().bytes, *other);
            let (header, pieces) = merged.pieces();
            assert_eq!(header, [0; OFFLOAD_HEADER]);
            assert!(pieces.eq([&first[..]]));
        }
        // Nor are packets with another ECN field, acknowledgement number or flag, or after PSH or a shorter segment.
        let next = segment(false, 150, &[1; 50], false);
        for (at, value) in [(1, 3), (20 + 11, 10), (20 + FLAGS, ACK | FIN)] {
            let mut merged = GroSegment::new(departure(&first));
            let mut other = next.clone();
            other[at] = value;
            assert!(merged.add(departure(&other)).is_err(), "byte {at}");
        }
        for (length, psh) in [(50, true), (49, false)] {
            let mut merged = GroSegment::new(departure(&first));
            let second = segment(false, 150, &vec![1; length], psh);
            assert!(merged.add(departure(&second)).is_ok());
            assert!(!merged.is_open());
            let third = segment(false, 150 + length as u32, &[1; 20], false);
            assert!(merged.add(departure(&third)).is_err());
        }
    }

    #[test]
    fn cwr_goes_to_the_first_segment_psh_and_fin_to_the_last() {
        let mut packet = segment(false, 100, &[1; 150], false);
        packet[20 + FLAGS] = ACK | PSH | FIN | CWR;
        let mut header = [NEEDS_CHECKSUM, TCP_IPV4 | ECN, 0, 0, 0, 0, 0, 0, 0, 0];
        header[4..6].copy_from_slice(&50_u16.to_ne_bytes());
        header[6..8].copy_from_slice(&20_u16.to_ne_bytes());
        header[8..10].copy_from_slice(&16_u16.to_ne_bytes());
        let flags: Vec<u8> = segmented(header, &packet)
            .iter()
            .map(|packet| packet[20 + FLAGS])
            .collect();
        assert_eq!(flags, [ACK | CWR, ACK, ACK | PSH | FIN]);
        header[4..6].copy_from_slice(&0_u16.to_ne_bytes());
        let mismatch = segment_packet(header, &mut packet, &mut Vec::new(), |_| Ok(()));
        assert!(mismatch.is_err());
    }

    #[test]
    fn a_partial_checksum_is_completed() {
        let whole = segment(false, 100, &[1; 151], false);
        let mut open = whole.clone();
        let sum = pseudo_header(&whole, 20, whole.len())
            .ones_complement()
            .to_be();
        set_word(&mut open, 20 + CHECKSUM, !sum);
        let mut header = [NEEDS_CHECKSUM, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        header[6..8].copy_from_slice(&20_u16.to_ne_bytes());
        header[8..10].copy_from_slice(&16_u16.to_ne_bytes());
        assert_eq!(segmented(header, &open), [whole]);
        header[6..8].copy_from_slice(&300_u16.to_ne_bytes());
        assert!(segment_packet(header, &mut open, &mut Vec::new(), |_| Ok(())).is_err());
    }
}
