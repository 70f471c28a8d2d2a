//! AS-TCP: data is acknowledged at once, and a TCP option tells the sender what the far end has (Kim 2016, section
//! 5.5).
//!
//! The sender has to understand the option. If it does not, ES-TCP takes this policy's place.

use net::LinkChange;
use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::es::Es;
use super::{Policy, pause_with_link};

/// Policy of AS-TCP.
pub(crate) struct Advanced {
    /// Time that a far acknowledgement waits for another ACK to go with.
    piggyback: Duration,
    tells_at: Instant,
    /// Acknowledgement number that the sender had when the wait began.
    told: u64,
    fallback: Es,
    falls_back: bool,
}

impl Advanced {
    pub(crate) fn new(piggyback: Duration, fallback: Es) -> Self {
        Self {
            piggyback,
            tells_at: Instant::NEVER,
            told: 0,
            fallback,
            falls_back: false,
        }
    }
}

impl Policy for Advanced {
    fn reserve(&self) -> u64 {
        if self.falls_back {
            self.fallback.reserve()
        } else {
            0
        }
    }

    fn negotiated(&mut self, inbound: &mut Connection) {
        self.falls_back = !inbound.tells_far_acks();
        inbound.relay(self.reserve());
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if self.falls_back {
            self.fallback.before_data(inbound, segment);
        }
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection) {
        if self.falls_back {
            self.fallback.on_data(now, inbound);
        }
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, everything: bool) {
        if self.falls_back {
            self.fallback.on_confirmed(now, inbound, everything);
        } else if inbound.window_opens() || everything || self.piggyback == Duration::ZERO {
            self.tells_at = Instant::NEVER;
            inbound.acknowledge(now);
        } else if self.tells_at == Instant::NEVER || self.told != inbound.far_told() {
            self.tells_at = now + self.piggyback;
            self.told = inbound.far_told();
        }
    }

    fn on_link(
        &mut self,
        now: Instant,
        _: &mut Connection,
        outbound: &mut Connection,
        change: LinkChange,
    ) {
        pause_with_link(now, outbound, change);
    }

    fn deadline(&self) -> Instant {
        self.tells_at.min(self.fallback.deadline())
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        if self.falls_back {
            self.fallback.on_deadline(now, inbound);
            return;
        }
        self.tells_at = Instant::NEVER;
        if inbound.has_far_news() {
            inbound.acknowledge(now);
        }
    }
}
