//! IP: from a packet to its payload, through extension headers.

use core::hash::{Hash, Hasher};
use core::net::IpAddr;
use core::num::NonZeroU32;

use etherparse::err::ip::LaxHeaderSliceError;
use etherparse::{Ipv6ExtensionSlice, LaxIpSlice};
use rustc_hash::FxHasher;

use super::skipped::{Fragment, Skipped};

/// A packet of IP.
pub(super) struct Ip<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// Identification field; 0 for IPv6.
    pub(super) identification: u16,
    /// Lowest two bits of the traffic class.
    pub(super) ecn: u8,
    /// Protocol number of the payload.
    pub(super) protocol: u8,
    /// TTL of IPv4, hop limit of IPv6.
    pub(super) ttl: u8,
    /// Captured bytes after the IP headers.
    pub(super) payload: &'a [u8],
    /// Number of bytes after the IP headers on the wire.
    pub(super) payload_len: u32,
    /// Bytes of the IP packet on the wire.
    pub(super) len: u32,
    /// Whether the length in the IP header is zero, as before segmentation by a network card, or longer than the frame.
    pub(super) has_wrong_length: bool,
    /// Key of the packet's fragments if this is the first one.
    pub(super) fragments: Option<NonZeroU32>,
}

/// Parses an IP packet that had `wire_len` bytes on the wire.
#[inline]
pub(super) fn parse(packet: &[u8], wire_len: Option<u32>) -> Result<Ip<'_>, Skipped> {
    let (ip, _) = LaxIpSlice::from_slice(packet).map_err(|error| match error {
        LaxHeaderSliceError::Len(_) => Skipped::Truncated,
        LaxHeaderSliceError::Content(_) => Skipped::NotIp,
    })?;
    let payload = ip.payload().payload;
    // The payload is a part of the packet, which may have padding behind it.
    let headers = (payload.as_ptr().addr() - packet.as_ptr().addr()) as u32;
    let (header_len, identification, ecn, ttl) = match &ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            let len = u32::from(header.total_len());
            let ecn = header.slice()[1] & 0b11;
            (len, header.identification(), ecn, header.ttl())
        }
        LaxIpSlice::Ipv6(v6) => {
            let header = v6.header();
            let len = match header.payload_length() {
                0 => 0,
                len => u32::from(len) + 40,
            };
            (len, 0, header.slice()[1] >> 4 & 0b11, header.hop_limit())
        }
    };
    let (len, has_wrong_length) = if header_len < headers {
        let len = wire_len.unwrap_or(packet.len() as u32);
        (len.max(headers), true)
    } else {
        (
            header_len,
            wire_len.is_some_and(|wire_len| header_len > wire_len),
        )
    };
    let fragments = ip.is_fragmenting_payload().then(|| fragment_key(&ip));
    if let Some((key, false)) = fragments {
        let len = len - headers;
        return Err(Skipped::Fragment(Fragment { key, len }));
    }
    Ok(Ip {
        source: ip.source_addr(),
        destination: ip.destination_addr(),
        identification,
        ecn,
        ttl,
        protocol: ip.payload_ip_number().0,
        payload: &payload[..payload.len().min((len - headers) as usize)],
        payload_len: len - headers,
        len,
        has_wrong_length,
        fragments: fragments.map(|(key, _)| key),
    })
}

/// Returns the key of a fragment, and whether it is the first.
fn fragment_key(ip: &LaxIpSlice<'_>) -> (NonZeroU32, bool) {
    let (identification, offset) = match ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            let offset = header.fragments_offset().value();
            (u32::from(header.identification()), offset)
        }
        LaxIpSlice::Ipv6(v6) => {
            let mut extensions = v6.extensions().clone().into_iter();
            let fragment = extensions.find_map(|extension| match extension {
                Ipv6ExtensionSlice::Fragment(header) => {
                    Some((header.identification(), header.fragment_offset().value()))
                }
                _ => None,
            });
            fragment.unwrap_or_default()
        }
    };
    let mut hasher = FxHasher::default();
    (ip.source_addr(), ip.destination_addr()).hash(&mut hasher);
    (identification, ip.payload_ip_number().0).hash(&mut hasher);
    // The upper bits of FxHash are mixed best.
    let key = NonZeroU32::MIN | (hasher.finish() >> 32) as u32;
    (key, offset == 0)
}
