//! Middleboxes of a network, by node, with the packets that wait there and the times of the next calls.

use std::collections::{BTreeMap, VecDeque};

use units::Instant;

use crate::network::Outlets;
use crate::node::{Actions, Contents, LinkChange, Node, Passage};
use crate::outages::OutageWatch;
use crate::store::Handle;
use crate::{CREATED_FROM, HostId, Packet};

/// Packets that a middlebox keeps, by their identity.
pub(crate) type Held = BTreeMap<u64, Handle>;

/// An action that a middlebox has asked for.
pub(crate) enum Order {
    Forward(Handle),
    Absorb(Handle),
    Create(Packet),
    /// Discards what waits for a host on a connection.
    Purge(u32, HostId),
}

/// The reason for calling a middlebox.
pub(crate) enum Call {
    /// A packet has come to its node.
    Packet(Packet, Handle),
    /// The headers of a packet have come to the base station at its node.
    Head(Packet),
    /// The time that it asked for has come.
    Time,
    /// The link to a neighbour has changed.
    Link(HostId, LinkChange),
}

/// All middleboxes, by node; empty for a network without any.
#[derive(Default)]
pub(crate) struct Middleboxes {
    seats: Vec<Option<Seat>>,
    created: u64,
    /// Room for orders that is used again.
    orders: Vec<Order>,
    contents: Option<Box<dyn Contents>>,
}

struct Seat {
    node: Box<dyn Node>,
    held: Held,
    /// Packets of the host at this node that the middlebox has not seen yet.
    inbox: VecDeque<(Instant, Handle)>,
    call_at: Instant,
    /// Wires behind the middlebox whose outages it wants to hear of.
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
        self.seats[at.0 as usize] = Some(Seat {
            node,
            held: Held::new(),
            inbox: VecDeque::new(),
            call_at: Instant::NEVER,
            outages,
        });
    }

    /// Gives middleboxes access to the payload of packets.
    pub(crate) fn set_contents(&mut self, contents: Box<dyn Contents>) {
        self.contents = Some(contents);
    }

    /// Returns whether `node` has a middlebox.
    #[inline]
    pub(crate) fn are_at(&self, node: HostId) -> bool {
        matches!(self.seats.get(node.0 as usize), Some(Some(_)))
    }

    /// Adds a packet of the host at `node`, which the middlebox there will see next.
    pub(crate) fn hand_in(&mut self, now: Instant, node: HostId, handle: Handle) {
        if let Some(Some(seat)) = self.seats.get_mut(node.0 as usize) {
            seat.inbox.push_back((now, handle));
        }
    }

    /// Returns the next packet of the host at `node` that its middlebox has not seen, if there is one at `now`.
    pub(crate) fn take_inbox(&mut self, now: Instant, node: HostId) -> Option<Handle> {
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
        seat.is_some_and(|seat| seat.node.watch().is_some())
    }

    /// Takes the next change of a wire behind `node` that is due at `now`, with the neighbour at its other end.
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
        call: Call,
        outlets: Outlets<'_>,
    ) -> Vec<Order> {
        let mut orders = core::mem::take(&mut self.orders);
        let Some(Some(seat)) = self.seats.get_mut(node.0 as usize) else {
            return orders;
        };
        let mut next_id = CREATED_FROM + self.created;
        match &call {
            Call::Packet(packet, handle) => {
                seat.held.insert(packet.id, *handle);
            }
            Call::Time => seat.call_at = Instant::NEVER,
            Call::Head(_) | Call::Link(..) => {}
        }
        let mut actions = Actions {
            now,
            node,
            held: &mut seat.held,
            orders: &mut orders,
            next_id: &mut next_id,
            call_at: &mut seat.call_at,
            contents: self.contents.as_deref_mut(),
            outlets,
        };
        match &call {
            Call::Packet(packet, _) => seat.node.on_packet(packet, &mut actions),
            Call::Head(packet) => seat.node.on_head(packet, &mut actions),
            Call::Time => seat.node.on_call(&mut actions),
            Call::Link(to, change) => seat.node.on_link(*to, *change, &mut actions),
        }
        self.created = next_id - CREATED_FROM;
        orders
    }

    /// Shows each connection at each middlebox, with the node.
    pub(crate) fn passages(&self, show: &mut dyn FnMut(HostId, &Passage)) {
        for (number, seat) in (0..).zip(&self.seats) {
            if let Some(seat) = seat {
                seat.node
                    .passages(&mut |passage| show(HostId(number), passage));
            }
        }
    }

    /// Takes back the room for orders.
    pub(crate) fn recycle(&mut self, orders: Vec<Order>) {
        self.orders = orders;
    }
}
