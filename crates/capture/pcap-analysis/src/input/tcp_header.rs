//! TCP header: from the payload of an IP packet to a segment (RFC 9293 §3.1).

use core::hash::Hasher;

use packet::wire::read_options;
use rustc_hash::FxHasher;
use tcp::{Ecn, Flags, Segment};

const FIXED: usize = 20;

/// Header of a TCP segment.
pub(super) struct Header {
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
    /// Length of the header, bytes.
    pub(super) len: u32,
    /// The segment, without the length of its payload.
    pub(super) segment: Segment,
    /// Whether the capture ends within the header.
    pub(super) is_truncated: bool,
    /// Hash of the captured bytes of the header; equal for two captures of the same packet.
    pub(super) fingerprint: u64,
}

/// Parses a header. Its options may be cut off; the captured ones are read.
pub(super) fn parse(bytes: &[u8]) -> Option<Header> {
    let fixed: &[u8; FIXED] = bytes.first_chunk()?;
    let be16 = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let be32 = |at: usize| u32::from(be16(at)) << 16 | u32::from(be16(at + 2));
    let len = usize::from(fixed[12] >> 4) * 4;
    if len < FIXED {
        return None;
    }
    let captured = &bytes[..len.min(bytes.len())];
    let mut segment = Segment {
        seq: be32(4),
        ack: be32(8),
        window: be16(14),
        flags: Flags::from_bits(fixed[13]),
        ecn: Ecn::NotEct,
        ..Segment::default()
    };
    // Options before a malformed one are used; it and those after it are not.
    let _ = read_options(&captured[FIXED..], &mut segment);
    let mut hasher = FxHasher::default();
    hasher.write(captured);
    Some(Header {
        source_port: be16(0),
        destination_port: be16(2),
        len: len as u32,
        is_truncated: captured.len() < len,
        segment,
        fingerprint: hasher.finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_options(options: &[u8]) -> Header {
        let mut bytes = vec![0; FIXED];
        bytes[12] = ((FIXED + options.len()) / 4 * 16) as u8;
        bytes.extend(options);
        parse(&bytes).expect("a header")
    }

    #[test]
    fn options_behind_an_unknown_one_are_read() {
        // An MPTCP option, as phones send it, stands before the timestamps.
        let mptcp = [30, 12, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 0];
        let timestamps = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9];
        let header = with_options(&[&mptcp[..], &timestamps].concat());
        assert_eq!(header.segment.timestamps, Some((7, 9)));
    }

    #[test]
    fn options_before_the_cut_are_read() {
        let mut bytes = vec![0; FIXED];
        bytes[12] = 0x80;
        bytes.extend([2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0]);
        let header = parse(&bytes).expect("a header");
        assert_eq!(header.segment.mss, Some(1_460));
        assert!(header.segment.sack_permitted);
        assert_eq!(header.segment.timestamps, None);
        assert_eq!((header.len, header.is_truncated), (32, true));
    }

    #[test]
    fn a_header_shorter_than_its_fixed_part_is_none() {
        assert!(parse(&[0; FIXED - 1]).is_none());
        assert!(parse(&[0; FIXED]).is_none());
    }
}
