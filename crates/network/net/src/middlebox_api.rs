//! Middlebox API: a node that decides on the packets that arrive at it.
//!
//! Without a [`Node`] of its own, a node of the topology is a router for packets that are addressed elsewhere, and a
//! host for those addressed to it. A middlebox implements [`Node`] and is given to
//! [`Network::place`](crate::Network::place).

use std::collections::BTreeMap;

use cca::SenderInfo;
use units::{Duration, Instant};

use crate::links::EgressQueues;
use crate::packet_pool::PacketHandle;
use crate::{Backlog, Contents, HostId, Packet};

/// Packets that a middlebox stores, by their identity.
pub(crate) type HeldPackets = BTreeMap<u64, PacketHandle>;

/// An action that a middlebox has asked for.
pub(crate) enum Action {
    Forward(PacketHandle),
    Absorb(PacketHandle),
    Create(Packet),
    /// Discards what waits for a host on a connection.
    Purge(u32, HostId),
}

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

    /// Returns the interruptions of links that the middlebox is to be notified of; `None` for none.
    fn link_subscription(&self) -> Option<LinkSubscription> {
        None
    }

    /// Handles a change of the link from this node to the neighbour `to`.
    fn on_link(&mut self, to: HostId, change: LinkChange, actions: &mut Actions<'_>) {
        let _ = (to, change, actions);
    }

    /// Returns whether [`Node::on_header`] is to be called.
    fn wants_headers(&self) -> bool {
        false
    }

    /// Handles the headers of `packet`, a part of which has arrived over the radio at the base station at the node. The
    /// packet itself arrives later, or is lost.
    fn on_header(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let _ = (packet, actions);
    }

    /// Calls `show` with the state of each connection through the middlebox, if it tracks connections.
    fn for_each_connection(&self, show: &mut dyn FnMut(&ConnectionState)) {
        let _ = show;
    }
}

/// Subscription to interruptions of the node's outgoing links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSubscription {
    /// Time before an interruption at which the middlebox is warned, if the interruption is known in advance; zero for no
    /// warning.
    pub warning: Duration,
    /// Shortest interruption of a wire that counts. On the radio each handover and each failure counts.
    pub min_length: Duration,
}

/// Change of a link that leaves the node of a middlebox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkChange {
    /// It will be interrupted soon. On the radio this comes with the handover command; failures come without it.
    Expected,
    /// Nothing passes from now on.
    Interrupted,
    /// Packets pass again.
    Restored,
}

/// State of one connection at a middlebox.
#[derive(Clone, Debug)]
pub struct ConnectionState {
    /// Index of the connection.
    pub flow: u32,
    /// The end that opened the connection, and the other one.
    pub hosts: [HostId; 2],
    /// Senders of the middlebox to these hosts; `None` if it has none for this connection.
    pub legs: Option<[SenderInfo; 2]>,
    /// Whether no more data will pass.
    pub is_over: bool,
    /// Bytes from these hosts in the middlebox that have not reached the other one, as far as it knows.
    pub buffered: [u64; 2],
}

/// Actions of a [`Node`] in one call. They are carried out in the order of the calls.
pub struct Actions<'a> {
    pub(crate) now: Instant,
    pub(crate) node: HostId,
    pub(crate) held: &'a mut HeldPackets,
    pub(crate) actions: &'a mut Vec<Action>,
    pub(crate) next_id: &'a mut u64,
    pub(crate) call_at: &'a mut Instant,
    pub(crate) contents: Option<&'a mut Contents>,
    pub(crate) egress_queues: EgressQueues<'a>,
}

impl Actions<'_> {
    /// Returns the current time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Returns the node of the topology at which the middlebox is.
    pub fn node(&self) -> HostId {
        self.node
    }

    /// Returns what waits for the link from this node towards `host`, without the packet in transmission. Packets that
    /// leave in this call do not count yet.
    pub fn queued_towards(&self, host: HostId) -> Backlog {
        self.egress_queues.queued(self.node, host)
    }

    /// Sends the packet with this identity on towards its destination, or delivers it if it is there. Returns false
    /// for a packet that is not at the node.
    pub fn forward(&mut self, packet: u64) -> bool {
        let handle = self.held.remove(&packet);
        self.actions.extend(handle.map(Action::Forward));
        handle.is_some()
    }

    /// Removes the packet with this identity from the network. Returns false for a packet that is not at the node.
    pub fn absorb(&mut self, packet: u64) -> bool {
        let handle = self.held.remove(&packet);
        self.actions.extend(handle.map(Action::Absorb));
        handle.is_some()
    }

    /// Discards all packets of a connection that wait at a base station for `host` and of which nothing has been sent.
    pub fn purge(&mut self, flow: u32, host: HostId) {
        self.actions.push(Action::Purge(flow, host));
    }

    /// Returns the payload of the packet with this identity. There is none of a packet that is not at the node, and in
    /// an engine that moves lengths only.
    pub fn payload(&mut self, packet: u64) -> Option<Vec<u8>> {
        let contents = self.contents.as_ref()?;
        if self.held.contains_key(&packet) {
            contents.payload(packet).map(<[u8]>::to_vec)
        } else {
            None
        }
    }

    /// Creates a packet like `packet` at the node, sends it towards its destination and returns its identity, which
    /// replaces the one in `packet`.
    ///
    /// `payload` has the bytes of its segment. An engine whose packets have bytes needs them of each segment with a
    /// length; it writes the headers itself, from `packet`.
    pub fn create(&mut self, packet: Packet, payload: Option<Vec<u8>>) -> u64 {
        let packet = Packet {
            id: *self.next_id,
            ..packet
        };
        *self.next_id += 1;
        if let Some(contents) = self.contents.as_mut() {
            contents.create(packet.id, payload.unwrap_or_default());
        }
        self.actions.push(Action::Create(packet));
        packet.id
    }

    /// Asks for [`Node::on_call`] at `at`, in place of the time asked for before; [`Instant::NEVER`] for no call.
    pub fn call_at(&mut self, at: Instant) {
        *self.call_at = at.max(self.now);
    }
}
