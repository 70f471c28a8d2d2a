//! Traffic that shares one link with the flows that are looked at.

use units::random::{Purpose, Stream};
use units::{Bytes, Duration, Instant};

use crate::{CrossTraffic, HostId, Kind, LinkConfig, LinkId, Packet, Pattern, Times};

/// Identities from here on belong to cross-traffic.
const FIRST_ID: u64 = 1 << 63;

pub(crate) struct CrossSource {
    pub(crate) link: LinkId,
    ends: (HostId, HostId),
    /// Among all sources.
    number: u32,
    config: CrossTraffic,
    draws: Stream,
    sent: u64,
    /// The present turn, and the packets sent in it.
    turn: (Instant, Instant),
    sent_in_turn: u64,
}

impl CrossSource {
    /// Source number `of_link` at `link`. Its draws do not depend on sources at other links.
    pub(crate) fn new(
        config: CrossTraffic,
        link: (LinkId, &LinkConfig),
        of_link: u32,
        number: u32,
        seed: u64,
    ) -> Self {
        let (link, LinkConfig { from, to, .. }) = link;
        let draws = Stream::new(seed, Purpose::CrossTraffic, link.0 << 16 | of_link);
        let turn = (config.start, config.start);
        let mut source = Self {
            link,
            ends: (*from, *to),
            number,
            config,
            draws,
            sent: 0,
            turn,
            sent_in_turn: 0,
        };
        source.turn.1 = source.end_of_turn();
        source
    }

    /// When the next packet is due.
    pub(crate) fn next_at(&self) -> Instant {
        // From the start of the turn, so that rounding does not add up.
        let bytes = Bytes::new(self.sent_in_turn * u64::from(self.config.packet_size));
        let at = self.turn.0 + self.config.rate.time_to_send(bytes);
        if at < self.config.stop {
            at
        } else {
            Instant::NEVER
        }
    }

    /// The packet that is due.
    pub(crate) fn emit(&mut self) -> Packet {
        let packet = Packet {
            id: FIRST_ID | u64::from(self.number) << 40 | self.sent,
            flow: u32::MAX - self.number,
            source: self.ends.0,
            destination: self.ends.1,
            size: self.config.packet_size,
            sent_at: self.next_at(),
            kind: Kind::Cross,
            ..Packet::default()
        };
        self.sent += 1;
        self.sent_in_turn += 1;
        if self.next_at() >= self.turn.1
            && let Pattern::OnOff { off, .. } = self.config.pattern
        {
            let start = self.turn.1 + off.draw(&mut self.draws);
            self.turn = (start, start);
            self.turn.1 = self.end_of_turn();
            self.sent_in_turn = 0;
        }
        packet
    }

    fn end_of_turn(&mut self) -> Instant {
        match self.config.pattern {
            Pattern::Constant => Instant::NEVER,
            Pattern::OnOff { on, .. } => self.turn.0 + on.draw(&mut self.draws),
        }
    }
}

impl Times {
    /// At least one nanosecond, so that time goes on.
    fn draw(self, draws: &mut Stream) -> Duration {
        let seconds = Duration::from_secs_f64;
        let drawn = match self {
            Self::Constant(time) => time,
            Self::Uniform { min, max } => {
                min + draws.duration_below(max.saturating_sub(min) + Duration::from_nanos(1))
            }
            Self::Exponential { mean } => seconds(draws.exponential(mean.as_secs_f64())),
            Self::Pareto { min, shape } => seconds(draws.pareto(min.as_secs_f64(), shape)),
            Self::Weibull { scale, shape } => seconds(draws.weibull(scale.as_secs_f64(), shape)),
            Self::Lognormal { median, sigma } => {
                seconds(draws.lognormal(libm::log(median.as_secs_f64()), sigma))
            }
        };
        drawn.max(Duration::from_nanos(1))
    }
}
