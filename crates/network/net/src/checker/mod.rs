//! Checker: verifies a run from the events that an observer sees.
//!
//! The checker has its own account of every packet and every link, written independently of how links work, and
//! compares each event with it as it happens. It reports the first violation.

mod link_audit;
mod radio_audit;

use std::collections::HashMap;

use radio::ran::TtiRecord;
use units::Instant;

use crate::routing::Routes;
use crate::validate::validate;
use crate::{Backlog, DropReason, HostId, LinkId, Network, Observer, Packet, Topology};
use link_audit::LinkAudit;
use radio_audit::RadioAudit;

/// Result of a check; an error describes the violation.
type Verdict = Result<(), String>;

/// Location of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PacketLocation {
    /// At a node since a time, before its next link.
    Node(HostId, Instant),
    /// In the queue of a link.
    Waiting(LinkId, Instant),
    /// Transmitted by a link, at whose end it may not be before the time.
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
/// The checker stores the identities of packets that have left, about 16 bytes each.
pub struct Checker {
    links: Vec<LinkAudit>,
    radio: Option<RadioAudit>,
    packets: HashMap<u64, PacketLocation>,
    /// Number of packets that have not left.
    inside: usize,
    violation: Option<String>,
}

impl Checker {
    /// Builds a checker for runs on `topology`.
    pub fn new(topology: &Topology) -> Result<Self, String> {
        validate(topology)?;
        Routes::new(topology)?;
        Ok(Self {
            links: topology.links.iter().map(LinkAudit::new).collect(),
            radio: topology.radio.as_ref().map(RadioAudit::new),
            packets: HashMap::new(),
            inside: 0,
            violation: None,
        })
    }

    /// Verifies the events seen so far.
    pub(crate) fn verify(&self) -> Verdict {
        self.violation.clone().map_or(Ok(()), Err)
    }

    /// Verifies the events seen so far, and that `network` has all packets that have begun their way and not ended it.
    pub fn verify_with(&self, network: &Network) -> Result<(), String> {
        self.verify()?;
        let (seen, inside) = (self.inside, network.packets_inside());
        if seen == inside {
            Ok(())
        } else {
            Err(format!("{seen} packets should be under way, {inside} are"))
        }
    }

    /// Verifies an event, and stores its violation if it is the first one.
    fn check(&mut self, verify: impl FnOnce(&mut Self) -> Verdict) {
        let result = verify(self);
        if let (None, Err(violation)) = (&self.violation, result) {
            self.violation = Some(violation);
        }
    }

    fn link(&mut self, link: LinkId) -> &mut LinkAudit {
        &mut self.links[link.0 as usize]
    }

    fn set_location(&mut self, packet: u64, location: PacketLocation) {
        let before = self.packets.insert(packet, location);
        let was_inside = before.is_some_and(|before| before != PacketLocation::Left);
        self.inside += usize::from(location != PacketLocation::Left);
        self.inside -= usize::from(was_inside);
    }

    fn enter(&mut self, at: Instant, node: HostId, packet: &Packet) -> Verdict {
        if self.packets.contains_key(&packet.id) {
            return Err(duplicate(packet, at));
        }
        self.set_location(packet.id, PacketLocation::Node(node, at));
        Ok(())
    }

    /// Verifies that the packet can be at `node`, and removes it from the link that it was on, if any.
    fn arrive(&mut self, at: Instant, node: HostId, packet: &Packet) -> Verdict {
        let actual = match self.packets.get(&packet.id) {
            None if packet.is_cross() => return self.enter(at, node, packet),
            None | Some(PacketLocation::Left) => return Err(duplicate(packet, at)),
            Some(&PacketLocation::Waiting(link, _)) => {
                let (id, link) = (packet.id, self.link(link).name());
                return Err(format!(
                    "packet {id} leaves the queue of link {link:?} at {at:?} without transmission"
                ));
            }
            Some(&PacketLocation::Node(location, since)) => {
                check_time(packet, at, since)?;
                location
            }
            Some(&PacketLocation::OnWire(link, earliest)) => {
                check_time(packet, at, earliest)?;
                self.set_location(packet.id, PacketLocation::Node(node, at));
                self.link(link).arrive(packet.id, at)?;
                self.link(link).to()
            }
        };
        if actual == node {
            return Ok(());
        }
        let id = packet.id;
        Err(format!(
            "packet {id} is seen at {node:?} at {at:?}, expected at {actual:?}"
        ))
    }

    /// Verifies that the packet can be at `node`, where its way ends.
    fn leave(&mut self, at: Instant, node: HostId, packet: &Packet) -> Verdict {
        let result = self.arrive(at, node, packet);
        self.set_location(packet.id, PacketLocation::Left);
        result
    }

    fn verify_enqueued(
        &mut self,
        at: Instant,
        link: LinkId,
        packet: &Packet,
        backlog: Backlog,
    ) -> Verdict {
        let from = self.link(link).from();
        self.arrive(at, from, packet)?;
        self.set_location(packet.id, PacketLocation::Waiting(link, at));
        self.link(link).enqueue(packet, at, backlog)
    }

    fn verify_transmitted(
        &mut self,
        link: LinkId,
        packet: &Packet,
        start: Instant,
        finish: Instant,
    ) -> Verdict {
        match self.packets.get(&packet.id) {
            Some(&PacketLocation::Waiting(at_link, since)) if at_link == link => {
                check_time(packet, start, since)?;
                self.link(link).dequeue(packet, start, true)?;
            }
            _ => {
                let from = self.link(link).from();
                self.arrive(start, from, packet)?;
                self.link(link).verify_order(packet, start)?;
            }
        }
        check_time(packet, finish, start)?;
        if let (Some((user, direction)), Some(radio)) =
            (self.link(link).user(), self.radio.as_mut())
        {
            radio.arrive(user, direction, packet.size, finish)?;
        }
        let audit = self.link(link);
        let earliest = finish + audit.delay();
        let in_transit = !packet.is_cross();
        audit.transmit(packet, start, finish, in_transit)?;
        let location = if in_transit {
            PacketLocation::OnWire(link, earliest)
        } else {
            PacketLocation::Left
        };
        self.set_location(packet.id, location);
        Ok(())
    }

    fn verify_dropped(
        &mut self,
        at: Instant,
        link: LinkId,
        packet: &Packet,
        reason: DropReason,
    ) -> Verdict {
        match self.packets.get(&packet.id).copied() {
            Some(PacketLocation::Waiting(at_link, _))
                if at_link == link && reason != DropReason::Loss =>
            {
                self.link(link).dequeue(packet, at, false)?;
            }
            // Lost on the wire.
            Some(PacketLocation::OnWire(at_link, _)) if at_link == link => {
                let to = self.link(link).to();
                self.arrive(at, to, packet)?;
            }
            // Rejected before the queue.
            _ => {
                let from = self.link(link).from();
                self.arrive(at, from, packet)?;
            }
        }
        self.set_location(packet.id, PacketLocation::Left);
        Ok(())
    }
}

/// Returns the violation of a packet that nobody sent or created, or that is seen again after its end.
fn duplicate(packet: &Packet, at: Instant) -> String {
    let id = packet.id;
    format!("packet {id} is seen at {at:?}, and was never sent, sent twice, or gone before")
}

/// Verifies that the packet is not seen before `earliest`.
fn check_time(packet: &Packet, at: Instant, earliest: Instant) -> Verdict {
    if at < earliest {
        let id = packet.id;
        Err(format!(
            "packet {id} is early: seen at {at:?}, possible from {earliest:?}"
        ))
    } else {
        Ok(())
    }
}

// Most runs have no checker: its code stays out of the functions that call it.
impl Observer for Checker {
    #[cold]
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.check(|checker| checker.enter(at, host, packet));
    }

    #[cold]
    fn on_created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.check(|checker| checker.enter(at, node, packet));
    }

    #[cold]
    fn on_arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.check(|checker| checker.arrive(at, node, packet));
    }

    #[cold]
    fn on_absorbed(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.check(|checker| checker.leave(at, node, packet));
    }

    #[cold]
    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.check(|checker| {
            if host != packet.destination {
                let id = packet.id;
                return Err(format!(
                    "packet {id} is delivered to {host:?} at {at:?}, which is not its destination"
                ));
            }
            checker.leave(at, host, packet)
        });
    }

    #[cold]
    fn on_enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        self.check(|checker| checker.verify_enqueued(at, link, packet, backlog));
    }

    #[cold]
    fn on_dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        self.check(|checker| checker.verify_dropped(at, link, packet, reason));
    }

    #[cold]
    fn on_transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        self.check(|checker| checker.verify_transmitted(link, packet, start, finish));
    }

    #[cold]
    fn on_tti(&mut self, at: Instant, record: &TtiRecord) {
        self.check(|checker| match &mut checker.radio {
            Some(radio) => radio.on_tti(at, record),
            None => Ok(()),
        });
    }
}

#[cfg(test)]
mod tests;
