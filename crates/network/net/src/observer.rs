//! Observer: callbacks for events of packets and of the radio.

use core::ops::Add;

use radio::ran::{ConnectionEvent, ControlRecord, TtiRecord, UserId};
use units::Instant;

use crate::{HostId, LinkId, Packet};

/// Packets that wait in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// Bytes at the IP layer.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl Add for Backlog {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            packets: self.packets + other.packets,
        }
    }
}

/// Reason for dropping a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// Larger than the link's MTU.
    Mtu,
    /// The queue was full.
    Overflow,
    /// The queue discipline decided so.
    Aqm,
    /// The policer at the entrance of the link had no tokens.
    Policer,
    /// Loss after transmission, at random or in a blackout.
    Loss,
    /// The base station discarded it, because its connection had been reset.
    Reset,
    /// The radio access network gave up its delivery, or lost it at a handover.
    Radio,
}

/// Callbacks in the order of time, from a [`Network`](crate::Network) that reports everything it does. Each method does
/// nothing unless implemented.
///
/// The life of a packet begins with `on_sent` or `on_created` and ends with `on_received`, `on_absorbed` or `on_dropped`.
/// That of a packet of cross-traffic begins at its link, and ends with `on_transmitted` or `on_dropped`.
pub trait Observer {
    /// The host at `host` sent `packet`.
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` reached `host`, its destination.
    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` reached the middlebox at `node`, where it stays until it is forwarded or absorbed.
    fn on_arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// The middlebox at `node` created `packet`.
    fn on_created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// The middlebox at `node` took `packet` out of the network.
    fn on_absorbed(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// `packet` has to wait at `link`, whose `backlog` includes it. A packet that a link transmits at once is not enqueued.
    fn on_enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        let _ = (at, link, packet, backlog);
    }

    /// `packet` was dropped at `link`. Random loss is reported when the packet would have arrived.
    fn on_dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        let _ = (at, link, packet, reason);
    }

    /// `packet` got a congestion mark at `link`.
    fn on_marked(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        let _ = (at, link, packet);
    }

    /// `link` began to transmit `packet` at `start`, which is now, and will be done at `finish`.
    fn on_transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        let _ = (link, packet, start, finish);
    }

    /// The radio access network sent a transport block, or let an occasion pass; `at` is the start
    /// of the TTI.
    fn on_tti(&mut self, at: Instant, record: &TtiRecord) {
        let _ = (at, record);
    }

    /// A cell used its control channel in the TTI that begins at `at`.
    fn on_control(&mut self, at: Instant, record: &ControlRecord) {
        let _ = (at, record);
    }

    /// The connection of a user to its cell changed.
    fn on_connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let _ = (at, user, event);
    }
}

impl Observer for () {}

/// Implements each method as the same call of every observer in the given iterators.
macro_rules! forward {
    ($self:ident, $($observers:expr),+) => {
        fn on_sent(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $(for observer in $observers { observer.on_sent(at, host, packet); })+
        }
        fn on_received(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $(for observer in $observers { observer.on_received(at, host, packet); })+
        }
        fn on_arrived(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.on_arrived(at, node, packet); })+
        }
        fn on_created(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.on_created(at, node, packet); })+
        }
        fn on_absorbed(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.on_absorbed(at, node, packet); })+
        }
        fn on_enqueued(&mut $self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
            $(for observer in $observers { observer.on_enqueued(at, link, packet, backlog); })+
        }
        fn on_dropped(&mut $self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
            $(for observer in $observers { observer.on_dropped(at, link, packet, reason); })+
        }
        fn on_marked(&mut $self, at: Instant, link: LinkId, packet: &Packet) {
            $(for observer in $observers { observer.on_marked(at, link, packet); })+
        }
        fn on_transmitted(&mut $self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
            $(for observer in $observers { observer.on_transmitted(link, packet, start, finish); })+
        }
        fn on_tti(&mut $self, at: Instant, record: &TtiRecord) {
            $(for observer in $observers { observer.on_tti(at, record); })+
        }
        fn on_control(&mut $self, at: Instant, record: &ControlRecord) {
            $(for observer in $observers { observer.on_control(at, record); })+
        }
        fn on_connection(&mut $self, at: Instant, user: UserId, event: &ConnectionEvent) {
            $(for observer in $observers { observer.on_connection(at, user, event); })+
        }
    };
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self, [&mut self.0], [&mut self.1]);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    forward!(self, [&mut **self]);
}

impl<O: Observer> Observer for Option<O> {
    forward!(self, self.iter_mut());
}
