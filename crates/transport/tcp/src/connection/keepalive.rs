//! Keep-alive: probes of an idle connection (RFC 9293 §3.8.4; the kernel's `tcp_keepalive_timer`).

use units::{Duration, Instant};

use super::{Connection, Failure, State};

/// Time between two probes (`TCP_KEEPALIVE_INTVL`), and probes without an answer before the connection times out
/// (`TCP_KEEPALIVE_PROBES`).
const INTERVAL: Duration = Duration::from_secs(75);
const PROBES: u32 = 9;

/// Keep-alive of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// Time of the next look at the connection.
    pub(super) at: Instant,
    /// Probes since the latest ACK.
    pub(super) unanswered: u32,
}

impl KeepAlive {
    pub(super) const OFF: Self = Self {
        at: Instant::NEVER,
        unanswered: 0,
    };
}

impl Connection {
    /// Starts the timer of an established connection, if its sockets have one.
    pub(super) fn start_keepalive(&mut self, now: Instant) {
        if let Some(idle) = self.config.settings.keepalive {
            self.keepalive.at = self.config.timers.end(now, idle);
        }
    }

    /// Probes a connection that has been idle for long enough, or ends it if the probes were not answered. Data that
    /// is not acknowledged has timers of its own.
    pub(super) fn keep_alive(&mut self, now: Instant) {
        if self.keepalive.at > now {
            return;
        }
        self.keepalive.at = Instant::NEVER;
        // FIN-WAIT-2 of an application that is gone has a timer of its own.
        let orphan = self.detached && self.state == State::FinWait2;
        let open = self.is_synchronised() && self.state != State::TimeWait && !orphan;
        let Some(idle) = self.config.settings.keepalive.filter(|_| open) else {
            return;
        };
        let last_received_at = self.data_received_at.max(self.ack_received_at);
        let silent = now.saturating_since(last_received_at);
        let wait = if !self.sender.seq.all_acked() {
            idle
        } else if silent < idle {
            idle - silent
        } else if self.is_silence_hopeless(silent) {
            self.push_reset(now);
            self.fail(Failure::TimedOut);
            return;
        } else {
            self.send_probe(now);
            self.keepalive.unanswered += 1;
            self.config.settings.keepalive_interval.unwrap_or(INTERVAL)
        };
        self.keepalive.at = self.config.timers.end(now, wait);
    }

    fn is_silence_hopeless(&self, silent: Duration) -> bool {
        let unanswered = self.keepalive.unanswered;
        match self.config.user_timeout {
            Some(limit) => silent >= limit && unanswered > 0,
            None => unanswered >= self.config.settings.keepalive_probes.unwrap_or(PROBES),
        }
    }
}
