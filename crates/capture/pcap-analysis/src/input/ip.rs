//! IP: from a packet to its payload, through extension headers and tunnels.

use core::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice};

use super::gtp;
use super::skipped::Skipped;

/// Tunnels within each other that are followed.
const DEPTH: u32 = 4;

/// TCP in an IP packet.
pub(super) struct Inner<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// Identification field; 0 for IPv6.
    pub(super) identification: u16,
    /// Lowest two bits of the traffic class.
    pub(super) ecn: u8,
    /// Bytes behind the IP headers that were kept.
    pub(super) payload: &'a [u8],
    /// Bytes behind the IP headers on the wire.
    pub(super) payload_len: u32,
    /// Bytes of the IP packet on the wire.
    pub(super) len: u32,
    /// The length in the IP header is zero, as when a network card cuts the segment, or more than the frame has.
    pub(super) wrong_length: bool,
    /// The packet was in a tunnel.
    pub(super) is_tunnelled: bool,
}

/// Finds TCP in `packet`, of which the wire had `wire_len` bytes.
pub(super) fn find_tcp(packet: &[u8], wire_len: u32) -> Result<Inner<'_>, Skipped> {
    let mut packet = packet;
    let mut wire_len = wire_len;
    for depth in 0..DEPTH {
        let (ip, _) = LaxIpSlice::from_slice(packet).map_err(|_| Skipped::Cut)?;
        if ip.is_fragmenting_payload() {
            return Err(Skipped::Fragment);
        }
        let payload = ip.payload().payload;
        // The payload is a part of the packet, which may have padding behind it.
        let headers = (payload.as_ptr().addr() - packet.as_ptr().addr()) as u32;
        let (said, identification, ecn) = match &ip {
            LaxIpSlice::Ipv4(v4) => {
                let header = v4.header();
                let len = u32::from(header.total_len());
                (len, header.identification(), header.slice()[1] & 0b11)
            }
            LaxIpSlice::Ipv6(v6) => {
                let header = v6.header();
                let len = match header.payload_length() {
                    0 => 0,
                    len => u32::from(len) + 40,
                };
                (len, 0, header.slice()[1] >> 4 & 0b11)
            }
        };
        let (len, wrong_length) = if said < headers {
            (wire_len.max(headers), true)
        } else {
            (said, said > wire_len)
        };
        let payload = &payload[..payload.len().min((len - headers) as usize)];
        match ip.payload_ip_number() {
            IpNumber::TCP => {
                return Ok(Inner {
                    source: ip.source_addr(),
                    destination: ip.destination_addr(),
                    identification,
                    ecn,
                    payload,
                    payload_len: len - headers,
                    len,
                    wrong_length,
                    is_tunnelled: depth > 0,
                });
            }
            IpNumber::UDP => packet = user_packet(payload).ok_or(Skipped::NotTcp)?,
            IpNumber::IPV4 | IpNumber::IPV6 => packet = payload,
            _ => return Err(Skipped::NotTcp),
        }
        let before = (payload.len() - packet.len()) as u32 + headers;
        wire_len = len.saturating_sub(before);
    }
    Err(Skipped::NotTcp)
}

/// Returns the packet in a datagram of GTP-U.
fn user_packet(datagram: &[u8]) -> Option<&[u8]> {
    let ports: &[u8; 4] = datagram.first_chunk()?;
    let is_gtp = [[ports[0], ports[1]], [ports[2], ports[3]]].contains(&gtp::PORT.to_be_bytes());
    gtp::tunnelled(datagram.get(8..)?).filter(|_| is_gtp)
}
