//! Calls of middleboxes: they receive packets, changes of links and timers, and return actions.

use units::{Deadlines, Instant};

use super::{Delivery, Network};
use crate::links::{EgressQueues, LinkKind};
use crate::middlebox_api::Action;
use crate::middleboxes::Event;
use crate::packet_pool::PacketHandle;
use crate::{ConnectionState, Contents, HostId, Node, Observer};

impl Network {
    /// Places a middlebox at the node called `name`, in place of one that is there already.
    ///
    /// # Errors
    /// There is no such node.
    pub fn place(&mut self, name: &str, node: Box<dyn Node>) -> Result<(), String> {
        let at = self.host_id(name).ok_or_else(|| {
            let nodes = self.nodes.join(", ");
            format!("node {name:?} does not exist: there are {nodes}")
        })?;
        if let Some(ran_links) = self.ran_links.as_mut().filter(|_| node.wants_headers()) {
            ran_links.ran.report_headers();
        }
        let mut outages = Vec::new();
        if let Some(subscription) = node.link_subscription() {
            let wires = self.links.iter().filter_map(|link| match link {
                LinkKind::Wire(link) if link.from == at => Some(link),
                _ => None,
            });
            outages.extend(wires.map(|link| link.outage_watch(subscription)));
        }
        self.middleboxes.place(at, self.nodes.len(), node, outages);
        let before = self.first_node();
        let mut deadlines = Deadlines::new(before + self.nodes.len());
        for entity in 0..before {
            deadlines.set(entity, self.deadlines.get(entity));
        }
        self.deadlines = deadlines;
        for node in 0..self.nodes.len() as u32 {
            self.schedule_call(HostId(node));
        }
        Ok(())
    }

    /// Stores the bytes of packets from now on, for middleboxes.
    pub fn enable_contents(&mut self) {
        self.middleboxes.contents.get_or_insert_default();
    }

    /// Returns the bytes of packets; `None` unless contents are enabled.
    pub fn contents(&mut self) -> Option<&mut Contents> {
        self.middleboxes.contents.as_mut()
    }

    /// Calls `show` with the state of each connection at each middlebox, and the node.
    pub fn for_each_connection(&self, show: &mut dyn FnMut(HostId, &ConnectionState)) {
        self.middleboxes.for_each_connection(show);
    }

    /// Enqueues a packet of the host at `node` for the middlebox there, which is called when the network is advanced.
    #[cold]
    pub(super) fn enqueue_at_middlebox(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
    ) {
        self.middleboxes.enqueue(now, node, handle);
        self.schedule_call(node);
    }

    /// Calls the middlebox at `node` for the next waiting packet, change of a link or timer.
    #[cold]
    pub(super) fn run_middlebox(
        &mut self,
        now: Instant,
        node: HostId,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        match self.middleboxes.pop_inbox(now, node) {
            Some(handle) => self.call_with_packet(now, node, handle, observer, deliveries),
            None => {
                let change = self.middleboxes.pop_link_change(now, node);
                let event = change.map_or(Event::Time, |(to, change)| Event::Link(to, change));
                self.call(now, node, event, observer, deliveries);
            }
        }
    }

    /// Calls the middlebox at `node` with a packet.
    #[cold]
    pub(super) fn call_with_packet(
        &mut self,
        now: Instant,
        node: HostId,
        handle: PacketHandle,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let packet = *self.pool.packet(handle);
        observer.on_arrived(now, node, &packet);
        let event = Event::Packet(packet, handle);
        self.call(now, node, event, observer, deliveries);
    }

    /// Calls the middlebox at `node` and carries out its actions.
    pub(super) fn call(
        &mut self,
        now: Instant,
        node: HostId,
        event: Event,
        observer: &mut impl Observer,
        deliveries: &mut Vec<Delivery>,
    ) {
        let egress_queues = EgressQueues {
            routes: &self.routes,
            links: &self.links,
            ran_links: self.ran_links.as_deref(),
        };
        let mut actions = self.middleboxes.call(now, node, event, egress_queues);
        for action in actions.drain(..) {
            let handle = match action {
                Action::Forward(handle) => handle,
                Action::Create(packet) => {
                    observer.on_created(now, node, &packet);
                    self.pool.insert(packet)
                }
                Action::Purge(flow, host) => {
                    self.purge(now, flow, host, observer);
                    continue;
                }
                Action::Absorb(handle) => {
                    let packet = self.pool.remove(handle);
                    observer.on_absorbed(now, node, &packet);
                    continue;
                }
            };
            self.forward(now, node, handle, observer, deliveries);
        }
        self.middleboxes.recycle(actions);
        self.schedule_call(node);
    }

    pub(super) fn egress_queues(&self) -> EgressQueues<'_> {
        EgressQueues {
            routes: &self.routes,
            links: &self.links,
            ran_links: self.ran_links.as_deref(),
        }
    }

    /// Sets the deadline of the middlebox at `node`.
    pub(super) fn schedule_call(&mut self, node: HostId) {
        let entity = self.first_node() + node.0 as usize;
        self.deadlines.set(entity, self.middleboxes.next_at(node));
    }
}
