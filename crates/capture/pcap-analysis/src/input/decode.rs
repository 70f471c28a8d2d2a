//! Layers: from a record to the TCP segment in it.

use core::net::SocketAddr;

use tcp::{Ecn, Segment};

use super::pcap_reader::Record;
use super::skipped::Skipped;
use super::{ip, link, tcp_header};

/// TCP segment of a capture, with fields of its IP header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// Time since the Unix epoch, ns.
    pub at_ns: u64,
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// The segment.
    pub segment: Segment,
    /// Identification field of IPv4; 0 for IPv6.
    pub identification: u16,
    /// Bytes of the IP packet on the wire.
    pub ip_len: u32,
    /// Hash of the TCP header, the same for copies of a packet.
    pub fingerprint: u64,
    /// The packet was in a tunnel.
    pub is_tunnelled: bool,
    /// The lengths of record and IP header contradict each other; the one that can be true is used.
    pub wrong_length: bool,
    /// Options of TCP are cut off.
    pub is_header_cut: bool,
}

/// Returns the TCP segment in a record.
///
/// # Errors
/// The reason why the record has no TCP segment.
pub(crate) fn dissect(record: &Record<'_>) -> Result<Packet, Skipped> {
    let network = match link::network(record.link_type, record.bytes) {
        link::Link::Ip(packet) => packet,
        link::Link::Other => return Err(Skipped::NotTcp),
        link::Link::Cut => return Err(Skipped::Cut),
        link::Link::Unknown => return Err(Skipped::LinkType(record.link_type)),
    };
    let kept = record.bytes.len() as u32;
    let before = kept - network.len() as u32;
    // A record cannot keep more bytes than there were.
    let wrong_record = record.wire_len < kept;
    let wire_len = record.wire_len.max(kept) - before;
    let inner = ip::find_tcp(network, wire_len)?;
    let header = tcp_header::parse(inner.payload).ok_or(Skipped::Cut)?;
    let segment = Segment {
        len: inner.payload_len.saturating_sub(header.len),
        ecn: match inner.ecn {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
        ..header.segment
    };
    Ok(Packet {
        at_ns: record.at_ns,
        source: SocketAddr::new(inner.source, header.ports.0),
        destination: SocketAddr::new(inner.destination, header.ports.1),
        segment,
        identification: inner.identification,
        ip_len: inner.len,
        fingerprint: header.fingerprint,
        is_tunnelled: inner.is_tunnelled,
        wrong_length: inner.wrong_length || wrong_record,
        is_header_cut: header.is_cut,
    })
}
