//! Parser: from the bytes of a packet to a segment.

use std::net::{IpAddr, SocketAddr};

use tcp::{Ecn, Flags, Segment};

use super::checksum::PROTOCOL_TCP;
use super::{IpPacket, WireError, read_options};

/// Bits of the fragment offset, and of the flag that more fragments follow.
const FRAGMENT_BITS: u16 = 0x3fff;
/// Bytes of an IPv6 header (RFC 8200 section 3).
const IPV6_HEADER: usize = 40;

/// Fields of an IP header.
struct IpHeader {
    /// Length of the header, bytes.
    len: usize,
    /// Length of the packet, bytes.
    total: usize,
    /// Traffic class, of which the last two bits are the ECN field.
    class: u8,
    identification: u16,
    source: IpAddr,
    destination: IpAddr,
}

/// Parses the headers of an IPv4 or IPv6 packet with a TCP segment.
///
/// The payload may be cut off; its length comes from the IP header. Checksums are not verified, because a kernel leaves
/// them to its network card. Flags beyond the eight of RFC 9293 §3.1 are lost.
///
/// # Errors
/// If `packet` is something else, has extension headers of IPv6, or ends within its headers.
pub fn parse(packet: &[u8]) -> Result<IpPacket, WireError> {
    let truncated = WireError::Truncated(packet.len());
    let word = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    let double_word =
        |at: usize| Some(u32::from_be_bytes(packet.get(at..at + 4)?.try_into().ok()?));
    let ip = match packet.first().ok_or(truncated)? >> 4 {
        4 => ipv4(packet)?,
        6 => ipv6(packet)?,
        _ => return Err(WireError::NotTcp),
    };
    let offset = *packet.get(ip.len + 12).ok_or(truncated)?;
    let headers = ip.len + usize::from(offset >> 4) * 4;
    if offset >> 4 < 5 || headers > ip.total {
        return Err(WireError::NotTcp);
    }
    let option_bytes = packet.get(ip.len + 20..headers).ok_or(truncated)?;
    let mut segment = Segment {
        seq: double_word(ip.len + 4).ok_or(truncated)?,
        ack: double_word(ip.len + 8).ok_or(truncated)?,
        len: (ip.total - headers) as u32,
        flags: Flags::from_bits(packet[ip.len + 13]),
        eln: packet[ip.len + 12] & 0b1000 != 0,
        window: word(ip.len + 14).ok_or(truncated)?,
        ecn: match ip.class & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
        ..Segment::default()
    };
    read_options(option_bytes, &mut segment)?;
    let socket_address = |address, port| Some(SocketAddr::new(address, word(port)?));
    Ok(IpPacket {
        source: socket_address(ip.source, ip.len).ok_or(truncated)?,
        destination: socket_address(ip.destination, ip.len + 2).ok_or(truncated)?,
        identification: ip.identification,
        segment,
    })
}

/// Reads the header of an IPv4 packet that holds TCP (RFC 791 section 3.1).
fn ipv4(packet: &[u8]) -> Result<IpHeader, WireError> {
    let len = usize::from(packet[0] & 0x0f) * 4;
    if len < 20 {
        return Err(WireError::NotTcp);
    }
    let header = packet
        .get(..len)
        .ok_or(WireError::Truncated(packet.len()))?;
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & FRAGMENT_BITS != 0;
    if header[9] != PROTOCOL_TCP || is_fragment {
        return Err(WireError::NotTcp);
    }
    Ok(IpHeader {
        len,
        total: usize::from(u16::from_be_bytes([header[2], header[3]])),
        class: header[1],
        identification: u16::from_be_bytes([header[4], header[5]]),
        source: address::<4>(&header[12..]),
        destination: address::<4>(&header[16..]),
    })
}

/// Reads the header of an IPv6 packet that holds TCP (RFC 8200 section 3).
fn ipv6(packet: &[u8]) -> Result<IpHeader, WireError> {
    let header = packet
        .get(..IPV6_HEADER)
        .ok_or(WireError::Truncated(packet.len()))?;
    if header[6] != PROTOCOL_TCP {
        return Err(WireError::NotTcp);
    }
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    Ok(IpHeader {
        len: IPV6_HEADER,
        total: IPV6_HEADER + payload,
        class: header[1] >> 4,
        identification: 0,
        source: address::<16>(&header[8..]),
        destination: address::<16>(&header[24..]),
    })
}

/// Returns the address at the start of `bytes`.
fn address<const N: usize>(bytes: &[u8]) -> IpAddr
where
    IpAddr: From<[u8; N]>,
{
    let mut address = [0; N];
    address.copy_from_slice(&bytes[..N]);
    IpAddr::from(address)
}
