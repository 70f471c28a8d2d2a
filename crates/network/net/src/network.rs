//! Network: links and nodes of a run, advanced in time.

use radio::ran::{Direction, RadioHints, Ran};
use units::{Bytes, Deadlines, Duration, Instant};

mod link_changes;
mod middlebox_calls;
mod tti;

use crate::cross_traffic::CrossSource;
use crate::link::Link;
use crate::links::LinkKind;
use crate::middleboxes::Middleboxes;
use crate::packet_pool::{PacketHandle, PacketPool};
use crate::queue::QueueContext;
use crate::radio_link::{RadioLink, RanLinks};
use crate::routing::Routes;
use crate::validate::validate;
use crate::{
    Backlog, CREATED_FROM, DropReason, HostId, LinkCapacity, LinkChange, LinkId, Observer, Packet,
    Topology,
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
/// A node delivers the packets that are addressed to it and sends others on along the tree. Where a middlebox was
/// [placed](Self::place), that decides.
///
/// Time never goes back: each `now` is at least as late as the one before. Before a packet is injected at a time,
/// everything that is due earlier has been advanced to. So a driver goes from one [`next_event`](Self::next_event) to
/// the next, or to its own next one if that is earlier.
pub struct Network {
    nodes: Vec<String>,
    routes: Routes,
    links: Vec<LinkKind>,
    middleboxes: Middleboxes,
    ran_links: Option<Box<RanLinks>>,
    sources: Vec<CrossSource>,
    pool: PacketPool,
    /// Buffer of the packets that leave the radio access network in a TTI.
    arrived: Vec<(LinkId, PacketHandle)>,
    /// Buffer of the changes of radio links in a TTI that middleboxes watch, with the nodes at the ends of the link.
    changes: Vec<([HostId; 2], LinkChange)>,
    /// Deadlines of links, sources of cross-traffic, the radio access network, and nodes if there are middleboxes, in this
    /// order.
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
    /// Draws of a link are addressed by (seed, purpose, number of the link), and by the position of a packet among
    /// those it transmits. So the n-th packet on a link meets the same loss and the same jitter whatever is
    /// sent, and however often other links draw. The address is the position and not the time, as loss models are
    /// defined so. Besides, two packets in the same nanosecond have to differ.
    ///
    /// # Errors
    /// The links do not form a tree, or a value is out of its range.
    pub fn new(topology: &Topology, seed: u64) -> Result<Self, String> {
        validate(topology)?;
        let routes = Routes::new(topology)?;
        let mut sources = Vec::new();
        let mut links = Vec::with_capacity(topology.links.len());
        for (index, config) in topology.links.iter().enumerate() {
            let id = LinkId(index as u32);
            links.push(match config.capacity {
                LinkCapacity::Radio { user, direction } => {
                    LinkKind::Radio(RadioLink::new(config, (user, direction), id, seed))
                }
                _ => LinkKind::Wire(Box::new(Link::new(config, id, seed))),
            });
            for (link_index, cross) in (0..).zip(&config.cross) {
                let index = sources.len() as u32;
                sources.push(CrossSource::new(
                    cross.clone(),
                    (id, config),
                    link_index,
                    index,
                    seed,
                ));
            }
        }
        let ran_links = topology.radio.clone().map(|config| {
            let radio = links
                .iter()
                .enumerate()
                .filter_map(|(index, link)| match link {
                    LinkKind::Radio(link) => Some((index, link)),
                    LinkKind::Wire(_) => None,
                });
            Box::new(RanLinks::new(Ran::new(config, seed), radio))
        });
        let mut deadlines = Deadlines::new(links.len() + sources.len() + 1);
        if let Some(ran_links) = &ran_links {
            deadlines.set(links.len() + sources.len(), ran_links.next_event());
        }
        for (index, source) in sources.iter().enumerate() {
            deadlines.set(links.len() + index, source.next_at());
        }
        Ok(Self {
            nodes: topology.nodes.clone(),
            routes,
            links,
            middleboxes: Middleboxes::default(),
            ran_links,
            sources,
            pool: PacketPool::default(),
            arrived: Vec::new(),
            changes: Vec::new(),
            deadlines,
        })
    }

    /// Sends `packet` from its source towards its destination, which is another host.
    pub fn inject(&mut self, now: Instant, packet: Packet, observer: &mut impl Observer) {
        let source = packet.source;
        let handle = self.pool.insert(packet);
        let packet = self.pool.packet(handle);
        debug_assert!(
            source != packet.destination && packet.id < CREATED_FROM,
            "packet {} goes nowhere, or has the number of one that a middlebox creates",
            packet.id
        );
        observer.on_sent(now, source, packet);
        if self.middleboxes.is_at(source) {
            self.enqueue_at_middlebox(now, source, handle);
        } else {
            let link = self.routes.next(source, packet.destination);
            self.enqueue(now, link, handle, observer);
        }
    }

    /// Returns the time of the next event; [`Instant::NEVER`] if there is none.
    pub fn next_event(&self) -> Instant {
        self.deadlines.earliest().0
    }

    /// Processes the events until `now`, in the order of time, and appends arriving packets to `deliveries`.
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
            let handle = self.pool.insert(packet);
            self.enqueue(at, link, handle, observer);
        }
    }

    /// Processes the events until `until`, in the order of time, but none after the first arrivals, which it appends to
    /// `deliveries`. Returns the time of the last event; [`Instant::NEVER`] if there was none.
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
        self.egress_queues().backlog(link)
    }

    /// Returns the bytes at the IP layer that `link` can carry after `from` and until `to`, whatever is sent. For a
    /// link of the radio these are the bytes on all resource blocks that no other user had, which are known up to now.
    pub fn capacity_bytes(&self, link: LinkId, from: Instant, to: Instant) -> Bytes {
        match (&self.links[link.0 as usize], &self.ran_links) {
            (LinkKind::Radio(link), Some(ran_links)) => {
                ran_links.ran.capacity(link.user, link.direction, from, to)
            }
            (LinkKind::Radio(_), None) => Bytes::new(0),
            (LinkKind::Wire(link), _) => link.bytes_between(from, to),
        }
    }

    /// Returns the bytes at the IP layer that the rate of the policer of `link` lets pass in `time`, without its burst;
    /// `None` without a policer.
    pub fn policed_bytes(&self, link: LinkId, time: Duration) -> Option<Bytes> {
        match &self.links[link.0 as usize] {
            LinkKind::Wire(link) => link.policed_bytes(time),
            LinkKind::Radio(_) => None,
        }
    }

    /// Returns the radio hints of `host` at `now`; `None` on a wire.
    pub fn radio_hints(&self, host: HostId, now: Instant) -> Option<RadioHints> {
        let ran_links = self.ran_links.as_ref()?;
        let user = self.links.iter().find_map(|link| match link {
            LinkKind::Radio(link) if link.direction == Direction::Down && link.to == host => {
                Some(link.user)
            }
            _ => None,
        })?;
        Some(ran_links.ran.hints(user, now))
    }

    /// Returns whether the capacity of `link` is known before it is used.
    pub fn is_predictable(&self, link: LinkId) -> bool {
        matches!(self.links[link.0 as usize], LinkKind::Wire(_))
    }

    /// Returns the number of packets under way, those at middleboxes included.
    pub fn packets_inside(&self) -> usize {
        self.pool.len()
    }

    /// Returns the name of a node.
    pub fn host_name(&self, host: HostId) -> &str {
        &self.nodes[host.0 as usize]
    }

    /// Returns the node with this name.
    pub fn host_id(&self, name: &str) -> Option<HostId> {
        let index = self.nodes.iter().position(|node| node == name)?;
        Some(HostId(index as u32))
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
            link.serve(&mut QueueContext::new(now, id, &mut self.pool, observer));
        }
        loop {
            let LinkKind::Wire(link) = &mut self.links[index] else {
                return;
            };
            let Some(packet) = link.pop_until(now) else {
                self.deadlines.set(index, link.next_at());
                return;
            };
            if packet.is_lost {
                let mut context = QueueContext::new(now, id, &mut self.pool, observer);
                context.discard(packet.handle, DropReason::Loss);
            } else {
                self.arrive(now, id, packet.handle, observer, deliveries);
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
        if self.middleboxes.is_at(node) {
            self.call_with_packet(now, node, handle, observer, deliveries);
        } else {
            self.forward(now, node, handle, observer, deliveries);
        }
    }

    /// Delivers a packet at `node` or forwards it.
    #[inline]
    fn forward(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let destination = self.pool.packet(handle).destination;
        if node == destination {
            let packet = self.pool.packet(handle);
            observer.on_received(now, node, packet);
            deliveries.push(Delivery {
                host: node,
                packet: *packet,
                at: now,
            });
            self.pool.release(handle);
        } else {
            let next = self.routes.next(node, destination);
            self.enqueue(now, next, handle, observer);
        }
    }

    /// Returns the index of the first node among the deadlines.
    fn first_node(&self) -> usize {
        self.links.len() + self.sources.len() + 1
    }

    /// Enqueues a packet at a link.
    fn enqueue(
        &mut self,
        now: Instant,
        id: LinkId,
        handle: PacketHandle,
        observer: &mut impl Observer,
    ) {
        let mut context = QueueContext::new(now, id, &mut self.pool, observer);
        match (&mut self.links[id.0 as usize], &mut self.ran_links) {
            (LinkKind::Wire(link), _) => {
                link.enqueue(handle, &mut context);
                self.deadlines.set(id.0 as usize, link.next_at());
            }
            (LinkKind::Radio(link), Some(ran_links)) => {
                link.enqueue(handle, &mut ran_links.ran, &mut context)
            }
            (LinkKind::Radio(_), None) => context.discard(handle, DropReason::Radio),
        }
    }
}
