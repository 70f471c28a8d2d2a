//! Parser: from the bytes of a packet to a segment.

use std::net::{Ipv4Addr, SocketAddrV4};

use tcp::{Ecn, Flags, Segment};

use super::checksum::PROTOCOL_TCP;
use super::{IpPacket, WireError, read_options};

/// Bits of the fragment offset and of the flag that more fragments follow.
const FRAGMENT: u16 = 0x3fff;

/// Parses the headers of an IPv4 packet with a TCP segment.
///
/// The payload may be cut off; its length comes from the IP header. Checksums are not verified, because a kernel leaves
/// them to its network card. Flags beyond the eight of RFC 9293 §3.1 are lost.
///
/// # Errors
/// If `packet` is something else or ends within its headers.
pub fn parse(packet: &[u8]) -> Result<IpPacket, WireError> {
    let truncated = WireError::Truncated(packet.len());
    let word = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    let long = |at: usize| Some(u32::from_be_bytes(packet.get(at..at + 4)?.try_into().ok()?));
    let first = *packet.first().ok_or(truncated)?;
    let ip_len = usize::from(first & 0x0f) * 4;
    if first >> 4 != 4 || ip_len < 20 {
        return Err(WireError::NotTcp);
    }
    let ip = packet.get(..ip_len).ok_or(truncated)?;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    if ip[9] != PROTOCOL_TCP || u16::from_be_bytes([ip[6], ip[7]]) & FRAGMENT != 0 {
        return Err(WireError::NotTcp);
    }
    let offset = *packet.get(ip_len + 12).ok_or(truncated)?;
    let headers = ip_len + usize::from(offset >> 4) * 4;
    if offset >> 4 < 5 || headers > total {
        return Err(WireError::NotTcp);
    }
    let option_bytes = packet.get(ip_len + 20..headers).ok_or(truncated)?;
    let mut segment = Segment {
        seq: long(ip_len + 4).ok_or(truncated)?,
        ack: long(ip_len + 8).ok_or(truncated)?,
        len: (total - headers) as u32,
        flags: Flags::from_bits(packet[ip_len + 13]),
        eln: packet[ip_len + 12] & 0b1000 != 0,
        window: word(ip_len + 14).ok_or(truncated)?,
        ecn: match ip[1] & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
        ..Segment::default()
    };
    read_options(option_bytes, &mut segment)?;
    let endpoint = |address: usize, port: usize| {
        let address = Ipv4Addr::from_bits(long(address)?);
        Some(SocketAddrV4::new(address, word(port)?))
    };
    Ok(IpPacket {
        source: endpoint(12, ip_len).ok_or(truncated)?,
        destination: endpoint(16, ip_len + 2).ok_or(truncated)?,
        identification: u16::from_be_bytes([ip[4], ip[5]]),
        segment,
    })
}
