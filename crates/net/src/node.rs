//! Node: decides what happens to the packets that come to one place of the network.
//!
//! Without a [`Node`] of its own, a node of the topology is a router for packets that are addressed elsewhere, and a
//! host for those addressed to it. A middlebox implements [`Node`] and is given to
//! [`Network::place`](crate::Network::place).

use units::Instant;

use crate::middleboxes::{Held, Order};
use crate::{HostId, Packet};

/// A middlebox: a state machine without a clock that decides about each packet at its node.
///
/// It sees every packet that comes to the node, from a link or from the host there, except those that it creates
/// itself. A packet stays at the node until it is forwarded or absorbed, at once or in a later call.
pub trait Node: Send {
    /// Handles `packet`, which has just come to the node.
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>);

    /// Handles the time that was asked for with [`Actions::call_at`].
    fn on_call(&mut self, actions: &mut Actions<'_>) {
        let _ = actions;
    }
}

/// Actions of a [`Node`] in one call. They are carried out in the order of the calls.
pub struct Actions<'a> {
    pub(crate) now: Instant,
    pub(crate) node: HostId,
    pub(crate) held: &'a mut Held,
    pub(crate) orders: &'a mut Vec<Order>,
    pub(crate) next_id: &'a mut u64,
    pub(crate) call_at: &'a mut Instant,
}

impl Actions<'_> {
    /// Returns the present time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Returns the node of the topology at which the middlebox is.
    pub fn node(&self) -> HostId {
        self.node
    }

    /// Sends the packet with this identity on towards its destination, or delivers it if it is there. Returns false
    /// for a packet that is not at the node.
    pub fn forward(&mut self, packet: u64) -> bool {
        let handle = self.held.remove(&packet);
        self.orders.extend(handle.map(Order::Forward));
        handle.is_some()
    }

    /// Takes the packet with this identity out of the network. Returns false for a packet that is not at the node.
    pub fn absorb(&mut self, packet: u64) -> bool {
        let handle = self.held.remove(&packet);
        self.orders.extend(handle.map(Order::Absorb));
        handle.is_some()
    }

    /// Creates a packet like `packet` at the node, sends it towards its destination and returns its identity, which
    /// replaces the one in `packet`.
    pub fn create(&mut self, packet: Packet) -> u64 {
        let id = *self.next_id;
        *self.next_id += 1;
        self.orders.push(Order::Create(Packet { id, ..packet }));
        id
    }

    /// Asks for [`Node::on_call`] at `at`, in place of the time asked for before; [`Instant::NEVER`] for no call.
    pub fn call_at(&mut self, at: Instant) {
        *self.call_at = at.max(self.now);
    }
}
