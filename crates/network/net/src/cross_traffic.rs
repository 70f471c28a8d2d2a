//! Cross-traffic: packets that share one link with the flows of a run.

use config::{Cross, Distribution};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant};

use crate::{HostId, LinkConfig, LinkId, Packet, Payload};

/// Identities from here on belong to cross-traffic.
const FIRST_ID: u64 = 1 << 63;

pub(crate) struct CrossSource {
    pub(crate) link: LinkId,
    ends: (HostId, HostId),
    /// Among all sources.
    number: u32,
    config: Cross,
    /// Bytes of a packet.
    size: u32,
    draws: RngStream,
    sent: u64,
    /// The current turn, and the packets sent in it.
    turn: (Instant, Instant),
    sent_in_turn: u64,
}

impl CrossSource {
    /// Source number `of_link` at `link`. Its draws do not depend on sources at other links.
    pub(crate) fn new(
        config: Cross,
        link: (LinkId, &LinkConfig),
        of_link: u32,
        number: u32,
        seed: u64,
    ) -> Self {
        let (link, LinkConfig { from, to, mtu, .. }) = link;
        let size = config.packet.map_or(*mtu, |packet| packet.get() as u32);
        let draws = RngStream::new(seed, Purpose::CrossTraffic, link.0 << 16 | of_link);
        let start = Instant::ZERO + config.start;
        let turn = (start, start);
        let mut source = Self {
            link,
            ends: (*from, *to),
            number,
            config,
            size,
            draws,
            sent: 0,
            turn,
            sent_in_turn: 0,
        };
        source.turn.1 = source.end_of_turn();
        source
    }

    /// Returns the time at which the next packet is due.
    pub(crate) fn next_at(&self) -> Instant {
        // From the start of the turn, so that rounding does not add up.
        let bytes = Bytes::new(self.sent_in_turn * u64::from(self.size));
        let at = self.turn.0 + self.config.rate.time_to_send(bytes);
        match self.config.stop {
            Some(stop) if at >= Instant::ZERO + stop => Instant::NEVER,
            _ => at,
        }
    }

    /// Returns the packet that is due.
    pub(crate) fn emit(&mut self) -> Packet {
        let packet = Packet {
            id: FIRST_ID | u64::from(self.number) << 40 | self.sent,
            flow: u32::MAX - self.number,
            source: self.ends.0,
            destination: self.ends.1,
            size: self.size,
            sent_at: self.next_at(),
            payload: Payload::Cross,
        };
        self.sent += 1;
        self.sent_in_turn += 1;
        if self.next_at() >= self.turn.1
            && let Some(off) = self.config.off
        {
            let start = self.turn.1 + self.draw(off);
            self.turn = (start, start);
            self.turn.1 = self.end_of_turn();
            self.sent_in_turn = 0;
        }
        packet
    }

    fn end_of_turn(&mut self) -> Instant {
        match self.config.on {
            None => Instant::NEVER,
            Some(on) => self.turn.0 + self.draw(on),
        }
    }

    /// Draws a time of at least one nanosecond, so that time goes on.
    fn draw(&mut self, times: Distribution<Duration>) -> Duration {
        times.draw(&mut self.draws).max(Duration::from_nanos(1))
    }
}
