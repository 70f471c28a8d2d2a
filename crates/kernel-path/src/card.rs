//! Card: the network card of the server's host, between its kernel and the path.

use std::collections::VecDeque;

use net::Packet;
use units::{Bytes, Instant, Rate};

/// Rate of the card. It is faster than the links of a path, so that every queue is the path's, and TCP small queues
/// hears from the card when a packet has left.
const RATE: Rate = Rate::from_bits_per_second(100_000_000_000);

/// Packets that the card has yet to send.
#[derive(Debug, Default)]
pub(crate) struct Card {
    free: Instant,
    waiting: VecDeque<(Instant, Packet)>,
}

impl Card {
    /// Takes a packet at `now`.
    pub(crate) fn take(&mut self, now: Instant, packet: Packet) {
        self.free = self.free.max(now) + RATE.time_to_send(Bytes::new(packet.size.into()));
        self.waiting.push_back((self.free, packet));
    }

    /// Returns when the next packet leaves; [`Instant::NEVER`] if none waits.
    pub(crate) fn next(&self) -> Instant {
        self.waiting.front().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Returns the packet that leaves at `now`, which begins its way on the path then.
    pub(crate) fn leave(&mut self, now: Instant) -> Option<Packet> {
        let (sent_at, packet) = self.waiting.pop_front_if(|(at, _)| *at <= now)?;
        Some(Packet { sent_at, ..packet })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{HostId, Kind};
    use units::Duration;

    #[test]
    fn packets_leave_one_after_another_at_the_rate_of_the_card() {
        let packet = |id| Packet {
            id,
            flow: 0,
            source: HostId(0),
            destination: HostId(1),
            size: 1_250,
            segment: tcp::Segment::default(),
            sent_at: Instant::ZERO,
            kind: Kind::Tcp,
        };
        let mut card = Card::default();
        assert_eq!(card.next(), Instant::NEVER);
        let at = |nanos| Instant::ZERO + Duration::from_nanos(nanos);
        card.take(at(1_000), packet(1));
        card.take(at(1_000), packet(2));
        assert_eq!((card.next(), card.leave(at(1_099))), (at(1_100), None));
        assert_eq!(
            card.leave(at(1_100)).map(|p| (p.id, p.sent_at)),
            Some((1, at(1_100)))
        );
        assert_eq!(card.next(), at(1_200));
    }
}
