//! PAM: split TCP that acknowledges in advance while the far end is silent (Amjad, Aslam and Zou, CCNC 2013; Kim 2016,
//! section 2.2.2).
//!
//! ACKs of the far end decide, as with M-TCP. When it falls silent for so long that the sender could time out, the
//! split host acknowledges the data it has and receives, until the far end sends again.

use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::{Policy, Progress};

/// Policy of pre-acknowledgement.
pub(crate) struct Pam {
    /// Time by which the silence of the far end exceeds its RTT before data is acknowledged in advance.
    silence_timeout: Duration,
    far_rtt: Duration,
    /// Whether data is acknowledged in advance.
    acks_early: bool,
    expires: Instant,
}

impl Pam {
    pub(crate) fn new(silence_timeout: Duration) -> Self {
        Self {
            silence_timeout,
            far_rtt: Duration::ZERO,
            acks_early: false,
            expires: Instant::NEVER,
        }
    }
}

impl Policy for Pam {
    fn reserve(&self) -> u64 {
        Connection::KEEPS_ALL
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        if inbound.repeats(segment) {
            // The sender's time-out has come first. The answer to the repetition is an ACK for all.
            self.acks_early = true;
            self.expires = Instant::NEVER;
            inbound.release(u64::MAX);
        }
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection) {
        if self.acks_early {
            inbound.release(u64::MAX);
            inbound.acknowledge(now);
        } else if self.expires == Instant::NEVER {
            self.expires = now + self.far_rtt + self.silence_timeout;
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
        self.expires = if all_confirmed {
            Instant::NEVER
        } else {
            now + self.far_rtt + self.silence_timeout
        };
    }

    fn deadline(&self) -> Instant {
        self.expires
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.acks_early = true;
        self.expires = Instant::NEVER;
        inbound.release(u64::MAX);
        inbound.acknowledge(now);
    }
}
