//! Decoder: from a record to the TCP segment in it, through any tunnels.

use core::net::SocketAddr;
use core::num::NonZeroU32;

use tcp::{Ecn, Segment};

use super::ip::Ip;
use super::layer::{Layer, Step};
use super::pcap_reader::Record;
use super::skipped::Skipped;
use super::{ether, ip, link, ppp, tcp_header, tunnel, wifi};

/// Maximum number of nested headers: tags, labels and tunnels.
const MAX_LAYERS: usize = 24;
/// Protocol numbers of IP (registry of the IANA).
const TCP: u8 = 6;
const UDP: u8 = 17;

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
    /// TTL of IPv4, hop limit of IPv6.
    pub ttl: u8,
    /// Hash of the TCP header, the same for copies of a packet.
    pub fingerprint: u64,
    /// Whether the packet was in a tunnel.
    pub is_tunnelled: bool,
    /// Whether the lengths of record and IP header contradict each other; the possible one is used.
    pub has_wrong_length: bool,
    /// Whether TCP options are cut off.
    pub is_header_cut: bool,
    /// Bytes in the other fragments of its IP packet, if there are any.
    pub(crate) fragments: Option<Fragments>,
}

/// Later fragments of the IP packet whose first fragment has the TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fragments {
    /// Key that they share.
    pub(crate) key: NonZeroU32,
    /// Whether they have more payload of the segment; a tunnel header would have its length.
    pub(crate) have_payload: bool,
}

/// Returns the TCP segment in a record, or the reason why it has none.
pub(crate) fn dissect(record: &Record<'_>) -> Result<Packet, Skipped> {
    let captured_len = record.bytes.len() as u32;
    // Where the current packet ends on the wire; a record cannot have more bytes than there were.
    let mut end = Some(record.wire_len.max(captured_len));
    let mut fragments = None;
    let mut is_tunnelled = false;
    let (mut layer, mut rest) = link::first(record.link_type, record.bytes)?;
    for _ in 0..MAX_LAYERS {
        if layer != Layer::Ip {
            (layer, rest) = next_layer(layer, rest)?;
            continue;
        }
        let at = captured_len - rest.len() as u32;
        let ip = ip::parse(rest, end.map(|end| end.saturating_sub(at)))?;
        fragments = fragments.or(ip.fragments);
        if ip.protocol == TCP {
            return tcp_packet(record, &ip, is_tunnelled, fragments);
        }
        // The length of a tunnelled packet is beyond the end of a first fragment that carries it.
        end = end.filter(|_| fragments.is_none()).map(|_| at + ip.len);
        is_tunnelled = true;
        rest = ip.payload;
        layer = match ip.protocol {
            UDP => Layer::Udp,
            other => Layer::IpProtocol(other),
        };
    }
    Err(Skipped::Other("more than 24 headers"))
}

/// Returns the next layer in one other than IP.
#[inline]
fn next_layer(layer: Layer, bytes: &[u8]) -> Step<'_> {
    match layer {
        Layer::Ip => Ok((layer, bytes)),
        Layer::Ethernet => ether::frame(bytes),
        Layer::EtherType(kind) => ether::by_ether_type(kind, bytes),
        Layer::Llc => ether::llc(bytes),
        Layer::Wifi => wifi::frame(bytes),
        Layer::Ppp => ppp::frame(bytes),
        Layer::Udp => tunnel::in_udp(bytes),
        Layer::IpProtocol(number) => tunnel::in_ip(number, bytes),
    }
}

/// Returns the TCP segment in an IP packet.
#[inline]
fn tcp_packet(
    record: &Record<'_>,
    ip: &Ip<'_>,
    is_tunnelled: bool,
    fragments: Option<NonZeroU32>,
) -> Result<Packet, Skipped> {
    let header = tcp_header::parse(ip.payload).ok_or(Skipped::Truncated)?;
    let segment = Segment {
        len: ip.payload_len.saturating_sub(header.len),
        ecn: match ip.ecn {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
        ..header.segment
    };
    Ok(Packet {
        at_ns: record.at_ns,
        source: SocketAddr::new(ip.source, header.source_port),
        destination: SocketAddr::new(ip.destination, header.destination_port),
        segment,
        identification: ip.identification,
        ttl: ip.ttl,
        fingerprint: header.fingerprint,
        is_tunnelled,
        has_wrong_length: ip.has_wrong_length || record.wire_len < record.bytes.len() as u32,
        is_header_cut: header.is_truncated,
        fragments: fragments.map(|key| Fragments {
            key,
            have_payload: ip.fragments.is_some(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: [u8; 2] = [0x45, 0];

    fn next_header(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    /// Returns the bytes from the first header of IP on.
    fn network(link_type: i32, bytes: &[u8]) -> Result<&[u8], Skipped> {
        let (mut layer, mut rest) = link::first(link_type, bytes)?;
        while layer != Layer::Ip {
            (layer, rest) = next_layer(layer, rest)?;
        }
        Ok(rest)
    }

    #[test]
    fn every_link_layer_leads_to_its_packet() {
        let macs = [0; 12];
        let ethernet = |rest: &[u8]| next_header(&[&macs[..], rest].concat());
        let cases: [(i32, Vec<u8>); 11] = [
            (1, ethernet(&[0x08, 0])),
            (1, ethernet(&[0x81, 0, 0, 7, 0x08, 0])),
            (1, ethernet(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 0x86, 0xdd])),
            (1, ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 4, 0, 0x21])),
            (113, next_header(&[&[0; 14][..], &[0x08, 0]].concat())),
            (276, next_header(&[&[0x08, 0][..], &[0; 18]].concat())),
            (
                113,
                next_header(&[&[0; 14][..], &[0x81, 0, 0, 7, 0x08, 0]].concat()),
            ),
            (0, next_header(&[2, 0, 0, 0])),
            (108, next_header(&[0, 0, 0, 2])),
            (101, next_header(&[])),
            (9, next_header(&[0xff, 3, 0, 0x21])),
        ];
        for (link_type, bytes) in cases {
            assert_eq!(network(link_type, &bytes), Ok(&PACKET[..]), "{link_type}");
        }
    }

    #[test]
    fn other_layers_and_cut_headers_are_told_apart() {
        let arp = [&[0; 12][..], &[0x08, 0x06, 0, 1]].concat();
        assert_eq!(network(1, &arp), Err(Skipped::EtherType(0x0806)));
        assert_eq!(network(1, &arp[..13]), Err(Skipped::Truncated));
        assert_eq!(network(147, &arp), Err(Skipped::LinkType(147)));
    }
}
