//! Tunnels: from the payload of IP or UDP to the packet or frame that it carries.

use super::ether::{self, ether_types};
use super::gtp;
use super::layer::{Layer, Step, next_header, octet, word};
use super::skipped::Skipped;
use super::wifi;

/// UDP ports of tunnels (registry of the IANA; 8472 is VXLAN in Linux).
mod ports {
    pub(super) const HTTPS: u16 = 443;
    pub(super) const L2TP: u16 = 1_701;
    pub(super) const GTP: u16 = super::gtp::PORT;
    pub(super) const TEREDO: u16 = 3_544;
    pub(super) const LISP: u16 = 4_341;
    pub(super) const ESP: u16 = 4_500;
    pub(super) const VXLAN: [u16; 2] = [4_789, 8_472];
    pub(super) const VXLAN_GPE: u16 = 4_790;
    pub(super) const CAPWAP_DATA: u16 = 5_247;
    pub(super) const GUE: u16 = 6_080;
    pub(super) const GENEVE: u16 = 6_081;
    pub(super) const MPLS: u16 = 6_635;
    pub(super) const TZSP: u16 = 37_008;
}

/// Protocol numbers of tunnels in IP (registry of the IANA).
mod protocols {
    pub(super) const IPV4: u8 = 4;
    pub(super) const IPV6: u8 = 41;
    pub(super) const GRE: u8 = 47;
    pub(super) const ESP: u8 = 50;
    pub(super) const ETHER_IP: u8 = 97;
    pub(super) const L2TP: u8 = 115;
    pub(super) const MPLS: u8 = 137;
}

/// Returns the layer that IP carries with this protocol number.
pub(super) fn in_ip(protocol: u8, bytes: &[u8]) -> Step<'_> {
    match protocol {
        protocols::IPV4 | protocols::IPV6 => Ok((Layer::Ip, bytes)),
        protocols::GRE => gre(bytes),
        protocols::ETHER_IP => next_header(Layer::Ethernet, bytes, 2),
        protocols::L2TP => l2tp_session(bytes),
        protocols::MPLS => ether::mpls(bytes),
        protocols::ESP => Err(Skipped::Encrypted("ESP")),
        other => Err(Skipped::Ip(other)),
    }
}

/// Returns the layer in a datagram of UDP, if one of its ports is that of a tunnel.
pub(super) fn in_udp(datagram: &[u8]) -> Step<'_> {
    let ports = [word(datagram, 2)?, word(datagram, 0)?];
    let payload = datagram.get(8..).ok_or(Skipped::Truncated)?;
    for port in ports {
        return match port {
            ports::GTP => gtp::inner_packet(payload)
                .map(|packet| (Layer::Ip, packet))
                .ok_or(Skipped::Other("GTP-U without a packet")),
            port if ports::VXLAN.contains(&port) => vxlan(payload),
            ports::VXLAN_GPE => ether::next_protocol(octet(payload, 3)?, payload, 8),
            ports::GENEVE => geneve(payload),
            ports::L2TP => l2tp(payload),
            ports::CAPWAP_DATA => capwap(payload),
            ports::MPLS => ether::mpls(payload),
            ports::LISP => next_header(Layer::Ip, payload, 8),
            ports::GUE => gue(payload),
            ports::TEREDO => teredo(payload),
            ports::TZSP => tzsp(payload),
            ports::ESP => Err(Skipped::Encrypted("ESP in UDP")),
            ports::HTTPS => Err(Skipped::Encrypted("QUIC")),
            _ => continue,
        };
    }
    Err(Skipped::Ip(17))
}

/// Generic routing encapsulation (RFC 2784, RFC 2890; version 1 of RFC 2637), with NVGRE and ERSPAN.
fn gre(bytes: &[u8]) -> Step<'_> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACK: u16 = 0x0080;
    let (flags, kind) = (word(bytes, 0)?, word(bytes, 2)?);
    let fields = [
        flags & (CHECKSUM | ROUTING) != 0,
        flags & KEY != 0,
        flags & SEQUENCE != 0,
        flags & 0b111 == 1 && flags & ACK != 0,
    ];
    let at = 4 + 4 * fields.into_iter().filter(|field| *field).count();
    match kind {
        // Type I has no header of its own, and no sequence number.
        ether_types::ERSPAN if flags & SEQUENCE == 0 => next_header(Layer::Ethernet, bytes, at),
        ether_types::ERSPAN => next_header(Layer::Ethernet, bytes, at + 8),
        ether_types::ERSPAN_3 => erspan_3(bytes.get(at..).ok_or(Skipped::Truncated)?),
        // Some redirected packets have a header of four octets before them.
        ether_types::WCCP if octet(bytes, at)? >> 4 != 4 => next_header(Layer::Ip, bytes, at + 4),
        ether_types::WCCP => next_header(Layer::Ip, bytes, at),
        kind => next_header(Layer::EtherType(kind), bytes, at),
    }
}

/// ERSPAN type III: its header can have another one of eight octets behind it.
fn erspan_3(bytes: &[u8]) -> Step<'_> {
    const IP: u8 = 2;
    let flags = octet(bytes, 11)?;
    let at = if flags & 1 == 0 { 12 } else { 20 };
    let frame_type = octet(bytes, 10)? >> 2 & 0x1f;
    next_header(
        if frame_type == IP {
            Layer::Ip
        } else {
            Layer::Ethernet
        },
        bytes,
        at,
    )
}

/// VXLAN (RFC 7348 §5).
fn vxlan(bytes: &[u8]) -> Step<'_> {
    const HAS_NUMBER: u8 = 0x08;
    if octet(bytes, 0)? & HAS_NUMBER == 0 {
        return Err(Skipped::Ip(17));
    }
    next_header(Layer::Ethernet, bytes, 8)
}

/// Geneve (RFC 8926 §3.4).
fn geneve(bytes: &[u8]) -> Step<'_> {
    let options = usize::from(octet(bytes, 0)? & 0x3f) * 4;
    next_header(Layer::EtherType(word(bytes, 2)?), bytes, 8 + options)
}

/// L2TP in UDP: version 2 (RFC 2661 §3.1) carries PPP, version 3 (RFC 3931 §4.1.2) any payload.
fn l2tp(bytes: &[u8]) -> Step<'_> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = word(bytes, 0)?;
    if flags & CONTROL != 0 {
        return Err(Skipped::Other("L2TP without a packet"));
    }
    if flags & 0b1111 == 3 {
        return l2tp_session(bytes.get(4..).ok_or(Skipped::Truncated)?);
    }
    let mut at = 6;
    for (field, len) in [(LENGTH, 2), (SEQUENCE, 4)] {
        if flags & field != 0 {
            at += len;
        }
    }
    if flags & OFFSET != 0 {
        at += 2 + usize::from(word(bytes, at)?);
    }
    next_header(Layer::Ppp, bytes, at)
}

/// Session of L2TPv3 (RFC 3931 §4.1). The ends agree beforehand on the lengths of cookie and sublayer, and on the payload,
/// so that any bytes that look like a frame, PPP or a packet are taken for it.
fn l2tp_session(bytes: &[u8]) -> Step<'_> {
    const HEADERS: [usize; 4] = [4, 8, 12, 16];
    const PPP: [u8; 3] = [0xff, 0x03, 0x00];
    let rests = HEADERS.map(|at| bytes.get(at..).unwrap_or_default());
    if word(bytes, 0)? == 0 && word(bytes, 2)? == 0 {
        return Err(Skipped::Other("L2TP without a packet"));
    }
    let find = |layer: Layer, matches: fn(&[u8]) -> bool| {
        let rest = rests.into_iter().find(|rest| matches(rest))?;
        Some((layer, rest))
    };
    find(Layer::Ethernet, ether::is_frame)
        .or_else(|| find(Layer::Ppp, |rest| rest.starts_with(&PPP)))
        .or_else(|| find(Layer::Ip, |rest| matches!(rest.first(), Some(0x45 | 0x60))))
        .ok_or(Skipped::Other("L2TP without a packet"))
}

/// Data of CAPWAP (RFC 5415 §4.3): frames of IEEE 802.3 or, natively, of IEEE 802.11.
fn capwap(bytes: &[u8]) -> Step<'_> {
    const ENCRYPTED: u8 = 1;
    const NATIVE: u8 = 0b0000_0001;
    const FRAGMENT: u8 = 0b1000_0000;
    const KEEP_ALIVE: u8 = 0b0000_1000;
    if octet(bytes, 0)? & 0x0f == ENCRYPTED {
        return Err(Skipped::Encrypted("CAPWAP"));
    }
    let flags = octet(bytes, 3)?;
    if flags & KEEP_ALIVE != 0 {
        return Err(Skipped::Other("CAPWAP without a frame"));
    }
    if flags & FRAGMENT != 0 && word(bytes, 6)? >> 3 != 0 {
        return Err(Skipped::Other("later fragment of CAPWAP"));
    }
    let at = usize::from(octet(bytes, 1)? >> 3) * 4;
    if octet(bytes, 2)? & NATIVE == 0 {
        return next_header(Layer::Ethernet, bytes, at);
    }
    wifi::frame_of_controller(bytes.get(at..).ok_or(Skipped::Truncated)?)
}

/// Generic UDP encapsulation (draft-ietf-intarea-gue): a header with a protocol number, or IP directly.
fn gue(bytes: &[u8]) -> Step<'_> {
    const CONTROL: u8 = 0b0010_0000;
    let first = octet(bytes, 0)?;
    match first >> 6 {
        0 if first & CONTROL == 0 => {
            let at = 4 + usize::from(first & 0x1f) * 4;
            next_header(Layer::IpProtocol(octet(bytes, 1)?), bytes, at)
        }
        1 => Ok((Layer::Ip, bytes)),
        _ => Err(Skipped::Other("GUE without a packet")),
    }
}

/// Teredo (RFC 4380 §5.1.1): IPv6 behind indications of authentication and origin.
fn teredo(bytes: &[u8]) -> Step<'_> {
    let mut at = 0;
    if word(bytes, at)? == 1 {
        let (client_len, data_len) = (octet(bytes, at + 2)?, octet(bytes, at + 3)?);
        at += 13 + usize::from(client_len) + usize::from(data_len);
    }
    if word(bytes, at)? == 0 {
        at += 8;
    }
    next_header(Layer::Ip, bytes, at)
}

/// TZSP, in which access points forward captured frames: tagged fields, then a frame.
fn tzsp(bytes: &[u8]) -> Step<'_> {
    const PADDING: u8 = 0;
    const END: u8 = 1;
    const ETHERNET: u16 = 1;
    const WIFI: u16 = 18;
    let layer = match word(bytes, 2)? {
        ETHERNET => Layer::Ethernet,
        WIFI => Layer::Wifi,
        _ => return Err(Skipped::Other("TZSP without a frame")),
    };
    let mut at = 4;
    loop {
        match octet(bytes, at)? {
            END => return next_header(layer, bytes, at + 1),
            PADDING => at += 1,
            _ => at += 2 + usize::from(octet(bytes, at + 1)?),
        }
    }
}
