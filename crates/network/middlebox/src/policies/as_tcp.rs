//! AS-TCP: data is acknowledged at once, and a TCP option reports to the sender what the far end has (Kim 2016, section
//! 5.5).
//!
//! The sender has to understand the option. If it does not, ES-TCP takes this policy's place.

use net::LinkChange;
use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::es_tcp::EsTcp;
use super::{Policy, pause_with_link};

/// Policy of AS-TCP.
pub(crate) struct AsTcp {
    /// Maximum time that a far acknowledgement waits for an ACK that carries it.
    max_ack_wait: Duration,
    /// Time at which it is sent in an ACK of its own.
    ack_deadline: Instant,
    /// Far acknowledgement that the sender had when the wait began, bytes.
    far_acked: u64,
    /// Policy towards a sender without the option.
    fallback: EsTcp,
    falls_back: bool,
}

impl AsTcp {
    pub(crate) fn new(max_ack_wait: Duration, fallback: EsTcp) -> Self {
        Self {
            max_ack_wait,
            ack_deadline: Instant::NEVER,
            far_acked: 0,
            fallback,
            falls_back: false,
        }
    }
}

impl Policy for AsTcp {
    fn reserve(&self) -> u64 {
        if self.falls_back {
            self.fallback.reserve()
        } else {
            0
        }
    }

    fn negotiated(&mut self, inbound: &mut Connection) {
        self.falls_back = !inbound.sends_far_acks();
        inbound.set_unacked_tail(self.reserve());
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if self.falls_back {
            self.fallback.before_data(inbound, segment);
        }
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection, far_rtt: Duration) {
        if self.falls_back {
            self.fallback.on_data(now, inbound, far_rtt);
        }
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool) {
        if self.falls_back {
            self.fallback.on_confirmed(now, inbound, all_confirmed);
        } else if inbound.window_update_due()
            || all_confirmed
            || self.max_ack_wait == Duration::ZERO
        {
            self.ack_deadline = Instant::NEVER;
            inbound.acknowledge(now);
        } else if self.ack_deadline == Instant::NEVER || self.far_acked != inbound.far_acked() {
            self.ack_deadline = now + self.max_ack_wait;
            self.far_acked = inbound.far_acked();
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
        self.ack_deadline.min(self.fallback.deadline())
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        if self.falls_back {
            self.fallback.on_deadline(now, inbound);
            return;
        }
        self.ack_deadline = Instant::NEVER;
        if inbound.far_ack_due() {
            inbound.acknowledge(now);
        }
    }
}
