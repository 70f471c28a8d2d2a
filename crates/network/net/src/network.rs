//! Network: links and nodes at work.

use radio::ran::{ConnectionEvent, Direction, RadioHints, Ran};
use units::{Bytes, Deadlines, Instant};

use crate::cross_traffic::CrossSource;
use crate::interruptions::OutageWatch;
use crate::link::Link;
use crate::links::{EgressQueues, LinkKind};
use crate::middlebox_api::Action;
use crate::middleboxes::{Event, Middleboxes};
use crate::packet_pool::{PacketHandle, PacketPool};
use crate::queue::QueueContext;
use crate::radio_link::{RadioLink, RanLinks};
use crate::routing::Routes;
use crate::validate::validate;
use crate::{
    Backlog, CREATED_FROM, ConnectionState, Contents, DropReason, HostId, Kind, LinkCapacity,
    LinkChange, LinkId, Node, Observer, Packet, Topology, TopologyError,
};

/// A packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The destination.
    pub host: HostId,
    /// The packet.
    pub packet: Packet,
    /// Time of the arrival.
    pub at: Instant,
}

/// Nodes joined by links.
///
/// A node delivers the packets that are addressed to it and sends others on along the tree, unless a middlebox was
/// [placed](Self::place) there, which then decides.
///
/// Time never goes back: each `now` is at least as late as the one before. Before a packet is
/// injected at a time, everything that is due earlier has been advanced to, so a driver goes from
/// one [`next_event`](Self::next_event) to the next, or to its own next one if that is earlier.
pub struct Network {
    nodes: Vec<String>,
    link_names: Vec<String>,
    routes: Routes,
    links: Vec<LinkKind>,
    middleboxes: Middleboxes,
    air: Option<Box<RanLinks>>,
    sources: Vec<CrossSource>,
    store: PacketPool,
    /// Packets that have come out of the radio access network in this moment.
    arrived: Vec<(LinkId, PacketHandle)>,
    /// Changes of links of the radio in this moment, with the nodes at their ends, for middleboxes that watch them.
    changes: Vec<([HostId; 2], LinkChange)>,
    /// Links first, then sources of cross-traffic, then the radio access network, then nodes if there are middleboxes.
    deadlines: Deadlines,
}

impl LinkKind {
    fn to(&self) -> HostId {
        match self {
            Self::Wire(link) => link.to,
            Self::Radio(link) => link.to,
        }
    }
}

impl Network {
    /// Builds the network of `topology` for the run with `seed`.
    ///
    /// Draws of a link are addressed by (seed, purpose, number of the link) and by the position of a packet among
    /// those that the link transmits. So the n-th packet on a link meets the same loss and the same jitter whatever is
    /// sent, and however often other links draw. The address is the position and not the time, because two packets in
    /// the same nanosecond have to differ, and because loss models are defined so.
    ///
    /// # Errors
    /// The links do not form a tree, or a value is out of its range.
    pub fn new(topology: &Topology, seed: u64) -> Result<Self, TopologyError> {
        validate(topology)?;
        let routes = Routes::new(topology)?;
        let mut sources = Vec::new();
        let mut links = Vec::with_capacity(topology.links.len());
        for (index, config) in topology.links.iter().enumerate() {
            let id = LinkId(index as u32);
            links.push(match config.capacity {
                LinkCapacity::Radio { user, direction } => {
                    LinkKind::Radio(RadioLink::new(config, user, direction))
                }
                _ => LinkKind::Wire(Box::new(Link::new(config, id, seed))),
            });
            for (of_link, cross) in (0..).zip(&config.cross) {
                let number = sources.len() as u32;
                sources.push(CrossSource::new(
                    cross.clone(),
                    (id, config),
                    of_link,
                    number,
                    seed,
                ));
            }
        }
        let air = topology.radio.clone().map(|config| {
            let radio = links
                .iter()
                .enumerate()
                .filter_map(|(index, link)| match link {
                    LinkKind::Radio(link) => Some((index, link.user, link.direction)),
                    LinkKind::Wire(_) => None,
                });
            Box::new(RanLinks::new(Ran::new(config, seed), radio))
        });
        let mut deadlines = Deadlines::new(links.len() + sources.len() + 1);
        if let Some(air) = &air {
            deadlines.set(links.len() + sources.len(), air.next_event());
        }
        for (index, source) in sources.iter().enumerate() {
            deadlines.set(links.len() + index, source.next_at());
        }
        Ok(Self {
            nodes: topology.nodes.clone(),
            link_names: topology
                .links
                .iter()
                .map(|link| link.name.clone())
                .collect(),
            routes,
            links,
            middleboxes: Middleboxes::default(),
            air,
            sources,
            store: PacketPool::default(),
            arrived: Vec::new(),
            changes: Vec::new(),
            deadlines,
        })
    }

    /// Places a middlebox at the node called `name`, in place of one that is there already.
    ///
    /// # Errors
    /// There is no such node.
    pub fn place(&mut self, name: &str, node: Box<dyn Node>) -> Result<(), TopologyError> {
        let at = self.host_id(name).ok_or_else(|| TopologyError::NoNode {
            name: name.to_owned(),
            nodes: self.nodes.join(", "),
        })?;
        if let Some(air) = self.air.as_mut().filter(|_| node.wants_headers()) {
            air.ran.tell_heads();
        }
        let mut outages = Vec::new();
        if let Some(watch) = node.link_subscription() {
            let wires = self.links.iter().filter_map(|link| match link {
                LinkKind::Wire(link) if link.from == at => Some(link),
                _ => None,
            });
            outages.extend(wires.map(|link| OutageWatch::new(link.to, &link.capacity, watch)));
        }
        self.middleboxes.place(at, self.nodes.len(), node, outages);
        let before = self.first_node();
        let mut deadlines = Deadlines::new(before + self.nodes.len());
        for entity in 0..before {
            deadlines.set(entity, self.deadlines.get(entity));
        }
        self.deadlines = deadlines;
        for node in 0..self.nodes.len() as u32 {
            self.plan_call(HostId(node));
        }
        Ok(())
    }

    /// Gives middleboxes access to the payload of packets.
    pub fn set_contents(&mut self, contents: Box<dyn Contents>) {
        self.middleboxes.set_contents(contents);
    }

    /// Shows each connection at each middlebox, with the node.
    pub fn passages(&self, show: &mut dyn FnMut(HostId, &ConnectionState)) {
        self.middleboxes.passages(show);
    }

    /// Sends `packet` from its source towards its destination, which is another host.
    pub fn inject(&mut self, now: Instant, packet: Packet, observer: &mut impl Observer) {
        let source = packet.source;
        let handle = self.store.insert(packet);
        observer.sent(now, source, self.store.packet(handle));
        self.begin(now, source, handle, observer);
    }

    /// Lets `packet` appear at `node` and sends it towards its destination, which is another node. Observers see it as
    /// created there, whatever its source says.
    pub fn inject_at(
        &mut self,
        now: Instant,
        node: HostId,
        packet: Packet,
        observer: &mut impl Observer,
    ) {
        let handle = self.store.insert(packet);
        observer.created(now, node, self.store.packet(handle));
        self.begin(now, node, handle, observer);
    }

    #[inline]
    fn begin(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
        observer: &mut impl Observer,
    ) {
        let packet = self.store.packet(handle);
        debug_assert!(
            node != packet.destination && packet.id < CREATED_FROM,
            "packet {} goes nowhere, or has the number of one that a middlebox creates",
            packet.id
        );
        if self.middleboxes.are_at(node) {
            self.hand_in(now, node, handle);
        } else {
            let link = self.routes.next(node, packet.destination);
            self.enter(now, link, handle, observer);
        }
    }

    /// Returns the time of the next event; [`Instant::NEVER`] if there is none.
    pub fn next_event(&self) -> Instant {
        self.deadlines.earliest().0
    }

    /// Does what is due until `now`, in the order of time, and appends what arrives to `deliveries`.
    pub fn advance(
        &mut self,
        now: Instant,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        loop {
            let (at, entity) = self.deadlines.earliest();
            if at > now || at == Instant::NEVER {
                return;
            }
            if entity < self.links.len() {
                self.run_link(at, LinkId(entity as u32), observer, deliveries);
                continue;
            }
            if entity == self.links.len() + self.sources.len() {
                self.run_tti(at, observer, deliveries);
                continue;
            }
            if entity >= self.first_node() {
                let node = HostId((entity - self.first_node()) as u32);
                self.run_middlebox(at, node, observer, deliveries);
                continue;
            }
            let source = &mut self.sources[entity - self.links.len()];
            let (link, packet) = (source.link, source.emit());
            self.deadlines.set(entity, source.next_at());
            let handle = self.store.insert(packet);
            self.enter(at, link, handle, observer);
        }
    }

    /// Does what is due until `until`, in the order of time, but nothing later than the first arrivals, which it
    /// appends to `deliveries`. Returns the time of what it did last; [`Instant::NEVER`] if it did nothing.
    pub fn advance_to_arrivals(
        &mut self,
        until: Instant,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) -> Instant {
        let mut last = Instant::NEVER;
        while deliveries.is_empty() {
            let next = self.next_event();
            if next > until || next == Instant::NEVER {
                break;
            }
            last = next;
            self.advance(next, observer, deliveries);
        }
        last
    }

    /// Returns the packets that wait at `link`, without the one in transmission.
    pub fn queue(&self, link: LinkId) -> Backlog {
        self.outlets().backlog(link)
    }

    /// Returns the bytes at the IP layer that `link` can carry after `from` and until `to`, whatever is sent. For a
    /// link of the radio these are the bytes on all resource blocks that nobody else used, which is known up to now
    /// only.
    pub fn capacity_bytes(&self, link: LinkId, from: Instant, to: Instant) -> Bytes {
        match (&self.links[link.0 as usize], &self.air) {
            (LinkKind::Radio(link), Some(air)) => {
                air.ran.capacity(link.user, link.direction, from, to)
            }
            (LinkKind::Radio(_), None) => Bytes::new(0),
            (LinkKind::Wire(link), _) => link.bytes_between(from, to),
        }
    }

    /// Returns the radio hints of `host` at `now`; `None` on a wire.
    pub fn radio_hints(&self, host: HostId, now: Instant) -> Option<RadioHints> {
        let air = self.air.as_ref()?;
        let user = self.links.iter().find_map(|link| match link {
            LinkKind::Radio(link) if link.direction == Direction::Down && link.to == host => {
                Some(link.user)
            }
            _ => None,
        })?;
        Some(air.ran.hints(user, now))
    }

    /// Returns whether the capacity of `link` is known before it is used.
    pub fn is_predictable(&self, link: LinkId) -> bool {
        matches!(self.links[link.0 as usize], LinkKind::Wire(_))
    }

    /// Returns the number of packets under way, those at middleboxes included.
    pub fn packets_inside(&self) -> usize {
        self.store.len()
    }

    /// Returns the link with this name.
    pub fn link_id(&self, name: &str) -> Option<LinkId> {
        position(&self.link_names, name).map(LinkId)
    }

    /// Returns the name of a node.
    pub fn host_name(&self, host: HostId) -> &str {
        &self.nodes[host.0 as usize]
    }

    /// Returns the node with this name.
    pub fn host_id(&self, name: &str) -> Option<HostId> {
        position(&self.nodes, name).map(HostId)
    }

    fn run_link(
        &mut self,
        now: Instant,
        id: LinkId,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let index = id.0 as usize;
        if let LinkKind::Wire(link) = &mut self.links[index] {
            link.serve(&mut QueueContext {
                now,
                link: id,
                store: &mut self.store,
                observer,
            });
        }
        loop {
            let LinkKind::Wire(link) = &mut self.links[index] else {
                return;
            };
            let Some(packet) = link.pop_until(now) else {
                self.deadlines.set(index, link.next_at());
                return;
            };
            if packet.lost {
                let mut scene = QueueContext {
                    now,
                    link: id,
                    store: &mut self.store,
                    observer,
                };
                scene.discard(packet.handle, DropReason::Loss);
            } else {
                self.arrive(now, id, packet.handle, observer, deliveries);
            }
        }
    }

    /// Runs the next TTI of the radio access network, which begins now.
    fn run_tti(
        &mut self,
        now: Instant,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let Some(mut air) = self.air.take() else {
            return;
        };
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
            let mut scene = QueueContext {
                now,
                link: id,
                store: &mut self.store,
                observer,
            };
            let handle = fate.packet_id as PacketHandle;
            if let LinkKind::Radio(link) = &mut self.links[index]
                && link.leave(handle, fate.delivered, &mut scene)
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
            if self.store.packet(handle).kind == Kind::Cross {
                self.store.remove(handle);
            } else {
                self.arrive(now, id, handle, observer, deliveries);
            }
        }
        self.arrived = arrived;
    }

    /// Takes the packets whose headers have come to base stations with a middlebox.
    fn heads_of(&self, air: &mut RanLinks) -> Vec<(HostId, Packet)> {
        let mut heads = core::mem::take(&mut air.outcome.heads);
        let mut notified = Vec::new();
        for (user, name) in heads.drain(..) {
            let node = self.links[air.link(user, Direction::Up)].to();
            let packet = *self.store.packet(name as PacketHandle);
            if packet.kind == Kind::Tcp && self.middleboxes.are_at(node) {
                notified.push((node, packet));
            }
        }
        air.outcome.heads = heads;
        notified
    }

    /// Discards what waits at base stations for `host` on connection `flow`.
    fn purge(&mut self, now: Instant, flow: u32, host: HostId, observer: &mut impl Observer) {
        let Some(air) = &mut self.air else {
            return;
        };
        for (index, medium) in self.links.iter_mut().enumerate() {
            let LinkKind::Radio(link) = medium else {
                continue;
            };
            if link.direction != Direction::Down || link.to != host {
                continue;
            }
            let store = &self.store;
            let gone = |name: u64| {
                let packet = store.packet(name as PacketHandle);
                packet.flow == flow && packet.kind == Kind::Tcp
            };
            let discarded = air.ran.discard(now, link.user, &gone);
            let mut scene = QueueContext {
                now,
                link: LinkId(index as u32),
                store: &mut self.store,
                observer,
            };
            for name in discarded {
                link.purge(name as PacketHandle, &mut scene);
            }
        }
    }

    /// Handles a packet at the end of a link.
    fn arrive(
        &mut self,
        now: Instant,
        id: LinkId,
        handle: PacketHandle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let node = self.links[id.0 as usize].to();
        if self.middleboxes.are_at(node) {
            self.show(now, node, handle, observer, deliveries);
        } else {
            self.pass(now, node, handle, observer, deliveries);
        }
    }

    /// Delivers a packet at `node` or sends it on.
    #[inline]
    fn pass(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let destination = self.store.packet(handle).destination;
        if node == destination {
            let packet = self.store.packet(handle);
            observer.received(now, node, packet);
            deliveries.push(Delivery {
                host: node,
                packet: *packet,
                at: now,
            });
            self.store.release(handle);
        } else {
            let next = self.routes.next(node, destination);
            self.enter(now, next, handle, observer);
        }
    }

    /// Lets a packet of the host at `node` wait for the middlebox there, which is called when the network is advanced.
    #[cold]
    fn hand_in(&mut self, now: Instant, node: HostId, handle: PacketHandle) {
        self.middleboxes.enqueue(now, node, handle);
        self.plan_call(node);
    }

    /// Lets the middlebox at `node` do what is due.
    #[cold]
    fn run_middlebox(
        &mut self,
        now: Instant,
        node: HostId,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        match self.middleboxes.take_inbox(now, node) {
            Some(handle) => self.show(now, node, handle, observer, deliveries),
            None => {
                let change = self.middleboxes.take_change(now, node);
                let call = change.map_or(Event::Time, |(to, change)| Event::Link(to, change));
                self.call(now, node, call, observer, deliveries);
            }
        }
    }

    /// Shows a packet to the middlebox at `node`.
    #[cold]
    fn show(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let packet = *self.store.packet(handle);
        observer.arrived(now, node, &packet);
        let call = Event::Packet(packet, handle);
        self.call(now, node, call, observer, deliveries);
    }

    /// Calls the middlebox at `node` and carries out its orders.
    fn call(
        &mut self,
        now: Instant,
        node: HostId,
        call: Event,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let outlets = EgressQueues {
            routes: &self.routes,
            links: &self.links,
            air: self.air.as_deref(),
        };
        let mut orders = self.middleboxes.call(now, node, call, outlets);
        for order in orders.drain(..) {
            let handle = match order {
                Action::Forward(handle) => handle,
                Action::Create(packet) => {
                    observer.created(now, node, &packet);
                    self.store.insert(packet)
                }
                Action::Purge(flow, host) => {
                    self.purge(now, flow, host, observer);
                    continue;
                }
                Action::Absorb(handle) => {
                    let packet = self.store.remove(handle);
                    observer.absorbed(now, node, &packet);
                    continue;
                }
            };
            self.pass(now, node, handle, observer, deliveries);
        }
        self.middleboxes.recycle(orders);
        self.plan_call(node);
    }

    fn outlets(&self) -> EgressQueues<'_> {
        EgressQueues {
            routes: &self.routes,
            links: &self.links,
            air: self.air.as_deref(),
        }
    }

    /// Sets the deadline of the middlebox at `node`.
    fn plan_call(&mut self, node: HostId) {
        let entity = self.first_node() + node.0 as usize;
        self.deadlines.set(entity, self.middleboxes.next_at(node));
    }

    /// Returns the number of the first node among the deadlines.
    fn first_node(&self) -> usize {
        self.links.len() + self.sources.len() + 1
    }

    /// Puts a packet on a link.
    fn enter(
        &mut self,
        now: Instant,
        id: LinkId,
        handle: PacketHandle,
        observer: &mut impl Observer,
    ) {
        let mut scene = QueueContext {
            now,
            link: id,
            store: &mut self.store,
            observer,
        };
        match (&mut self.links[id.0 as usize], &mut self.air) {
            (LinkKind::Wire(link), _) => {
                link.enter(handle, &mut scene);
                self.deadlines.set(id.0 as usize, link.next_at());
            }
            (LinkKind::Radio(link), Some(air)) => link.enter(handle, &mut air.ran, &mut scene),
            (LinkKind::Radio(_), None) => scene.discard(handle, DropReason::Radio),
        }
    }
}

/// Returns the changes of a user's link that an event of its connection means.
fn changes_of(event: &ConnectionEvent) -> &'static [LinkChange] {
    match event {
        ConnectionEvent::HandoverBegins { .. } => &[LinkChange::Expected, LinkChange::Interrupted],
        ConnectionEvent::Failure { .. } => &[LinkChange::Interrupted],
        ConnectionEvent::HandoverEnds { .. } | ConnectionEvent::Recovered { .. } => {
            &[LinkChange::Restored]
        }
    }
}

fn position(names: &[String], wanted: &str) -> Option<u32> {
    names
        .iter()
        .position(|name| name == wanted)
        .map(|index| index as u32)
}
