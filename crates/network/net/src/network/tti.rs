//! TTIs of the radio access network: they deliver packets, interrupt links and notify middleboxes.

use radio::ran::{ConnectionEvent, Direction};
use units::Instant;

use super::{Delivery, Network};
use crate::links::LinkKind;
use crate::middleboxes::Event;
use crate::packet_pool::PacketHandle;
use crate::queue::QueueContext;
use crate::radio_link::RanLinks;
use crate::{HostId, LinkChange, LinkId, Observer, Packet};

impl Network {
    /// Runs the next TTI of the radio access network, which begins now.
    pub(super) fn run_tti(
        &mut self,
        now: Instant,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let Some(mut air) = self.air.take() else {
            return;
        };
        if air.has_disciplines {
            self.refill(now, &mut air, observer);
        }
        air.ran.run_tti(&mut air.outcome);
        let mut changes = core::mem::take(&mut self.changes);
        let mut events = core::mem::take(&mut air.outcome.events);
        for (user, event) in events.drain(..) {
            observer.connection(now, user, &event);
            if let LinkKind::Radio(link) = &self.links[air.link(user, Direction::Down)]
                && self.middleboxes.watches(link.from)
            {
                let of_event = changes_of(&event).iter();
                changes.extend(of_event.map(|change| ([link.from, link.to], *change)));
            }
        }
        air.outcome.events = events;
        for record in air.outcome.log.drain(..) {
            observer.radio(now, &record);
        }
        for record in air.outcome.control.drain(..) {
            observer.control(now, &record);
        }
        let heads = self.heads_of(&mut air);
        let mut fates = core::mem::take(&mut air.outcome.fates);
        let mut arrived = core::mem::take(&mut self.arrived);
        for (user, fate) in fates.drain(..) {
            let index = air.link(user, fate.direction);
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.store, observer);
            let handle = fate.packet_id as PacketHandle;
            if let LinkKind::Radio(link) = &mut self.links[index]
                && link.leave(handle, fate.delivered, &mut context)
            {
                arrived.push((id, handle));
            }
        }
        air.outcome.fates = fates;
        let next = air.next_event();
        self.deadlines
            .set(self.links.len() + self.sources.len(), next);
        self.air = Some(air);
        for ([node, to], change) in changes.drain(..) {
            let call = Event::Link(to, change);
            self.call(now, node, call, observer, deliveries);
        }
        self.changes = changes;
        for (node, packet) in heads {
            self.call(now, node, Event::Head(packet), observer, deliveries);
        }
        for (id, handle) in arrived.drain(..) {
            if self.store.packet(handle).is_cross() {
                self.store.remove(handle);
            } else {
                self.arrive(now, id, handle, observer, deliveries);
            }
        }
        self.arrived = arrived;
    }

    /// Moves packets from queue disciplines to RLC.
    fn refill(&mut self, now: Instant, air: &mut RanLinks, observer: &mut impl Observer) {
        for (index, kind) in self.links.iter_mut().enumerate() {
            let LinkKind::Radio(link) = kind else {
                continue;
            };
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.store, observer);
            link.refill(&mut air.ran, &mut context);
        }
    }

    /// Returns the packets whose headers have reached base stations with a middlebox.
    fn heads_of(&self, air: &mut RanLinks) -> Vec<(HostId, Packet)> {
        let mut heads = core::mem::take(&mut air.outcome.heads);
        let mut notified = Vec::new();
        for (user, packet_id) in heads.drain(..) {
            let node = self.links[air.link(user, Direction::Up)].to();
            let packet = *self.store.packet(packet_id as PacketHandle);
            if !packet.is_cross() && self.middleboxes.are_at(node) {
                notified.push((node, packet));
            }
        }
        air.outcome.heads = heads;
        notified
    }

    /// Discards segments of connection `flow` that wait at base stations for `host`.
    pub(super) fn purge(
        &mut self,
        now: Instant,
        flow: u32,
        host: HostId,
        observer: &mut impl Observer,
    ) {
        let Some(air) = &mut self.air else {
            return;
        };
        for (index, kind) in self.links.iter_mut().enumerate() {
            let LinkKind::Radio(link) = kind else {
                continue;
            };
            if link.direction != Direction::Down || link.to != host {
                continue;
            }
            let store = &self.store;
            let is_purged = |packet_id: u64| {
                let packet = store.packet(packet_id as PacketHandle);
                packet.flow == flow && packet.segment().is_some()
            };
            let discarded = air.ran.discard(now, link.user, &is_purged);
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.store, observer);
            for packet_id in discarded {
                link.purge(packet_id as PacketHandle, &mut context);
            }
        }
    }
}

/// Returns the changes of a user's link at an event of its RRC connection.
fn changes_of(event: &ConnectionEvent) -> &'static [LinkChange] {
    match event {
        ConnectionEvent::HandoverBegins { .. } => &[LinkChange::Expected, LinkChange::Interrupted],
        ConnectionEvent::Failure { .. } => &[LinkChange::Interrupted],
        ConnectionEvent::HandoverEnds { .. } | ConnectionEvent::Recovered { .. } => {
            &[LinkChange::Restored]
        }
    }
}
