//! Hazards: nodes that lose, repeat and delay packets, and a split host that is killed.

use middlebox::SplitHost;
use net::{Actions, HostId, LinkChange, LinkSubscription, Node, Packet};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

/// A node that loses, repeats and reorders packets, and lets none pass during an outage.
pub struct Impairment {
    draws: RngStream,
    drawn: u64,
    /// Shares of packets that are lost, repeated and delayed, of 1000.
    pub shares: [u64; 3],
    pub outage: (Instant, Instant),
    waiting: Vec<(Instant, u64)>,
}

impl Impairment {
    pub fn new(seed: u64, number: u32, shares: [u64; 3], outage: (Instant, Instant)) -> Self {
        Self {
            draws: RngStream::new(seed, Purpose::Loss, number),
            drawn: 0,
            shares,
            outage,
            waiting: Vec::new(),
        }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.draws.at(self.drawn)
    }
}

impl Node for Impairment {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let fate = self.draw();
        let [lost, repeated, delayed] = self.shares;
        let out = self.outage.0 <= actions.now() && actions.now() < self.outage.1;
        let share = fate % 1_000;
        if out || share < lost {
            actions.absorb(packet.id);
            return;
        }
        if share < lost + repeated {
            actions.create(*packet, None);
        } else if share < lost + repeated + delayed {
            let delay = Duration::from_micros((fate >> 32) % 30_000);
            self.waiting.push((actions.now() + delay, packet.id));
            self.waiting.sort_unstable();
            actions.call_at(self.waiting[0].0);
            return;
        }
        actions.forward(packet.id);
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(&(at, id)) = self.waiting.first()
            && at <= actions.now()
        {
            self.waiting.remove(0);
            actions.forward(id);
        }
        let next = self.waiting.first().map_or(Instant::NEVER, |(at, _)| *at);
        actions.call_at(next);
    }
}

/// A split host that is killed: from then on it is a router, or nothing passes.
pub struct CrashingNode {
    pub host: SplitHost,
    pub dies_at: Instant,
    pub then_routes: bool,
}

impl Node for CrashingNode {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if actions.now() < self.dies_at {
            self.host.on_packet(packet, actions);
        } else if self.then_routes {
            actions.forward(packet.id);
        } else {
            actions.absorb(packet.id);
        }
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        if actions.now() < self.dies_at {
            self.host.on_call(actions);
        }
    }

    fn link_subscription(&self) -> Option<LinkSubscription> {
        self.host.link_subscription()
    }

    fn on_link(&mut self, to: HostId, change: LinkChange, actions: &mut Actions<'_>) {
        if actions.now() < self.dies_at {
            self.host.on_link(to, change, actions);
        }
    }
}
