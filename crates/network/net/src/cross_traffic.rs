//! Cross-traffic: packets that share one link with the flows of a run.

use config::{Cross, Distribution};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant};

use crate::{HostId, LinkConfig, LinkId, Packet, Payload};

/// First identity of packets of cross-traffic.
const FIRST_ID: u64 = 1 << 63;

/// Source of cross-traffic at one link.
pub(crate) struct CrossSource {
    pub(crate) link: LinkId,
    from: HostId,
    to: HostId,
    /// Index among all sources.
    index: u32,
    config: Cross,
    /// Bytes of a packet.
    size: u32,
    draws: RngStream,
    sent: u64,
    /// Start of the current on-period.
    on_start: Instant,
    /// End of the current on-period.
    on_end: Instant,
    /// Packets sent in the current on-period.
    sent_in_period: u64,
}

impl CrossSource {
    /// Creates source number `link_index` at `link`, which is number `index` of all. Its draws do not depend on sources at
    /// other links.
    pub(crate) fn new(
        config: Cross,
        link: (LinkId, &LinkConfig),
        link_index: u32,
        index: u32,
        seed: u64,
    ) -> Self {
        let (link, LinkConfig { from, to, mtu, .. }) = link;
        let size = config.packet.map_or(*mtu, |packet| packet.get() as u32);
        let draws = RngStream::new(seed, Purpose::CrossTraffic, link.0 << 16 | link_index);
        let start = Instant::ZERO + config.start;
        let mut source = Self {
            link,
            from: *from,
            to: *to,
            index,
            config,
            size,
            draws,
            sent: 0,
            on_start: start,
            on_end: start,
            sent_in_period: 0,
        };
        source.on_end = source.draw_on_end();
        source
    }

    /// Returns the time at which the next packet is due.
    pub(crate) fn next_at(&self) -> Instant {
        // Counted from the start of the on-period, so that rounding does not add up.
        let bytes = Bytes::new(self.sent_in_period * u64::from(self.size));
        let at = self.on_start + self.config.rate.time_to_send(bytes);
        match self.config.stop {
            Some(stop) if at >= Instant::ZERO + stop => Instant::NEVER,
            _ => at,
        }
    }

    /// Returns the packet that is due.
    pub(crate) fn emit(&mut self) -> Packet {
        let packet = Packet {
            id: FIRST_ID | u64::from(self.index) << 40 | self.sent,
            flow: u32::MAX - self.index,
            source: self.from,
            destination: self.to,
            size: self.size,
            sent_at: self.next_at(),
            payload: Payload::Cross,
        };
        self.sent += 1;
        self.sent_in_period += 1;
        if self.next_at() >= self.on_end
            && let Some(off) = self.config.off
        {
            self.on_start = self.on_end + self.draw(off);
            self.on_end = self.draw_on_end();
            self.sent_in_period = 0;
        }
        packet
    }

    fn draw_on_end(&mut self) -> Instant {
        match self.config.on {
            None => Instant::NEVER,
            Some(on) => self.on_start + self.draw(on),
        }
    }

    /// Draws a time of at least one nanosecond, so that time goes on.
    fn draw(&mut self, times: Distribution<Duration>) -> Duration {
        times.draw(&mut self.draws).max(Duration::from_nanos(1))
    }
}
