//! PPP: from a frame to the packet in it (RFC 1661 §2).

use super::ether;
use super::layer::{Layer, Step, next_header, octet, word};
use super::skipped::Skipped;

/// Returns the layer in a frame, with or without address and control fields, its protocol in one octet or in two.
pub(super) fn frame(bytes: &[u8]) -> Step<'_> {
    const ADDRESS_AND_CONTROL: [u8; 2] = [0xff, 0x03];
    const IPV4: u16 = 0x0021;
    const BRIDGED: u16 = 0x0031;
    const IPV6: u16 = 0x0057;
    const MPLS: u16 = 0x0281;
    let at = if bytes.starts_with(&ADDRESS_AND_CONTROL) {
        2
    } else {
        0
    };
    // The last octet of a number is odd, all before it are even.
    let first = octet(bytes, at)?;
    let (protocol, at) = if first & 1 == 1 {
        (u16::from(first), at + 1)
    } else {
        (word(bytes, at)?, at + 2)
    };
    match protocol {
        IPV4 | IPV6 => next_header(Layer::Ip, bytes, at),
        // Flags and the kind of the medium (RFC 3518 §4.2).
        BRIDGED => next_header(Layer::Ethernet, bytes, at + 2),
        MPLS => ether::mpls(bytes.get(at..).ok_or(Skipped::Truncated)?),
        other => Err(Skipped::Ppp(other)),
    }
}
