//! PAM: split TCP that acknowledges in advance while the far end is silent (Amjad, Aslam and Zou, CCNC 2013; Kim 2016,
//! section 2.2.2).
//!
//! ACKs follow those of the far end, as with M-TCP. When the far end is silent for so long that the sender could time
//! out, the split host acknowledges all data that it has received. It does so until the far end sends again.

use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::{Policy, Progress};

/// Policy of PAM.
pub(crate) struct Pam {
    /// Silence of the far end beyond its RTT after which data is acknowledged in advance.
    silence_timeout: Duration,
    far_rtt: Duration,
    /// Whether data is acknowledged in advance.
    acks_early: bool,
    deadline: Instant,
}

impl Pam {
    pub(crate) fn new(silence_timeout: Duration) -> Self {
        Self {
            silence_timeout,
            far_rtt: Duration::ZERO,
            acks_early: false,
            deadline: Instant::NEVER,
        }
    }
}

impl Policy for Pam {
    fn reserve(&self) -> u64 {
        Connection::CONFIRMED_ONLY
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if inbound.repeats(segment) {
            // The sender's RTO has fired before our deadline. Its retransmission is answered by an ACK for all data.
            self.acks_early = true;
            self.deadline = Instant::NEVER;
            inbound.release(u64::MAX);
        }
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection, far_rtt: Duration) {
        self.far_rtt = far_rtt;
        if self.acks_early {
            inbound.release(u64::MAX);
            inbound.acknowledge(now);
        } else if self.deadline == Instant::NEVER {
            self.deadline = now + far_rtt + self.silence_timeout;
        }
    }

    fn acknowledges(&mut self, progress: &Progress) -> u64 {
        self.far_rtt = progress.rtt;
        progress.confirmed
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool) {
        self.acks_early = false;
        if inbound.could_acknowledge_more() || inbound.window_update_due() {
            inbound.acknowledge(now);
        }
        self.deadline = if all_confirmed {
            Instant::NEVER
        } else {
            now + self.far_rtt + self.silence_timeout
        };
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.acks_early = true;
        self.deadline = Instant::NEVER;
        inbound.release(u64::MAX);
        inbound.acknowledge(now);
    }
}
