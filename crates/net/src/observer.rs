//! Who watches.

use radio::ran::{ConnectionEvent, TtiRecord, UserId};
use units::Instant;

use crate::{HostId, LinkId, Packet};

/// What waits in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// Bytes at the IP layer.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// Larger than the link's MTU.
    Mtu,
    /// The queue was full.
    Overflow,
    /// The queue discipline decided so.
    Aqm,
    /// Random loss after transmission.
    Loss,
    /// The radio access network gave it up, or left it behind at a handover.
    Radio,
}

/// Watches packets on their way. Calls come in the order of time; each method does nothing unless
/// implemented.
pub trait Observer {
    /// `packet` left `host`.
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` reached `host`, its destination.
    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let _ = (at, host, packet);
    }

    /// `packet` has to wait at `link`, where `backlog` now waits including it. A packet that finds
    /// a link idle and goes straight into transmission is not enqueued.
    fn enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        let _ = (at, link, packet, backlog);
    }

    /// `packet` was dropped at `link`. Random loss is seen when the packet would have arrived.
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        let _ = (at, link, packet, reason);
    }

    /// `packet` got a congestion mark at `link`.
    fn marked(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        let _ = (at, link, packet);
    }

    /// `link` began to transmit `packet` at `start`, which is now, and will be done at `finish`.
    /// For cross-traffic this is the end of its way.
    fn transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        let _ = (link, packet, start, finish);
    }

    /// The radio access network has sent a transport block, or let an occasion pass; `at` is the start
    /// of the TTI.
    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        let _ = (at, record);
    }

    /// The connection of a user to its cell has changed.
    fn connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let _ = (at, user, event);
    }
}

/// Nobody watches.
impl Observer for () {}

macro_rules! forward {
    ($self:ident, $($watcher:expr),+) => {
        fn sent(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $($watcher.sent(at, host, packet);)+
        }
        fn received(&mut $self, at: Instant, host: HostId, packet: &Packet) {
            $($watcher.received(at, host, packet);)+
        }
        fn enqueued(&mut $self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
            $($watcher.enqueued(at, link, packet, backlog);)+
        }
        fn dropped(&mut $self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
            $($watcher.dropped(at, link, packet, reason);)+
        }
        fn marked(&mut $self, at: Instant, link: LinkId, packet: &Packet) {
            $($watcher.marked(at, link, packet);)+
        }
        fn transmitted(&mut $self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
            $($watcher.transmitted(link, packet, start, finish);)+
        }
        fn radio(&mut $self, at: Instant, record: &TtiRecord) {
            $($watcher.radio(at, record);)+
        }
        fn connection(&mut $self, at: Instant, user: UserId, event: &ConnectionEvent) {
            $($watcher.connection(at, user, event);)+
        }
    };
}

/// Both watch.
impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self, self.0, self.1);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    forward!(self, (**self));
}

/// Watches if there.
impl<O: Observer> Observer for Option<O> {
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        if let Some(observer) = self {
            observer.sent(at, host, packet);
        }
    }
    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        if let Some(observer) = self {
            observer.received(at, host, packet);
        }
    }
    fn enqueued(&mut self, at: Instant, link: LinkId, packet: &Packet, backlog: Backlog) {
        if let Some(observer) = self {
            observer.enqueued(at, link, packet, backlog);
        }
    }
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        if let Some(observer) = self {
            observer.dropped(at, link, packet, reason);
        }
    }
    fn marked(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if let Some(observer) = self {
            observer.marked(at, link, packet);
        }
    }
    fn transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, finish: Instant) {
        if let Some(observer) = self {
            observer.transmitted(link, packet, start, finish);
        }
    }
    fn radio(&mut self, at: Instant, record: &TtiRecord) {
        if let Some(observer) = self {
            observer.radio(at, record);
        }
    }
    fn connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        if let Some(observer) = self {
            observer.connection(at, user, event);
        }
    }
}
