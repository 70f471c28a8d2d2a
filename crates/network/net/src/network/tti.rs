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
        let Some(mut ran_links) = self.ran_links.take() else {
            return;
        };
        if ran_links.has_disciplines {
            self.refill(now, &mut ran_links, observer);
        }
        ran_links.ran.run_tti(&mut ran_links.outcome);
        let mut changes = core::mem::take(&mut self.changes);
        let mut events = core::mem::take(&mut ran_links.outcome.events);
        for (user, event) in events.drain(..) {
            observer.on_connection(now, user, &event);
            if let LinkKind::Radio(link) = &self.links[ran_links.link(user, Direction::Down)]
                && self.middleboxes.watches_links(link.from)
            {
                let event_changes = link_changes(&event).iter();
                changes.extend(event_changes.map(|change| ([link.from, link.to], *change)));
            }
        }
        ran_links.outcome.events = events;
        for record in ran_links.outcome.log.drain(..) {
            observer.on_tti(now, &record);
        }
        for record in ran_links.outcome.control.drain(..) {
            observer.on_control(now, &record);
        }
        let headers = self.notified_headers(&mut ran_links);
        let mut fates = core::mem::take(&mut ran_links.outcome.packets);
        let mut arrived = core::mem::take(&mut self.arrived);
        for (user, fate) in fates.drain(..) {
            let index = ran_links.link(user, fate.direction);
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.pool, observer);
            let handle = fate.packet_id as PacketHandle;
            if let LinkKind::Radio(link) = &mut self.links[index]
                && link.on_outcome(handle, fate.delivered, &mut context)
            {
                arrived.push((id, handle));
            }
        }
        ran_links.outcome.packets = fates;
        let next = ran_links.next_event();
        self.deadlines
            .set(self.links.len() + self.sources.len(), next);
        self.ran_links = Some(ran_links);
        for ([node, to], change) in changes.drain(..) {
            let event = Event::Link(to, change);
            self.call(now, node, event, observer, deliveries);
        }
        self.changes = changes;
        for (node, packet) in headers {
            self.call(now, node, Event::Header(packet), observer, deliveries);
        }
        for (id, handle) in arrived.drain(..) {
            if self.pool.packet(handle).is_cross() {
                self.pool.remove(handle);
            } else {
                self.arrive(now, id, handle, observer, deliveries);
            }
        }
        self.arrived = arrived;
    }

    /// Moves packets from queue disciplines to RLC.
    fn refill(&mut self, now: Instant, ran_links: &mut RanLinks, observer: &mut impl Observer) {
        for (index, kind) in self.links.iter_mut().enumerate() {
            let LinkKind::Radio(link) = kind else {
                continue;
            };
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.pool, observer);
            link.refill(&mut ran_links.ran, &mut context);
        }
    }

    /// Returns the packets whose headers have reached a base station with a middlebox, and its node.
    fn notified_headers(&self, ran_links: &mut RanLinks) -> Vec<(HostId, Packet)> {
        let mut heads = core::mem::take(&mut ran_links.outcome.headers);
        let mut notified = Vec::new();
        for (user, packet_id) in heads.drain(..) {
            let node = self.links[ran_links.link(user, Direction::Up)].to();
            let packet = *self.pool.packet(packet_id as PacketHandle);
            if !packet.is_cross() && self.middleboxes.is_at(node) {
                notified.push((node, packet));
            }
        }
        ran_links.outcome.headers = heads;
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
        let Some(ran_links) = &mut self.ran_links else {
            return;
        };
        for (index, kind) in self.links.iter_mut().enumerate() {
            let LinkKind::Radio(link) = kind else {
                continue;
            };
            if link.direction != Direction::Down || link.to != host {
                continue;
            }
            let pool = &self.pool;
            let is_purged = |packet_id: u64| {
                let packet = pool.packet(packet_id as PacketHandle);
                packet.flow == flow && packet.segment().is_some()
            };
            let discarded = ran_links.ran.discard(now, link.user, &is_purged);
            let id = LinkId(index as u32);
            let mut context = QueueContext::new(now, id, &mut self.pool, observer);
            for packet_id in discarded {
                link.purge(packet_id as PacketHandle, &mut context);
            }
        }
    }
}

/// Returns the changes of a user's link at an event of its RRC connection.
fn link_changes(event: &ConnectionEvent) -> &'static [LinkChange] {
    match event {
        ConnectionEvent::HandoverBegins { .. } => &[LinkChange::Expected, LinkChange::Interrupted],
        ConnectionEvent::Failure { .. } => &[LinkChange::Interrupted],
        ConnectionEvent::HandoverEnds { .. } | ConnectionEvent::Recovered { .. } => {
            &[LinkChange::Restored]
        }
    }
}
