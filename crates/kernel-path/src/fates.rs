//! Fates: packets of the kernel that leave the path or their network card without arriving.

use std::collections::VecDeque;

use net::{CREATED_FROM, DropReason, HostId, Kind, LinkId, Observer, Packet};
use units::Instant;

/// Observer of packets that were dropped or absorbed, and of those that the first link of the server has transmitted:
/// then the server's network card is done with them.
#[derive(Debug)]
pub(crate) struct Fates {
    card: Option<LinkId>,
    on_card: VecDeque<(Instant, u64)>,
    gone: Vec<u64>,
}

impl Fates {
    /// Watches the card whose link is `card`; `None` for a server without a link of its own.
    pub(crate) fn new(card: Option<LinkId>) -> Self {
        Self {
            card,
            on_card: VecDeque::new(),
            gone: Vec::new(),
        }
    }

    /// Returns when the next packet leaves the card.
    pub(crate) fn next(&self) -> Instant {
        self.on_card.front().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Returns the identity of a packet that has left the card by `now`.
    pub(crate) fn left_card(&mut self, now: Instant) -> Option<u64> {
        self.on_card
            .pop_front_if(|(at, _)| *at <= now)
            .map(|(_, id)| id)
    }

    /// Returns the identities of the packets that were dropped or absorbed since the last call.
    pub(crate) fn take_gone(&mut self) -> impl Iterator<Item = u64> {
        self.gone.drain(..)
    }
}

impl Observer for Fates {
    fn transmitted(&mut self, link: LinkId, packet: &Packet, _: Instant, finish: Instant) {
        if Some(link) == self.card && packet.kind == Kind::Tcp && packet.id < CREATED_FROM {
            self.on_card.push_back((finish, packet.id));
        }
    }

    fn dropped(&mut self, _: Instant, _: LinkId, packet: &Packet, _: DropReason) {
        if packet.kind == Kind::Tcp {
            self.gone.push(packet.id);
        }
    }

    fn absorbed(&mut self, _: Instant, _: HostId, packet: &Packet) {
        self.gone.push(packet.id);
    }
}
