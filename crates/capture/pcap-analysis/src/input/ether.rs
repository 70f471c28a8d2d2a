//! EtherTypes: from Ethernet through tags, labels and services to the packet (IEEE 802.3 §3.2.6, RFC 3032).

use etherparse::{EtherType, LaxMacsecSlice};

use super::layer::{Layer, Step, next_header, octet, word};
use super::skipped::Skipped;

/// EtherTypes (IEEE 802 numbers of the IANA).
pub(super) mod ether_types {
    pub(in crate::input) const IPV4: u16 = 0x0800;
    pub(in crate::input) const IPV6: u16 = 0x86dd;
    /// Ethernet in GRE and others (RFC 1701, NVGRE of RFC 7637).
    pub(in crate::input) const BRIDGED: u16 = 0x6558;
    pub(in crate::input) const PPP: u16 = 0x880b;
    pub(in crate::input) const WCCP: u16 = 0x883e;
    pub(in crate::input) const PPPOE_SESSION: u16 = 0x8864;
    /// Customer, service and older double tags of VLANs.
    pub(in crate::input) const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
    /// Cisco VN-Tag.
    pub(in crate::input) const VN_TAG: u16 = 0x8926;
    /// Tag of IEEE 802.1BR.
    pub(in crate::input) const E_TAG: u16 = 0x893f;
    /// Service instance tag of provider backbone bridges (IEEE 802.1ah).
    pub(in crate::input) const I_TAG: u16 = 0x88e7;
    pub(in crate::input) const MPLS: [u16; 2] = [0x8847, 0x8848];
    pub(in crate::input) const MACSEC: u16 = 0x88e5;
    /// Network service header (RFC 8300).
    pub(in crate::input) const NSH: u16 = 0x894f;
    /// ERSPAN of types I and II, and of type III (draft-foschiano-erspan).
    pub(in crate::input) const ERSPAN: u16 = 0x88be;
    pub(in crate::input) const ERSPAN_3: u16 = 0x22eb;
}

/// Largest value of the field that is the length of an IEEE 802.3 frame, and no EtherType.
const MAX_LENGTH: u16 = 1_500;
/// Bytes of the addresses of an Ethernet frame.
const ADDRESSES: usize = 12;

/// Returns the layer in an Ethernet frame.
#[inline]
pub(super) fn frame(bytes: &[u8]) -> Step<'_> {
    let kind = word(bytes, ADDRESSES)?;
    let layer = match kind {
        ether_types::IPV4 | ether_types::IPV6 => Layer::Ip,
        0..=MAX_LENGTH => Layer::Llc,
        _ => Layer::EtherType(kind),
    };
    next_header(layer, bytes, ADDRESSES + 2)
}

/// Returns whether the bytes look like an Ethernet frame with IP, tags or labels.
pub(super) fn is_frame(bytes: &[u8]) -> bool {
    let Ok(kind) = word(bytes, ADDRESSES) else {
        return false;
    };
    let version = bytes.get(ADDRESSES + 2).map(|first| first >> 4);
    match kind {
        ether_types::IPV4 => version == Some(4),
        ether_types::IPV6 => version == Some(6),
        tag => ether_types::TAGS.contains(&tag) || ether_types::MPLS.contains(&tag),
    }
}

/// Returns the layer behind an EtherType.
pub(super) fn by_ether_type(kind: u16, bytes: &[u8]) -> Step<'_> {
    match kind {
        ether_types::IPV4 | ether_types::IPV6 => Ok((Layer::Ip, bytes)),
        ether_types::BRIDGED => Ok((Layer::Ethernet, bytes)),
        ether_types::PPP => Ok((Layer::Ppp, bytes)),
        ether_types::PPPOE_SESSION => next_header(Layer::Ppp, bytes, 6),
        ether_types::VN_TAG => next_ether_type(bytes, 4),
        ether_types::E_TAG => next_ether_type(bytes, 6),
        ether_types::I_TAG => next_header(Layer::Ethernet, bytes, 4),
        ether_types::MACSEC => macsec(bytes),
        ether_types::NSH => service_header(bytes),
        // The tag itself stands between its type and the next one.
        tag if ether_types::TAGS.contains(&tag) => next_ether_type(bytes, 2),
        labels if ether_types::MPLS.contains(&labels) => mpls(bytes),
        other => Err(Skipped::EtherType(other)),
    }
}

/// Returns the layer behind the EtherType at `at`.
fn next_ether_type(bytes: &[u8], at: usize) -> Step<'_> {
    next_header(Layer::EtherType(word(bytes, at)?), bytes, at + 2)
}

/// Returns the layer behind a stack of labels. Labels have no field for its protocol (RFC 3032 §2.2).
pub(super) fn mpls(bytes: &[u8]) -> Step<'_> {
    const BOTTOM: u8 = 1;
    let mut at = 0;
    while octet(bytes, at + 2)? & BOTTOM == 0 {
        at += 4;
    }
    at += 4;
    match octet(bytes, at)? >> 4 {
        4 | 6 if !is_frame(&bytes[at..]) => next_header(Layer::Ip, bytes, at),
        // A pseudowire with a control word (RFC 4448 §4.6), or without.
        0 if is_frame(bytes.get(at + 4..).unwrap_or_default()) => {
            next_header(Layer::Ethernet, bytes, at + 4)
        }
        _ => next_header(Layer::Ethernet, bytes, at),
    }
}

/// Returns the layer behind a security tag, if it is not encrypted (IEEE 802.1AE).
fn macsec(bytes: &[u8]) -> Step<'_> {
    let slice = LaxMacsecSlice::from_slice(bytes).map_err(|_| Skipped::Truncated)?;
    let payload = slice.ether_payload().ok_or(Skipped::Encrypted("MACsec"))?;
    let EtherType(kind) = payload.ether_type;
    Ok((Layer::EtherType(kind), payload.payload))
}

/// Returns the layer behind a network service header.
pub(super) fn service_header(bytes: &[u8]) -> Step<'_> {
    let len = usize::from(octet(bytes, 1)? & 0x3f) * 4;
    next_protocol(octet(bytes, 3)?, bytes, len)
}

/// Returns the layer that the registry of NSH, which VXLAN-GPE shares, numbers as `protocol`.
pub(super) fn next_protocol(protocol: u8, bytes: &[u8], at: usize) -> Step<'_> {
    let kind = match protocol {
        1 => ether_types::IPV4,
        2 => ether_types::IPV6,
        3 => ether_types::BRIDGED,
        4 => ether_types::NSH,
        5 => ether_types::MPLS[0],
        _ => return Err(Skipped::Other("NSH or VXLAN-GPE without a packet")),
    };
    next_header(Layer::EtherType(kind), bytes, at)
}

/// Returns the layer behind the header of IEEE 802.2.
pub(super) fn llc(bytes: &[u8]) -> Step<'_> {
    const SNAP: [u8; 3] = [0xaa, 0xaa, 0x03];
    const IP: u8 = 0x06;
    /// Organizations whose protocol numbers are EtherTypes: RFC 1042 and IEEE 802.1H.
    const ETHERNET: [[u8; 3]; 2] = [[0, 0, 0], [0, 0, 0xf8]];
    /// Bridged frames (RFC 2684 §5.2).
    const BRIDGE: [u8; 3] = [0, 0x80, 0xc2];
    let header: &[u8; 3] = bytes.first_chunk().ok_or(Skipped::Truncated)?;
    if *header != SNAP {
        return if header[..2] == [IP, IP] {
            next_header(Layer::Ip, bytes, 3)
        } else {
            Err(Skipped::Llc)
        };
    }
    let organization: &[u8] = bytes.get(3..6).ok_or(Skipped::Truncated)?;
    let kind = word(bytes, 6)?;
    if ETHERNET.iter().any(|ethernet| ethernet == organization) {
        next_header(Layer::EtherType(kind), bytes, 8)
    } else if organization == BRIDGE && matches!(kind, 1 | 7) {
        next_header(Layer::Ethernet, bytes, 10)
    } else {
        Err(Skipped::Llc)
    }
}
