//! The whole path at work.

use radio::ran::{Direction, RadioHints, Ran};
use units::{Bytes, Deadlines, Instant};

use crate::capacity::LinkCapacity;
use crate::cross::CrossSource;
use crate::link::Link;
use crate::queue::Scene;
use crate::radio_link::{Air, RadioLink};
use crate::routing::Routes;
use crate::store::{Handle, Store};
use crate::validate::validate;
use crate::{Backlog, DropReason, HostId, Kind, LinkId, Observer, Packet, Topology, TopologyError};

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
    links: Vec<Medium>,
    air: Option<Box<Air>>,
    sources: Vec<CrossSource>,
    store: Store,
    /// Packets that have come out of the radio access network in this moment.
    arrived: Vec<(LinkId, Handle)>,
    /// Links first, then sources of cross-traffic, then the radio access network.
    deadlines: Deadlines,
}

/// What a link is made of.
enum Medium {
    Wire(Box<Link>),
    Radio(RadioLink),
}

impl Medium {
    fn to(&self) -> HostId {
        match self {
            Self::Wire(link) => link.to,
            Self::Radio(link) => link.to,
        }
    }
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
        let capacities = validate(topology)?;
        let routes = Routes::new(topology)?;
        let mut sources = Vec::new();
        let mut links = Vec::with_capacity(topology.links.len());
        for (index, (config, capacity)) in topology.links.iter().zip(capacities).enumerate() {
            let id = LinkId(index as u32);
            links.push(match capacity {
                LinkCapacity::Radio(user, direction) => {
                    Medium::Radio(RadioLink::new(config, user, direction))
                }
                capacity => Medium::Wire(Box::new(Link::new(config, capacity, id, seed))),
            });
            for (of_link, &cross) in (0..).zip(&config.cross) {
                let number = sources.len() as u32;
                sources.push(CrossSource::new(cross, (id, config), of_link, number, seed));
            }
        }
        let air = topology.radio.clone().map(|config| {
            let radio = links
                .iter()
                .enumerate()
                .filter_map(|(index, link)| match link {
                    Medium::Radio(link) => Some((index, link.user, link.direction)),
                    Medium::Wire(_) => None,
                });
            Box::new(Air::new(Ran::new(config, seed), radio))
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
            air,
            sources,
            store: Store::default(),
            arrived: Vec::new(),
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
            if entity == self.links.len() + self.sources.len() {
                self.run_air(at, observer, deliveries);
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
        match (&self.links[link.0 as usize], &self.air) {
            (Medium::Radio(link), Some(air)) => {
                let (packets, bytes) = air.ran.queued(link.user, link.direction);
                let packets = packets as u64;
                Backlog { bytes, packets }
            }
            (Medium::Radio(link), None) => link.under_way,
            (Medium::Wire(link), _) => link.backlog(),
        }
    }

    /// Bytes at the IP layer that `link` can carry after `from` and until `to`, whatever is sent. On the
    /// radio, what it could have carried on all resource blocks that nobody else used, which is known
    /// up to now only.
    pub fn capacity_bytes(&self, link: LinkId, from: Instant, to: Instant) -> Bytes {
        match (&self.links[link.0 as usize], &self.air) {
            (Medium::Radio(link), Some(air)) => {
                air.ran.capacity(link.user, link.direction, from, to)
            }
            (Medium::Radio(_), None) => Bytes::new(0),
            (Medium::Wire(link), _) => link.capacity(from, to),
        }
    }

    /// Returns the radio hints of `host` at `now`; `None` on a wire.
    pub fn radio_hints(&self, host: HostId, now: Instant) -> Option<RadioHints> {
        let air = self.air.as_ref()?;
        let user = self.links.iter().find_map(|link| match link {
            Medium::Radio(link) if link.direction == Direction::Down && link.to == host => {
                Some(link.user)
            }
            _ => None,
        })?;
        Some(air.ran.hints(user, now))
    }

    /// Whether the capacity of `link` is known before it is used.
    pub fn foresees(&self, link: LinkId) -> bool {
        matches!(self.links[link.0 as usize], Medium::Wire(_))
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
        let mut served = false;
        loop {
            let mut scene = Scene {
                now,
                link: id,
                store: &mut self.store,
                observer,
            };
            let Medium::Wire(link) = &mut self.links[index] else {
                return;
            };
            if !served {
                link.serve(&mut scene);
                served = true;
            }
            let Some(packet) = link.pop_until(now) else {
                self.deadlines.set(index, link.next_at());
                return;
            };
            if packet.lost {
                scene.discard(packet.handle, DropReason::Loss);
            } else {
                self.arrive(now, id, packet.handle, observer, deliveries);
            }
        }
    }

    /// Runs the next TTI of the radio access network.
    fn run_air(
        &mut self,
        now: Instant,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let Some(mut air) = self.air.take() else {
            return;
        };
        air.ran.tick(&mut air.outcome);
        for (user, event) in air.outcome.events.drain(..) {
            observer.connection(now, user, &event);
        }
        for record in air.outcome.log.drain(..) {
            observer.radio(now, &record);
        }
        let mut fates = core::mem::take(&mut air.outcome.fates);
        let mut arrived = core::mem::take(&mut self.arrived);
        for (user, fate) in fates.drain(..) {
            let index = air.link(user, fate.direction);
            let id = LinkId(index as u32);
            let mut scene = Scene {
                now,
                link: id,
                store: &mut self.store,
                observer,
            };
            let handle = fate.name as Handle;
            if let Medium::Radio(link) = &mut self.links[index]
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
        for (id, handle) in arrived.drain(..) {
            if self.store.packet(handle).kind == Kind::Cross {
                self.store.remove(handle);
            } else {
                self.arrive(now, id, handle, observer, deliveries);
            }
        }
        self.arrived = arrived;
    }

    /// A packet is at the end of a link.
    fn arrive(
        &mut self,
        now: Instant,
        id: LinkId,
        handle: Handle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let node = self.links[id.0 as usize].to();
        let destination = self.store.packet(handle).destination;
        if node == destination {
            let packet = self.store.remove(handle);
            observer.received(now, node, &packet);
            deliveries.push(Delivery {
                host: node,
                packet,
                at: now,
            });
        } else {
            let next = self.routes.next(node, destination);
            self.enter(now, next, handle, observer);
        }
    }

    fn enter(&mut self, now: Instant, id: LinkId, handle: Handle, observer: &mut impl Observer) {
        let mut scene = Scene {
            now,
            link: id,
            store: &mut self.store,
            observer,
        };
        match (&mut self.links[id.0 as usize], &mut self.air) {
            (Medium::Wire(link), _) => {
                link.enter(handle, &mut scene);
                self.deadlines.set(id.0 as usize, link.next_at());
            }
            (Medium::Radio(link), Some(air)) => link.enter(handle, &mut air.ran, &mut scene),
            (Medium::Radio(_), None) => scene.discard(handle, DropReason::Radio),
        }
    }
}

fn position(names: &[String], wanted: &str) -> Option<u32> {
    names
        .iter()
        .position(|name| name == wanted)
        .map(|index| index as u32)
}
