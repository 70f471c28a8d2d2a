//! Copies: packets that were captured twice.
//!
//! A copy has the same header and, where IPv4 gives one, the same identification. Without identification, packets with
//! the same header that follow each other at once are copies if they have payload or open or close the connection.
//! ACKs can be equal without being copies. They count as copies, one each, where the other packets of their side were
//! captured twice.

use tcp::Flags;

use crate::input::decode::Packet;

/// Number of earlier packets of a side among which copies are searched.
const RECENT_PACKETS: usize = 8;
/// Copies follow within this time, ns.
const COPY_NS: u64 = 1_000_000_000;
/// Copies without an identification follow within this time, ns, before any was seen.
const ANONYMOUS_COPY_NS: u64 = 100_000;
/// A SYN is not repeated before this time, ns (RFC 6298 §2: initial time-outs are a second; some have less).
const SYN_NS: u64 = 100_000_000;
/// Copies follow within this multiple of the longest time between two certain ones.
const SPREAD: u64 = 4;
/// Longest time between copies without an identification, ns.
const MAX_ANONYMOUS_NS: u64 = 20_000_000;

/// A recent packet, without its fingerprint.
#[derive(Clone, Copy, Default)]
struct RecentPacket {
    identification: u16,
    len: u32,
    at_ns: u64,
    copies: u32,
}

/// Packets of one side.
#[derive(Default)]
struct Side {
    fingerprints: [u64; RECENT_PACKETS],
    recent: [RecentPacket; RECENT_PACKETS],
    next: usize,
    /// Packets without an identification of which copies are certain, and these copies.
    originals: u32,
    copies: u32,
    /// Longest time between such a packet and its copy.
    delay_ns: u64,
}

/// Recent packets of both sides.
#[derive(Default)]
pub(super) struct Copies {
    sides: [Side; 2],
}

impl Copies {
    /// Processes a packet; returns whether it is a copy.
    pub(super) fn observe(&mut self, side: usize, packet: &Packet) -> bool {
        let own = &self.sides[side];
        let original = if own.fingerprints.contains(&packet.fingerprint) {
            self.original_of(side, packet)
        } else {
            None
        };
        let own = &mut self.sides[side];
        let is_counted = packet.identification == 0 && is_certain(packet);
        if let Some(index) = original {
            let earlier = &mut own.recent[index];
            earlier.copies += 1;
            if is_counted {
                own.copies += 1;
                own.delay_ns = own.delay_ns.max(packet.at_ns - earlier.at_ns);
            }
        } else {
            own.originals += u32::from(is_counted);
            own.fingerprints[own.next] = packet.fingerprint;
            own.recent[own.next] = RecentPacket {
                identification: packet.identification,
                len: packet.segment.len,
                at_ns: packet.at_ns,
                copies: 0,
            };
            own.next = (own.next + 1) % RECENT_PACKETS;
        }
        original.is_some()
    }

    /// Returns the index of the recent packet of which `packet` is a copy.
    fn original_of(&self, side: usize, packet: &Packet) -> Option<usize> {
        let own = &self.sides[side];
        let copies_per_packet = self.copies_per_packet(side);
        let is_identified = packet.identification != 0;
        let limit = if is_identified {
            COPY_NS
        } else if packet.segment.flags.contains(Flags::SYN) {
            SYN_NS
        } else if is_certain(packet) || copies_per_packet > 0 {
            (SPREAD * own.delay_ns).clamp(ANONYMOUS_COPY_NS, MAX_ANONYMOUS_NS)
        } else {
            return None;
        };
        (0..RECENT_PACKETS).find(|index| {
            let earlier = &own.recent[*index];
            own.fingerprints[*index] == packet.fingerprint
                && earlier.identification == packet.identification
                && earlier.len == packet.segment.len
                && earlier.at_ns != 0
                && packet.at_ns.saturating_sub(earlier.at_ns) < limit
                && (is_identified || is_certain(packet) || earlier.copies < copies_per_packet)
        })
    }

    /// Returns the number of copies of each packet without an identification, from the certain copies of its side. Without
    /// certain ones, those of the other side count.
    fn copies_per_packet(&self, side: usize) -> u32 {
        let sides = [&self.sides[side], &self.sides[1 - side]];
        let counted = sides.into_iter().find(|side| side.originals > 0);
        counted.map_or(0, |side| {
            (2 * side.copies + side.originals) / (2 * side.originals)
        })
    }
}

/// Returns whether no host repeats such a packet at once, so that an equal one is a copy.
fn is_certain(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    packet.segment.len > 0 || flags.contains(Flags::SYN) || flags.contains(Flags::FIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;
    use tcp::Segment;

    const US: u64 = 1_000;

    fn packet(at_ns: u64, len: u32, fingerprint: u64, flags: Flags) -> Packet {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Packet {
            at_ns,
            source: nowhere,
            destination: nowhere,
            segment: Segment {
                len,
                flags,
                ..Segment::default()
            },
            ttl: 64,
            identification: 0,
            fingerprint,
            is_tunnelled: false,
            has_wrong_length: false,
            is_header_cut: false,
            fragments: None,
        }
    }

    #[test]
    fn acks_that_are_alike_are_copies_only_where_all_packets_have_copies() {
        for doubled in [false, true] {
            let mut copies = Copies::default();
            let mut at = 1_000_000 * US;
            let mut found = 0;
            let mut take = |len, fingerprint, flags| {
                at += 500 * US;
                let copy = copies.observe(0, &packet(at, len, fingerprint, flags));
                assert!(!copy);
                if doubled {
                    let again = packet(at + 15 * US, len, fingerprint, flags);
                    found += u32::from(copies.observe(0, &again));
                }
            };
            take(0, 1, Flags::SYN);
            take(100, 2, Flags::ACK);
            // Three duplicate ACKs, one as the other.
            for _ in 0..3 {
                take(0, 3, Flags::ACK);
            }
            assert_eq!(found, if doubled { 5 } else { 0 });
        }
    }

    #[test]
    fn a_retransmission_is_no_copy() {
        let mut copies = Copies::default();
        assert!(!copies.observe(1, &packet(1_000 * US, 900, 7, Flags::ACK)));
        assert!(!copies.observe(1, &packet(1_900 * US, 900, 7, Flags::ACK)));
    }
}
