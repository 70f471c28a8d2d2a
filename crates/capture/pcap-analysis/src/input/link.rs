//! Link layers: from the bytes of a record to the IP packet in it.

/// Link types of the registry of tcpdump.org that can carry IP.
mod types {
    pub(super) const NULL: i32 = 0;
    pub(super) const ETHERNET: i32 = 1;
    pub(super) const PPP: i32 = 9;
    /// Raw IP as some systems number it.
    pub(super) const RAW_OF_BSD: [i32; 2] = [12, 14];
    pub(super) const RAW: i32 = 101;
    pub(super) const LOOP: i32 = 108;
    pub(super) const LINUX_COOKED: i32 = 113;
    pub(super) const IPV4: i32 = 228;
    pub(super) const IPV6: i32 = 229;
    pub(super) const LINUX_COOKED_2: i32 = 276;
}

/// EtherTypes (IEEE 802 numbers of the IANA).
mod ether_types {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
    pub(super) const PPPOE_SESSION: u16 = 0x8864;
    /// Customer, service and older double tags of VLANs.
    pub(super) const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
}

/// Link layer of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link<'a> {
    /// The packet from its IP header on.
    Ip(&'a [u8]),
    /// A protocol other than IP.
    Other,
    /// The bytes end within the header of the link layer.
    Cut,
    /// A link type that is not read.
    Unknown,
}

/// Returns the IP packet in the bytes of a record.
pub(super) fn network(link_type: i32, bytes: &[u8]) -> Link<'_> {
    match link_type {
        types::ETHERNET => tagged(bytes, 12),
        types::LINUX_COOKED => cooked(bytes, 14, 16),
        types::LINUX_COOKED_2 => cooked(bytes, 0, 20),
        types::NULL | types::LOOP => bytes.get(4..).map_or(Link::Cut, versioned),
        types::RAW | types::IPV4 | types::IPV6 => versioned(bytes),
        types::PPP => ppp(bytes),
        other if types::RAW_OF_BSD.contains(&other) => versioned(bytes),
        _ => Link::Unknown,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

/// Returns the packet behind an EtherType at `at` and any tags behind it.
fn tagged(bytes: &[u8], mut at: usize) -> Link<'_> {
    loop {
        let Some(kind) = word(bytes, at) else {
            return Link::Cut;
        };
        at += 2;
        match kind {
            ether_types::IPV4 | ether_types::IPV6 => {
                return bytes.get(at..).map_or(Link::Cut, versioned);
            }
            ether_types::PPPOE_SESSION => return bytes.get(at + 6..).map_or(Link::Cut, ppp),
            // The tag itself stands between its type and the next one.
            tag if ether_types::TAGS.contains(&tag) => at += 2,
            _ => return Link::Other,
        }
    }
}

/// Returns the packet behind a header of `len` bytes of Linux cooked captures, whose protocol stands at `at`.
fn cooked(bytes: &[u8], at: usize, len: usize) -> Link<'_> {
    match (word(bytes, at), bytes.get(len..)) {
        (Some(ether_types::IPV4 | ether_types::IPV6), Some(packet)) => versioned(packet),
        // The first tag of a VLAN stands where the packet would.
        (Some(kind), Some(rest)) if ether_types::TAGS.contains(&kind) => tagged(rest, 2),
        (Some(_), Some(_)) => Link::Other,
        _ => Link::Cut,
    }
}

/// Returns the packet in a PPP frame (RFC 1661 §2), with or without address and control fields.
fn ppp(bytes: &[u8]) -> Link<'_> {
    const IPV4: u16 = 0x0021;
    const IPV6: u16 = 0x0057;
    let at = if bytes.starts_with(&[0xff, 0x03]) {
        2
    } else {
        0
    };
    match (word(bytes, at), bytes.get(at + 2..)) {
        (Some(IPV4 | IPV6), Some(packet)) => versioned(packet),
        (Some(_), Some(_)) => Link::Other,
        _ => Link::Cut,
    }
}

/// Returns what its first half-octet says to be a packet of IPv4 or IPv6.
fn versioned(bytes: &[u8]) -> Link<'_> {
    match bytes.first().map(|first| first >> 4) {
        Some(4 | 6) => Link::Ip(bytes),
        Some(_) => Link::Other,
        None => Link::Cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: [u8; 2] = [0x45, 0];

    fn behind(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    #[test]
    fn every_link_layer_leads_to_its_packet() {
        let macs = [0; 12];
        let ethernet = |rest: &[u8]| behind(&[&macs[..], rest].concat());
        let cases: [(i32, Vec<u8>); 11] = [
            (1, ethernet(&[0x08, 0])),
            (1, ethernet(&[0x81, 0, 0, 7, 0x08, 0])),
            (1, ethernet(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 0x86, 0xdd])),
            (1, ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 4, 0, 0x21])),
            (113, behind(&[&[0; 14][..], &[0x08, 0]].concat())),
            (276, behind(&[&[0x08, 0][..], &[0; 18]].concat())),
            (
                113,
                behind(&[&[0; 14][..], &[0x81, 0, 0, 7, 0x08, 0]].concat()),
            ),
            (0, behind(&[2, 0, 0, 0])),
            (108, behind(&[0, 0, 0, 2])),
            (101, behind(&[])),
            (9, behind(&[0xff, 3, 0, 0x21])),
        ];
        for (link_type, bytes) in cases {
            assert_eq!(network(link_type, &bytes), Link::Ip(&PACKET), "{link_type}");
        }
    }

    #[test]
    fn other_layers_and_cut_headers_are_told_apart() {
        let arp = [&[0; 12][..], &[0x08, 0x06, 0, 1]].concat();
        assert_eq!(network(1, &arp), Link::Other);
        assert_eq!(network(1, &arp[..13]), Link::Cut);
        assert_eq!(network(147, &arp), Link::Unknown);
    }
}
