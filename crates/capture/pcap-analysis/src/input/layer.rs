//! Layer: protocol of the next header, between a record and TCP.

use super::skipped::Skipped;

/// Protocol of the next header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    Ethernet,
    /// Payload with this EtherType.
    EtherType(u16),
    Ip,
    /// IEEE 802.2.
    Llc,
    /// IEEE 802.11.
    Wifi,
    Ppp,
    /// A datagram of UDP, from its header on.
    Udp,
    /// Payload of IP other than TCP and UDP, with its protocol number.
    IpProtocol(u8),
}

/// The next header with its protocol, or why there is none.
pub(super) type Step<'a> = Result<(Layer, &'a [u8]), Skipped>;

/// Returns the bytes from `at` on as the next header.
#[inline]
pub(super) fn next_header(layer: Layer, bytes: &[u8], at: usize) -> Step<'_> {
    let rest = bytes.get(at..).ok_or(Skipped::Truncated)?;
    Ok((layer, rest))
}

/// Returns the octet at `at`.
#[inline]
pub(super) fn octet(bytes: &[u8], at: usize) -> Result<u8, Skipped> {
    bytes.get(at).copied().ok_or(Skipped::Truncated)
}

/// Returns the 16 bits at `at`.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Result<u16, Skipped> {
    let pair = bytes.get(at..at + 2).ok_or(Skipped::Truncated)?;
    Ok(u16::from_be_bytes([pair[0], pair[1]]))
}
