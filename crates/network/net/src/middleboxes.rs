//! Middleboxes of a network, by node, with the packets that wait there and the times of the next calls.

use std::collections::VecDeque;

use units::Instant;

use crate::links::EgressQueues;
use crate::middlebox_api::{Action, Actions, ConnectionState, HeldPackets, LinkChange, Node};
use crate::outage_watch::OutageWatch;
use crate::packet_pool::PacketHandle;
use crate::{CREATED_FROM, Contents, HostId, Packet};

/// The reason for calling a middlebox.
pub(crate) enum Event {
    /// A packet has arrived at its node.
    Packet(Packet, PacketHandle),
    /// The headers of a packet have arrived at the base station at its node.
    Header(Packet),
    /// The time that it requested has been reached.
    Time,
    /// The link to a neighbour has changed.
    Link(HostId, LinkChange),
}

/// All middleboxes, by node; empty for a network without any.
#[derive(Default)]
pub(crate) struct Middleboxes {
    slots: Vec<Option<MiddleboxSlot>>,
    /// Number of packets that middleboxes have created.
    created: u64,
    /// Buffer of actions, for reuse.
    actions: Vec<Action>,
    /// Bytes of packets; `None` in an engine that moves lengths only.
    pub(crate) contents: Option<Contents>,
}

struct MiddleboxSlot {
    node: Box<dyn Node>,
    held: HeldPackets,
    /// Packets of the host at this node that the middlebox has not seen yet.
    inbox: VecDeque<(Instant, PacketHandle)>,
    call_at: Instant,
    /// Wires behind the middlebox whose outages it subscribes to.
    outages: Vec<OutageWatch>,
}

impl Middleboxes {
    /// Places a middlebox at `at`, one of `nodes` nodes, with the watches of the wires behind it.
    pub(crate) fn place(
        &mut self,
        at: HostId,
        nodes: usize,
        node: Box<dyn Node>,
        outages: Vec<OutageWatch>,
    ) {
        self.slots.resize_with(nodes, || None);
        self.slots[at.0 as usize] = Some(MiddleboxSlot {
            node,
            held: HeldPackets::new(),
            inbox: VecDeque::new(),
            call_at: Instant::NEVER,
            outages,
        });
    }

    /// Returns whether `node` has a middlebox.
    #[inline]
    pub(crate) fn is_at(&self, node: HostId) -> bool {
        matches!(self.slots.get(node.0 as usize), Some(Some(_)))
    }

    /// Adds a packet of the host at `node`, which the middlebox there will see next.
    pub(crate) fn enqueue(&mut self, now: Instant, node: HostId, handle: PacketHandle) {
        if let Some(Some(slot)) = self.slots.get_mut(node.0 as usize) {
            slot.inbox.push_back((now, handle));
        }
    }

    /// Returns the next packet of the host at `node` that its middlebox has not seen, if there is one at `now`.
    pub(crate) fn pop_inbox(&mut self, now: Instant, node: HostId) -> Option<PacketHandle> {
        let slot = self.slots.get_mut(node.0 as usize)?.as_mut()?;
        let next = slot.inbox.pop_front_if(|(at, _)| *at <= now);
        next.map(|(_, handle)| handle)
    }

    /// Returns the time at which the middlebox at `node` has something to do.
    pub(crate) fn next_at(&self, node: HostId) -> Instant {
        let slot = self.slots.get(node.0 as usize).and_then(Option::as_ref);
        slot.map_or(Instant::NEVER, |slot| {
            let first = slot.inbox.front().map_or(Instant::NEVER, |(at, _)| *at);
            let outages = slot.outages.iter().map(OutageWatch::next_at);
            outages.fold(first.min(slot.call_at), Instant::min)
        })
    }

    /// Returns whether the middlebox at `node` subscribes to interruptions.
    pub(crate) fn watches_links(&self, node: HostId) -> bool {
        let slot = self.slots.get(node.0 as usize).and_then(Option::as_ref);
        slot.is_some_and(|slot| slot.node.link_subscription().is_some())
    }

    /// Removes and returns the next change of a wire behind `node` that is due at `now`, with the neighbour at its
    /// other end.
    pub(crate) fn pop_link_change(
        &mut self,
        now: Instant,
        node: HostId,
    ) -> Option<(HostId, LinkChange)> {
        let slot = self.slots.get_mut(node.0 as usize)?.as_mut()?;
        let mut changes = slot.outages.iter_mut();
        changes.find_map(|link| Some((link.to, link.pop_until(now)?)))
    }

    /// Calls the middlebox at `node`; returns its actions, a buffer to be given back to [`Middleboxes::recycle`].
    pub(crate) fn call(
        &mut self,
        now: Instant,
        node: HostId,
        event: Event,
        egress_queues: EgressQueues<'_>,
    ) -> Vec<Action> {
        let mut requested = core::mem::take(&mut self.actions);
        let Some(Some(slot)) = self.slots.get_mut(node.0 as usize) else {
            return requested;
        };
        let mut next_id = CREATED_FROM + self.created;
        match &event {
            Event::Packet(packet, handle) => {
                slot.held.insert(packet.id, *handle);
            }
            Event::Time => slot.call_at = Instant::NEVER,
            Event::Header(_) | Event::Link(..) => {}
        }
        let mut actions = Actions {
            now,
            node,
            held: &mut slot.held,
            actions: &mut requested,
            next_id: &mut next_id,
            call_at: &mut slot.call_at,
            contents: self.contents.as_mut(),
            egress_queues,
        };
        match &event {
            Event::Packet(packet, _) => slot.node.on_packet(packet, &mut actions),
            Event::Header(packet) => slot.node.on_header(packet, &mut actions),
            Event::Time => slot.node.on_call(&mut actions),
            Event::Link(to, change) => slot.node.on_link(*to, *change, &mut actions),
        }
        self.created = next_id - CREATED_FROM;
        requested
    }

    /// Calls `show` with the state of each connection at each middlebox, and the node.
    pub(crate) fn for_each_connection(&self, show: &mut dyn FnMut(HostId, &ConnectionState)) {
        for (number, seat) in (0..).zip(&self.slots) {
            if let Some(slot) = seat {
                slot.node
                    .for_each_connection(&mut |connection| show(HostId(number), connection));
            }
        }
    }

    /// Recycles the buffer of actions.
    pub(crate) fn recycle(&mut self, actions: Vec<Action>) {
        self.actions = actions;
    }
}
