//! Checker: verifies a run from the events that an observer sees.
//!
//! The checker has its own account of every packet and every link, written independently of how links work, and
//! compares each event with it as it happens. So its memory is that of the packets under way, and it can watch runs of
//! any length. It reports the first violation.

mod link_audit;
mod radio_audit;
mod violation;

use std::collections::HashMap;

use radio::ran::TtiRecord;
use units::Instant;

use crate::routing::Routes;
use crate::validate::validate;
use crate::{
    Backlog, DropReason, HostId, LinkId, Network, Observer, Packet, Topology, TopologyError,
};
use link_audit::LinkAudit;
use radio_audit::RadioAudit;
pub use violation::Violation;

/// Place of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PacketLocation {
    /// At a node since a time, before its next link.
    Node(HostId, Instant),
    /// In the queue of a link.
    Waiting(LinkId, Instant),
    /// Transmitted by a link, and not at its end before the time.
    OnWire(LinkId, Instant),
    /// Out of the network.
    Left,
}

/// An observer that verifies a run.
///
/// No link may be above its rate and no queue above its limit. No packet may be early, out of order (unless the link
/// reorders), duplicated, or off its route. A packet appears only where it is sent or created, and vanishes only where it
/// is received, absorbed or dropped.
///
/// On the radio, no TTI may have more resource blocks than the carrier, and no block more than its size or more attempts
/// than allowed. No user may get more than was decoded for it, or than its cell could carry in addition to the other
/// users.
///
/// The checker remembers the identities of packets that have left, about 16 bytes each.
pub struct Checker {
    links: Vec<LinkAudit>,
    air: Option<RadioAudit>,
    packets: HashMap<u64, PacketLocation>,
    inside: usize,
    sent: u64,
    violation: Option<Violation>,
}

impl Checker {
    /// Builds a checker for runs on `topology`.
    ///
    /// # Errors
    /// Those of [`Network::new`].
    pub fn new(topology: &Topology) -> Result<Self, TopologyError> {
        validate(topology)?;
        Routes::new(topology)?;
        Ok(Self {
            links: topology.links.iter().map(LinkAudit::new).collect(),
            air: topology.radio.as_ref().map(RadioAudit::new),
            packets: HashMap::new(),
            inside: 0,
            sent: 0,
            violation: None,
        })
    }

    /// Verifies the events seen so far.
    ///
    /// # Errors
    /// The first violation.
    pub(crate) fn verify(&self) -> Result<(), Violation> {
        self.violation.clone().map_or(Ok(()), Err)
    }

    /// Verifies the events seen so far, and that each packet that has begun its way and not ended it is inside
    /// `network`.
    ///
    /// # Errors
    /// The first violation.
    pub fn verify_with(&self, network: &Network) -> Result<(), Violation> {
        self.verify()?;
        let (seen, inside) = (self.inside, network.packets_inside());
        if seen == inside {
            Ok(())
        } else {
            Err(Violation::CountMismatch { seen, inside })
        }
    }

    fn note(&mut self, result: Result<(), Violation>) {
        if let (None, Err(violation)) = (&self.violation, result) {
            self.violation = Some(violation);
        }
    }

    fn link(&mut self, link: LinkId) -> &mut LinkAudit {
        &mut self.links[link.0 as usize]
    }

    fn put(&mut self, packet: u64, place: PacketLocation) {
        let before = self.packets.insert(packet, place);
        let was_inside = before.is_some_and(|place| place != PacketLocation::Left);
        self.inside += usize::from(place != PacketLocation::Left);
        self.inside -= usize::from(was_inside);
        self.sent += u64::from(before.is_none());
    }

    fn enter(&mut self, at: Instant, node: HostId, packet: &Packet) -> Result<(), Violation> {
        if self.packets.contains_key(&packet.id) {
            return Err(Violation::Duplicate {
                packet: packet.id,
                at,
            });
        }
        self.put(packet.id, PacketLocation::Node(node, at));
        Ok(())
    }

    /// Verifies that the packet can be at `node`, and takes it from the link that it was on, if any.
    fn arrive(&mut self, at: Instant, node: HostId, packet: &Packet) -> Result<(), Violation> {
        let actual = match self.packets.get(&packet.id) {
            None if packet.is_cross() => return self.enter(at, node, packet),
            None | Some(PacketLocation::Left) => {
                return Err(Violation::Duplicate {
                    packet: packet.id,
                    at,
                });
            }
            Some(&PacketLocation::Waiting(link, _)) => {
                let link = self.link(link).name().to_owned();
                return Err(Violation::NotTransmitted {
                    packet: packet.id,
                    link,
                    at,
                });
            }
            Some(&PacketLocation::Node(place, since)) => {
                early(packet, at, since)?;
                place
            }
            Some(&PacketLocation::OnWire(link, earliest)) => {
                early(packet, at, earliest)?;
                self.put(packet.id, PacketLocation::Node(node, at));
                self.link(link).arrived(packet.id, at)?;
                self.link(link).ends().1
            }
        };
        if actual == node {
            return Ok(());
        }
        Err(Violation::WrongNode {
            packet: packet.id,
            node,
            actual,
            at,
        })
    }

    /// Removes the packet from the account, because it ends its way at `node`.
    fn leave(&mut self, at: Instant, node: HostId, packet: &Packet) -> Result<(), Violation> {
        let result = self.arrive(at, node, packet);
        self.put(packet.id, PacketLocation::Left);
        result
    }

    fn on_enqueued(
        &mut self,
        at: Instant,
        link: LinkId,
        packet: &Packet,
        backlog: Backlog,
    ) -> Result<(), Violation> {
        let from = self.link(link).ends().0;
        self.arrive(at, from, packet)?;
        self.put(packet.id, PacketLocation::Waiting(link, at));
        self.link(link).enqueued(packet, at, backlog)
    }

    fn on_transmitted(
        &mut self,
        link: LinkId,
        packet: &Packet,
        start: Instant,
        finish: Instant,
    ) -> Result<(), Violation> {
        match self.packets.get(&packet.id) {
            Some(&PacketLocation::Waiting(at_link, since)) if at_link == link => {
                early(packet, start, since)?;
                self.link(link).dequeued(packet, start, true)?;
            }
            _ => {
                let from = self.link(link).ends().0;
                self.arrive(start, from, packet)?;
                self.link(link).passed(packet, start)?;
            }
        }
        early(packet, finish, start)?;
        let carried = (self.link(link).user(), self.air.as_mut());
        if let (Some((user, direction)), Some(air)) = carried {
            air.arrived(user, direction, packet.size, finish)?;
        }
        let ledger = self.link(link);
        let earliest = finish + ledger.delay();
        let in_transit = !packet.is_cross();
        ledger.transmitted(packet, start, finish, in_transit)?;
        let on_wire = PacketLocation::OnWire(link, earliest);
        self.put(
            packet.id,
            if in_transit {
                on_wire
            } else {
                PacketLocation::Left
            },
        );
        Ok(())
    }

    fn on_dropped(
        &mut self,
        at: Instant,
        link: LinkId,
        packet: &Packet,
        reason: DropReason,
    ) -> Result<(), Violation> {
        let place = self.packets.get(&packet.id).copied();
        match place {
            Some(PacketLocation::Waiting(at_link, _))
                if at_link == link && reason != DropReason::Loss =>
            {
                self.link(link).dequeued(packet, at, false)?;
            }
            // Lost on the wire.
            Some(PacketLocation::OnWire(at_link, _)) if at_link == link => {
                let to = self.link(link).ends().1;
                self.arrive(at, to, packet)?;
            }
            // Rejected before the queue.
            _ => {
                let from = self.link(link).ends().0;
                self.arrive(at, from, packet)?;
            }
        }
        self.put(packet.id, PacketLocation::Left);
        Ok(())
    }
}

/// Verifies that the packet is not seen before `earliest`.
fn early(packet: &Packet, at: Instant, earliest: Instant) -> Result<(), Violation> {
    if at < earliest {
        Err(Violation::TooEarly {
            packet: packet.id,
            at,
            earliest,
        })
    } else {
        Ok(())
    }
}

// Most runs go without a checker: its code stays out of the functions that would call it.
impl Observer for Checker {
    #[cold]
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let result = self.enter(at, host, packet);
        self.note(result);
    }

    #[cold]
    fn created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let result = self.enter(at, node, packet);
        self.note(result);
    }

    #[cold]
    fn arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let result = self.arrive(at, node, packet);
        self.note(result);
    }

    #[cold]
    fn absorbed(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let result = self.leave(at, node, packet);
        self.note(result);
    }

    #[cold]
    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        if host != packet.destination {
            self.note(Err(Violation::WrongDestination {
                packet: packet.id,
                host,
                at,
            }));
        }
        let result = self.leave(at, host, packet);
        self.note(result);
    }

    #[cold]
    fn enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        let result = self.on_enqueued(at, link, packet, backlog);
        self.note(result);
    }

    #[cold]
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        let result = self.on_dropped(at, link, packet, reason);
        self.note(result);
    }

    #[cold]
    fn transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        let result = self.on_transmitted(link, packet, start, finish);
        self.note(result);
    }

    #[cold]
    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        if let Some(air) = &mut self.air {
            let result = air.tti(at, record);
            self.note(result);
        }
    }
}

#[cfg(test)]
mod tests;
