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
    /// The radio access network gave it up, or left it behind at a handover.
    Radio,
}

/// Callbacks in the order of time, from a [`Network`](crate::Network) that reports everything it does. Each method does
/// nothing unless implemented.
///
/// The life of a packet begins with `sent` or `created` and ends with `received`, `absorbed` or `dropped`. Packets of
/// cross-traffic are an exception: they begin where a link takes them, and end with `transmitted` or `dropped`.
pub trait Observer {
    /// The host at `host` sent `packet`.
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` reached `host`, its destination.
    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` reached the middlebox at `node`, where it stays until it is forwarded or absorbed.
    fn arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// The middlebox at `node` created `packet`, or it was injected there without being sent by the host there.
    fn created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// The middlebox at `node` took `packet` out of the network.
    fn absorbed(&mut self, at: Instant, node: HostId, packet: &Packet) {
        let _ = (at, node, packet);
    }

    /// `packet` has to wait at `link`, where `backlog` now waits including it. A packet that finds
    /// a link idle and goes straight into transmission is not enqueued.
    fn enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        let _ = (at, link, packet, backlog);
    }

    /// `packet` was dropped at `link`. Random loss is reported when the packet would have arrived.
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        let _ = (at, link, packet, reason);
    }

    /// `packet` got a congestion mark at `link`.
    fn marked(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        let _ = (at, link, packet);
    }

    /// `link` began to transmit `packet` at `start`, which is now, and will be done at `finish`.
    fn transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        let _ = (link, packet, start, finish);
    }

    /// The radio access network sent a transport block, or let an occasion pass; `at` is the start
    /// of the TTI.
    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        let _ = (at, record);
    }

    /// A cell used its control channel in the TTI that begins at `at`.
    fn control(&mut self, at: Instant, record: &ControlRecord) {
        let _ = (at, record);
    }

    /// The connection of a user to its cell changed.
    fn connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let _ = (at, user, event);
    }
}

/// Observes nothing.
impl Observer for () {}

/// Implements each method as the same call of every observer in the given iterators.
macro_rules! forward {
    ($self:ident, $($observers:expr),+) => {
        fn sent(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $(for observer in $observers { observer.sent(at, host, packet); })+
        }
        fn received(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $(for observer in $observers { observer.received(at, host, packet); })+
        }
        fn arrived(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.arrived(at, node, packet); })+
        }
        fn created(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.created(at, node, packet); })+
        }
        fn absorbed(&mut $self, at: Instant, node: HostId, packet: &Packet) {
            $(for observer in $observers { observer.absorbed(at, node, packet); })+
        }
        fn enqueued(&mut $self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
            $(for observer in $observers { observer.enqueued(at, link, packet, backlog); })+
        }
        fn dropped(&mut $self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
            $(for observer in $observers { observer.dropped(at, link, packet, reason); })+
        }
        fn marked(&mut $self, at: Instant, link: LinkId, packet: &Packet) {
            $(for observer in $observers { observer.marked(at, link, packet); })+
        }
        fn transmitted(&mut $self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
            $(for observer in $observers { observer.transmitted(link, packet, start, finish); })+
        }
        fn radio(&mut $self, at: Instant, record: &TtiRecord) {
            $(for observer in $observers { observer.radio(at, record); })+
        }
        fn control(&mut $self, at: Instant, record: &ControlRecord) {
            $(for observer in $observers { observer.control(at, record); })+
        }
        fn connection(&mut $self, at: Instant, user: UserId, event: &ConnectionEvent) {
            $(for observer in $observers { observer.connection(at, user, event); })+
        }
    };
}

/// Both observe.
impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self, [&mut self.0], [&mut self.1]);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    forward!(self, [&mut **self]);
}

/// Observes if it is there.
impl<O: Observer> Observer for Option<O> {
    forward!(self, self.iter_mut());
}
