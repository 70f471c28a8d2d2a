//! Middleboxes of a network, by node, with the packets that wait there and the times of the next calls.

use std::collections::VecDeque;

use units::Instant;

use crate::interruptions::OutageWatch;
use crate::links::EgressQueues;
use crate::middlebox_api::{Action, Actions, ConnectionState, HeldPackets, LinkChange, Node};
use crate::packet_pool::PacketHandle;
use crate::{CREATED_FROM, Contents, HostId, Packet};

/// The reason for calling a middlebox.
pub(crate) enum Event {
    /// A packet has arrived at its node.
    Packet(Packet, PacketHandle),
    /// The headers of a packet have arrived at the base station at its node.
    Head(Packet),
    /// The time that it requested has been reached.
    Time,
    /// The link to a neighbour has changed.
    Link(HostId, LinkChange),
}

/// All middleboxes, by node; empty for a network without any.
#[derive(Default)]
pub(crate) struct Middleboxes {
    seats: Vec<Option<MiddleboxSlot>>,
    created: u64,
    /// Buffer of orders, for reuse.
    orders: Vec<Action>,
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
    /// Puts a middlebox at `at`, one of `nodes` nodes, with the wires behind it that it watches.
    pub(crate) fn place(
        &mut self,
        at: HostId,
        nodes: usize,
        node: Box<dyn Node>,
        outages: Vec<OutageWatch>,
    ) {
        self.seats.resize_with(nodes, || None);
        self.seats[at.0 as usize] = Some(MiddleboxSlot {
            node,
            held: HeldPackets::new(),
            inbox: VecDeque::new(),
            call_at: Instant::NEVER,
            outages,
        });
    }

    /// Returns whether `node` has a middlebox.
    #[inline]
    pub(crate) fn are_at(&self, node: HostId) -> bool {
        matches!(self.seats.get(node.0 as usize), Some(Some(_)))
    }

    /// Adds a packet of the host at `node`, which the middlebox there will see next.
    pub(crate) fn enqueue(&mut self, now: Instant, node: HostId, handle: PacketHandle) {
        if let Some(Some(seat)) = self.seats.get_mut(node.0 as usize) {
            seat.inbox.push_back((now, handle));
        }
    }

    /// Returns the next packet of the host at `node` that its middlebox has not seen, if there is one at `now`.
    pub(crate) fn take_inbox(&mut self, now: Instant, node: HostId) -> Option<PacketHandle> {
        let seat = self.seats.get_mut(node.0 as usize)?.as_mut()?;
        let next = seat.inbox.pop_front_if(|(at, _)| *at <= now);
        next.map(|(_, handle)| handle)
    }

    /// Returns the time at which the middlebox at `node` has something to do.
    pub(crate) fn next_at(&self, node: HostId) -> Instant {
        let seat = self.seats.get(node.0 as usize).and_then(Option::as_ref);
        seat.map_or(Instant::NEVER, |seat| {
            let first = seat.inbox.front().map_or(Instant::NEVER, |(at, _)| *at);
            let outages = seat.outages.iter().map(OutageWatch::next_at);
            outages.fold(first.min(seat.call_at), Instant::min)
        })
    }

    /// Returns whether the middlebox at `node` wants to hear of interruptions.
    pub(crate) fn watches(&self, node: HostId) -> bool {
        let seat = self.seats.get(node.0 as usize).and_then(Option::as_ref);
        seat.is_some_and(|seat| seat.node.link_subscription().is_some())
    }

    /// Removes and returns the next change of a wire behind `node` that is due at `now`, with the neighbour at its
    /// other end.
    pub(crate) fn take_change(
        &mut self,
        now: Instant,
        node: HostId,
    ) -> Option<(HostId, LinkChange)> {
        let seat = self.seats.get_mut(node.0 as usize)?.as_mut()?;
        let mut changes = seat.outages.iter_mut();
        changes.find_map(|link| Some((link.to, link.take(now)?)))
    }

    /// Calls the middlebox at `node` and returns its orders, to be given back to [`Middleboxes::recycle`].
    pub(crate) fn call(
        &mut self,
        now: Instant,
        node: HostId,
        call: Event,
        outlets: EgressQueues<'_>,
    ) -> Vec<Action> {
        let mut orders = core::mem::take(&mut self.orders);
        let Some(Some(seat)) = self.seats.get_mut(node.0 as usize) else {
            return orders;
        };
        let mut next_id = CREATED_FROM + self.created;
        match &call {
            Event::Packet(packet, handle) => {
                seat.held.insert(packet.id, *handle);
            }
            Event::Time => seat.call_at = Instant::NEVER,
            Event::Head(_) | Event::Link(..) => {}
        }
        let mut actions = Actions {
            now,
            node,
            held: &mut seat.held,
            orders: &mut orders,
            next_id: &mut next_id,
            call_at: &mut seat.call_at,
            contents: self.contents.as_mut(),
            outlets,
        };
        match &call {
            Event::Packet(packet, _) => seat.node.on_packet(packet, &mut actions),
            Event::Head(packet) => seat.node.on_header(packet, &mut actions),
            Event::Time => seat.node.on_call(&mut actions),
            Event::Link(to, change) => seat.node.on_link(*to, *change, &mut actions),
        }
        self.created = next_id - CREATED_FROM;
        orders
    }

    /// Shows each connection at each middlebox, with the node.
    pub(crate) fn passages(&self, show: &mut dyn FnMut(HostId, &ConnectionState)) {
        for (number, seat) in (0..).zip(&self.seats) {
            if let Some(seat) = seat {
                seat.node
                    .for_each_connection(&mut |passage| show(HostId(number), passage));
            }
        }
    }

    /// Recycles the buffer of orders.
    pub(crate) fn recycle(&mut self, orders: Vec<Action>) {
        self.orders = orders;
    }
}
