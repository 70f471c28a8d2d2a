//! Verifies a run from what is seen of it.
//!
//! The checker keeps its own account of every packet and every link, written independently of how
//! links work, and holds each event against it as it happens; so its memory is that of the packets
//! under way, and it can watch runs of any length. The first violation stays.

mod air;
mod ledger;
mod violation;

use std::collections::BTreeMap;

use radio::ran::TtiRecord;
use units::Instant;

use crate::capacity::LinkCapacity;
use crate::routing::Routes;
use crate::validate::validate;
use crate::{
    Backlog, DropReason, HostId, Kind, LinkId, Network, Observer, Packet, Topology, TopologyError,
};
use air::AirLedger;
use ledger::Ledger;
pub use violation::Violation;

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// At a node, before its next link.
    Node(Instant),
    /// In the queue of a link.
    Waiting(LinkId, Instant),
    /// Transmitted by a link, and not at its end before the time.
    OnWire(LinkId, Instant),
    /// Out of the network.
    Gone,
}

/// An observer that verifies that no link is above its rate, no queue above its limit, no packet
/// early, out of order (where the link keeps it) or seen twice, and that none vanishes. On the radio, that
/// no TTI has more resource blocks than the carrier, no block more than its size or more attempts than
/// allowed, and that no user gets more than was decoded for it.
///
/// Identities of packets that have left are remembered, 16 bytes or so each.
pub struct Checker {
    links: Vec<Ledger>,
    air: Option<AirLedger>,
    packets: BTreeMap<u64, Place>,
    inside: usize,
    sent: u64,
    violation: Option<Violation>,
}

impl Checker {
    /// A checker for runs on `topology`.
    ///
    /// # Errors
    /// Those of [`Network::new`].
    pub fn new(topology: &Topology) -> Result<Self, TopologyError> {
        let carriers = validate(topology)?;
        Routes::new(topology)?;
        let ledger = |(config, capacity): (_, LinkCapacity)| Ledger::new(config, capacity);
        Ok(Self {
            links: topology.links.iter().zip(carriers).map(ledger).collect(),
            air: topology.radio.as_ref().map(AirLedger::new),
            packets: BTreeMap::new(),
            inside: 0,
            sent: 0,
            violation: None,
        })
    }

    /// Whether everything seen so far was as it must be.
    ///
    /// # Errors
    /// The first violation.
    pub(crate) fn verify(&self) -> Result<(), Violation> {
        self.violation.clone().map_or(Ok(()), Err)
    }

    /// [`verify`](Self::verify), and that each packet that was sent and has neither been delivered
    /// nor dropped is still inside `network`.
    ///
    /// # Errors
    /// The first violation.
    pub fn verify_with(&self, network: &Network) -> Result<(), Violation> {
        self.verify()?;
        let (seen, inside) = (self.inside, network.packets_inside());
        if seen == inside {
            Ok(())
        } else {
            Err(Violation::Vanished { seen, inside })
        }
    }

    fn note(&mut self, result: Result<(), Violation>) {
        if let (None, Err(violation)) = (&self.violation, result) {
            self.violation = Some(violation);
        }
    }

    fn link(&mut self, link: LinkId) -> &mut Ledger {
        &mut self.links[link.0 as usize]
    }

    fn put(&mut self, packet: u64, place: Place) {
        let before = self.packets.insert(packet, place);
        let was_inside = before.is_some_and(|place| place != Place::Gone);
        self.inside += usize::from(place != Place::Gone);
        self.inside -= usize::from(was_inside);
        self.sent += u64::from(before.is_none());
    }

    fn enter(&mut self, at: Instant, packet: &Packet) -> Result<(), Violation> {
        if self.packets.contains_key(&packet.id) {
            return Err(Violation::Twice {
                packet: packet.id,
                at,
            });
        }
        self.put(packet.id, Place::Node(at));
        Ok(())
    }

    /// The packet is at the end of the link it was on, if any; returns its place.
    fn arrive(&mut self, at: Instant, packet: &Packet) -> Result<(), Violation> {
        match self.packets.get(&packet.id) {
            None if packet.kind == Kind::Cross => self.enter(at, packet),
            None | Some(Place::Gone) => Err(Violation::Twice {
                packet: packet.id,
                at,
            }),
            Some(&Place::Node(since)) => early(packet, at, since),
            Some(&Place::Waiting(link, _)) => {
                let link = self.link(link).name().to_owned();
                Err(Violation::Skipped {
                    packet: packet.id,
                    link,
                    at,
                })
            }
            Some(&Place::OnWire(link, earliest)) => {
                early(packet, at, earliest)?;
                self.put(packet.id, Place::Node(at));
                self.link(link).arrived(packet.id, at)
            }
        }
    }

    fn on_enqueued(
        &mut self,
        at: Instant,
        link: LinkId,
        packet: &Packet,
        backlog: Backlog,
    ) -> Result<(), Violation> {
        self.arrive(at, packet)?;
        self.put(packet.id, Place::Waiting(link, at));
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
            Some(&Place::Waiting(found, since)) if found == link => {
                early(packet, start, since)?;
                self.link(link).dequeued(packet, start, true)?;
            }
            _ => {
                self.arrive(start, packet)?;
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
        let in_transit = packet.kind == Kind::Tcp;
        ledger.transmitted(packet, start, finish, in_transit)?;
        let on_wire = Place::OnWire(link, earliest);
        self.put(packet.id, if in_transit { on_wire } else { Place::Gone });
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
            Some(Place::Waiting(found, _)) if found == link && reason != DropReason::Loss => {
                self.link(link).dequeued(packet, at, false)?;
            }
            _ => self.arrive(at, packet)?,
        }
        self.put(packet.id, Place::Gone);
        Ok(())
    }
}

/// Time does not run backwards.
fn early(packet: &Packet, at: Instant, earliest: Instant) -> Result<(), Violation> {
    if at < earliest {
        Err(Violation::Early {
            packet: packet.id,
            at,
            earliest,
        })
    } else {
        Ok(())
    }
}

impl Observer for Checker {
    fn sent(&mut self, at: Instant, _: HostId, packet: &Packet) {
        let result = self.enter(at, packet);
        self.note(result);
    }

    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let result = self.arrive(at, packet);
        self.note(result);
        if host != packet.destination {
            self.note(Err(Violation::Astray {
                packet: packet.id,
                host,
                at,
            }));
        }
        self.put(packet.id, Place::Gone);
    }

    fn enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        let result = self.on_enqueued(at, link, packet, backlog);
        self.note(result);
    }

    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        let result = self.on_dropped(at, link, packet, reason);
        self.note(result);
    }

    fn transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        let result = self.on_transmitted(link, packet, start, finish);
        self.note(result);
    }

    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        if let Some(air) = &mut self.air {
            let result = air.tti(at, record);
            self.note(result);
        }
    }
}

#[cfg(test)]
mod tests;
