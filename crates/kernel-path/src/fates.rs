//! What becomes of packets, beside their arrival.

use std::collections::VecDeque;

use net::{DropReason, Kind, LinkId, Observer, Packet};
use units::Instant;

/// Notes drops, and when the server's network card is done with a packet: when the first link of its
/// way has transmitted it.
#[derive(Debug)]
pub(crate) struct Fates {
    card: Option<LinkId>,
    on_card: VecDeque<(Instant, u64)>,
    dropped: Vec<u64>,
}

impl Fates {
    /// The card whose link is `card`; `None` for a server without a link of its own.
    pub(crate) fn new(card: Option<LinkId>) -> Self {
        Self {
            card,
            on_card: VecDeque::new(),
            dropped: Vec::new(),
        }
    }

    /// When the next packet leaves the card.
    pub(crate) fn next(&self) -> Instant {
        self.on_card.front().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// A packet that has left the card until `now`, by its number.
    pub(crate) fn left_card(&mut self, now: Instant) -> Option<u64> {
        self.on_card
            .pop_front_if(|(at, _)| *at <= now)
            .map(|(_, id)| id)
    }

    /// The packets that were dropped since the last call, by their numbers.
    pub(crate) fn take_dropped(&mut self) -> impl Iterator<Item = u64> {
        self.dropped.drain(..)
    }
}

impl Observer for Fates {
    fn transmitted(&mut self, link: LinkId, packet: &Packet, _: Instant, finish: Instant) {
        if Some(link) == self.card && packet.kind == Kind::Tcp {
            self.on_card.push_back((finish, packet.id));
        }
    }

    fn dropped(&mut self, _: Instant, _: LinkId, packet: &Packet, _: DropReason) {
        if packet.kind == Kind::Tcp {
            self.dropped.push(packet.id);
        }
    }
}
