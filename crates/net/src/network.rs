//! The whole path at work.

use units::{Bytes, Deadlines, Instant};

use crate::cross::CrossSource;
use crate::link::Link;
use crate::queue::Scene;
use crate::routing::Routes;
use crate::store::{Handle, Store};
use crate::validate::validate;
use crate::{Backlog, DropReason, HostId, LinkId, Observer, Packet, Topology, TopologyError};

/// A packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Where.
    pub host: HostId,
    /// What.
    pub packet: Packet,
    /// When.
    pub at: Instant,
}

/// Hosts joined by links.
///
/// Time never goes back: each `now` is at least as late as the one before. Before a packet is
/// injected at a time, everything that is due earlier has been advanced to, so a driver goes from
/// one [`next_event`](Self::next_event) to the next, or to its own next one if that is earlier.
pub struct Network {
    nodes: Vec<String>,
    link_names: Vec<String>,
    routes: Routes,
    links: Vec<Link>,
    sources: Vec<CrossSource>,
    store: Store,
    /// Links first, then sources of cross-traffic.
    deadlines: Deadlines,
}

impl Network {
    /// The network of `topology` in the run with `seed`.
    ///
    /// Draws of a link are addressed by (seed, purpose, number of the link) and by the how-manyth
    /// packet it transmits: the n-th packet on a link meets the same loss and the same jitter
    /// whatever is sent, and however often other links draw. By packet and not by time, because two
    /// packets in the same nanosecond have to differ, and because loss models are defined so.
    ///
    /// # Errors
    /// If links do not form a tree, or a value is out of its range.
    pub fn new(topology: &Topology, seed: u64) -> Result<Self, TopologyError> {
        let carriers = validate(topology)?;
        let routes = Routes::new(topology)?;
        let mut sources = Vec::new();
        let mut links = Vec::with_capacity(topology.links.len());
        for (index, (config, carrier)) in topology.links.iter().zip(carriers).enumerate() {
            let id = LinkId(index as u32);
            links.push(Link::new(config, carrier, id, seed));
            for (of_link, &cross) in (0..).zip(&config.cross) {
                let number = sources.len() as u32;
                sources.push(CrossSource::new(cross, (id, config), of_link, number, seed));
            }
        }
        let mut deadlines = Deadlines::new(links.len() + sources.len());
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
            sources,
            store: Store::default(),
            deadlines,
        })
    }

    /// Sends `packet` from its source towards its destination, which is another host.
    pub fn inject(&mut self, now: Instant, packet: Packet, observer: &mut impl Observer) {
        debug_assert!(
            packet.source != packet.destination,
            "packet {} goes nowhere",
            packet.id
        );
        observer.sent(now, packet.source, &packet);
        let link = self.routes.next(packet.source, packet.destination);
        let handle = self.store.insert(packet);
        self.enter(now, link, handle, observer);
    }

    /// When something happens next; [`Instant::NEVER`] if nothing does.
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
            let source = &mut self.sources[entity - self.links.len()];
            let (link, packet) = (source.link, source.emit());
            self.deadlines.set(entity, source.next_at());
            let handle = self.store.insert(packet);
            self.enter(at, link, handle, observer);
        }
    }

    /// What waits at `link`, without the packet in transmission.
    pub fn queue(&self, link: LinkId) -> Backlog {
        self.links[link.0 as usize].backlog()
    }

    /// Bytes at the IP layer that `link` can carry after `from` and until `to`, whatever is sent.
    pub fn capacity_bytes(&self, link: LinkId, from: Instant, to: Instant) -> Bytes {
        self.links[link.0 as usize].capacity(from, to)
    }

    /// How many packets are under way.
    pub fn packets_inside(&self) -> usize {
        self.store.len()
    }

    /// The link with this name.
    pub fn link_id(&self, name: &str) -> Option<LinkId> {
        position(&self.link_names, name).map(LinkId)
    }

    /// The node with this name.
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
        let mut scene = Scene {
            now,
            link: id,
            store: &mut self.store,
            observer,
        };
        self.links[index].serve(&mut scene);
        while let Some(packet) = self.links[index].pop_until(now) {
            let mut scene = Scene {
                now,
                link: id,
                store: &mut self.store,
                observer,
            };
            if packet.lost {
                scene.discard(packet.handle, DropReason::Loss);
                continue;
            }
            let node = self.links[index].to;
            let destination = self.store.packet(packet.handle).destination;
            if node == destination {
                let packet = self.store.remove(packet.handle);
                observer.received(now, node, &packet);
                deliveries.push(Delivery {
                    host: node,
                    packet,
                    at: now,
                });
            } else {
                let next = self.routes.next(node, destination);
                self.enter(now, next, packet.handle, observer);
            }
        }
        self.deadlines.set(index, self.links[index].next_at());
    }

    fn enter(&mut self, now: Instant, id: LinkId, handle: Handle, observer: &mut impl Observer) {
        let link = &mut self.links[id.0 as usize];
        link.enter(
            handle,
            &mut Scene {
                now,
                link: id,
                store: &mut self.store,
                observer,
            },
        );
        self.deadlines.set(id.0 as usize, link.next_at());
    }
}

fn position(names: &[String], wanted: &str) -> Option<u32> {
    names
        .iter()
        .position(|name| name == wanted)
        .map(|index| index as u32)
}
