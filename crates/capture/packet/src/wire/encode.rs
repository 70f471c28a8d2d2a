//! Encoder: from a segment to the bytes of a packet.

use tcp::Ecn;
use tcp::segment::{IP_HEADER, TCP_HEADER};

use super::checksum::{PROTOCOL_TCP, Sum};
use super::{IpPacket, WireError, options};

const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const DONT_FRAGMENT: u16 = 0x4000;
/// Initial time to live of Linux.
const TIME_TO_LIVE: u8 = 64;
const MAX_OPTIONS: u32 = 40;

/// Replaces the content of `out` by the first `snaplen` bytes of the packet (RFC 791, RFC 9293) and returns the length
/// of the whole packet. The payload is zeros.
///
/// # Errors
/// If options or payload are longer than their length fields allow.
pub fn encode(datagram: &IpPacket, snaplen: usize, out: &mut Vec<u8>) -> Result<u16, WireError> {
    let segment = &datagram.segment;
    let options_len = segment.options_len();
    if options_len > MAX_OPTIONS {
        return Err(WireError::OptionsTooLong(options_len));
    }
    let header_len = TCP_HEADER + options_len;
    let whole = u64::from(IP_HEADER + header_len) + u64::from(segment.len);
    let total = u16::try_from(whole).map_err(|_| WireError::TooLong(whole))?;
    let ecn = match segment.ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    };

    out.clear();
    out.extend([IPV4_WITHOUT_OPTIONS, ecn]);
    out.extend(total.to_be_bytes());
    out.extend(datagram.identification.to_be_bytes());
    out.extend(DONT_FRAGMENT.to_be_bytes());
    out.extend([TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
    out.extend(datagram.source.ip().octets());
    out.extend(datagram.destination.ip().octets());
    let checksum = Sum::default().add(out).checksum();
    out[10..12].copy_from_slice(&checksum.to_be_bytes());

    let tcp = out.len();
    out.extend(datagram.source.port().to_be_bytes());
    out.extend(datagram.destination.port().to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    // The data offset counts 32-bit words, in the upper half of its octet. Below it is the first reserved bit.
    let reserved = u8::from(segment.eln) << 3;
    out.extend([(header_len / 4 * 16) as u8 | reserved, segment.flags.bits()]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]);
    options::write(segment, out);
    debug_assert_eq!(
        out.len() - tcp,
        header_len as usize,
        "the segment counts its options"
    );
    // A payload of zeros adds nothing to the sum but its length.
    let sum = Sum::pseudo_header(&out[12..20], total - IP_HEADER as u16);
    let checksum = sum.add(&out[tcp..]).checksum();
    out[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());

    out.resize(usize::from(total).min(snaplen), 0);
    Ok(total)
}
