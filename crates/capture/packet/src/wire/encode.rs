//! Encoder: from a segment to the bytes of a packet.

use std::net::{IpAddr, SocketAddr};

use tcp::Ecn;
use tcp::segment::{IP_HEADER, TCP_HEADER};

use super::checksum::{PROTOCOL_TCP, Sum};
use super::{IpPacket, WireError, options};

const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const IPV6: u8 = 0x60;
/// Bytes of an IPv6 header (RFC 8200 section 3).
const IPV6_HEADER: u32 = 40;
const DONT_FRAGMENT: u16 = 0x4000;
/// Initial time to live, or hop limit, of Linux.
const TIME_TO_LIVE: u8 = 64;
/// Bytes of TCP options that the data offset can express (RFC 9293 section 3.1).
const MAX_OPTIONS: u32 = 40;

/// Replaces the content of `out` by the first `snaplen` bytes of the packet (RFC 791, RFC 8200, RFC 9293) and returns the
/// length of the whole packet. The payload is zeros.
///
/// # Errors
/// If options or payload are longer than their length fields allow, or one address is of IPv4 and one of IPv6.
pub fn encode(packet: &IpPacket, snaplen: usize, out: &mut Vec<u8>) -> Result<u16, WireError> {
    let segment = &packet.segment;
    let options_len = segment.options_len();
    if options_len > MAX_OPTIONS {
        return Err(WireError::OptionsTooLong(options_len));
    }
    let header_len = TCP_HEADER + options_len;
    let ip_len = match packet.source {
        SocketAddr::V4(_) => IP_HEADER,
        SocketAddr::V6(_) => IPV6_HEADER,
    };
    let whole = u64::from(ip_len + header_len) + u64::from(segment.len);
    let total = u16::try_from(whole).map_err(|_| WireError::TooLong(whole))?;
    let ecn = match segment.ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    };

    out.clear();
    let segment_len = total - ip_len as u16;
    let addresses = match (packet.source.ip(), packet.destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            out.extend([IPV4_WITHOUT_OPTIONS, ecn]);
            out.extend(total.to_be_bytes());
            out.extend(packet.identification.to_be_bytes());
            out.extend(DONT_FRAGMENT.to_be_bytes());
            out.extend([TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
            out.extend(source.octets());
            out.extend(destination.octets());
            let checksum = Sum::default().add(out).checksum();
            out[10..12].copy_from_slice(&checksum.to_be_bytes());
            12..20
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            out.extend([IPV6, ecn << 4, 0, 0]);
            out.extend(segment_len.to_be_bytes());
            out.extend([PROTOCOL_TCP, TIME_TO_LIVE]);
            out.extend(source.octets());
            out.extend(destination.octets());
            8..40
        }
        _ => return Err(WireError::TwoVersions),
    };

    let tcp_start = out.len();
    out.extend(packet.source.port().to_be_bytes());
    out.extend(packet.destination.port().to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    // The data offset counts 32-bit words, in the upper half of its octet. Below it is the first reserved bit.
    let reserved = u8::from(segment.eln) << 3;
    out.extend([(header_len / 4 * 16) as u8 | reserved, segment.flags.bits()]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]);
    options::write(segment, out);
    debug_assert_eq!(
        out.len() - tcp_start,
        header_len as usize,
        "the segment counts its options"
    );
    // A payload of zeros adds nothing to the sum but its length.
    let sum = Sum::pseudo_header(&out[addresses], segment_len);
    let checksum = sum.add(&out[tcp_start..]).checksum();
    out[tcp_start + 16..tcp_start + 18].copy_from_slice(&checksum.to_be_bytes());

    out.resize(usize::from(total).min(snaplen), 0);
    Ok(total)
}
