//! Keep-alive: probes of an idle connection (RFC 9293 §3.8.4; the kernel's `tcp_keepalive_timer`).

use units::{Duration, Instant};

use super::{Connection, Failure, State};

/// Default of the time between two probes (`TCP_KEEPALIVE_INTVL`), and of the unanswered probes before the connection
/// times out (`TCP_KEEPALIVE_PROBES`).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(75);
const DEFAULT_PROBES: u32 = 9;

/// Keep-alive of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// Time of the next check of the connection.
    pub(super) next_at: Instant,
    /// Probes since the latest ACK.
    pub(super) unanswered_probes: u32,
}

impl KeepAlive {
    pub(super) const OFF: Self = Self {
        next_at: Instant::NEVER,
        unanswered_probes: 0,
    };
}

impl Connection {
    /// Starts the timer of an established connection, if keep-alive is on.
    pub(super) fn start_keepalive(&mut self, now: Instant) {
        if let Some(idle) = self.config.settings.keepalive {
            self.keepalive.next_at = self.config.timers.expiry(now, idle);
        }
    }

    /// Probes a connection that has been idle for long enough, or ends it if the probes were not answered.
    /// Unacknowledged data has timers of its own.
    pub(super) fn keep_alive(&mut self, now: Instant) {
        if self.keepalive.next_at > now {
            return;
        }
        self.keepalive.next_at = Instant::NEVER;
        // FIN-WAIT-2 of a closed socket has a timer of its own.
        let is_orphan = self.socket_closed && self.state == State::FinWait2;
        let is_open = self.is_synchronised() && self.state != State::TimeWait && !is_orphan;
        let Some(idle) = self.config.settings.keepalive.filter(|_| is_open) else {
            return;
        };
        let last_received_at = self.data_received_at.max(self.ack_received_at);
        let silence = now.saturating_since(last_received_at);
        let wait = if !self.sender.seq.all_acked() {
            idle
        } else if silence < idle {
            idle - silence
        } else if self.keepalive_timed_out(silence) {
            self.push_reset(now);
            self.fail(Failure::TimedOut);
            return;
        } else {
            self.send_probe(now);
            self.keepalive.unanswered_probes += 1;
            self.config
                .settings
                .keepalive_interval
                .unwrap_or(DEFAULT_INTERVAL)
        };
        self.keepalive.next_at = self.config.timers.expiry(now, wait);
    }

    fn keepalive_timed_out(&self, silence: Duration) -> bool {
        let unanswered = self.keepalive.unanswered_probes;
        match self.config.user_timeout {
            Some(limit) => silence >= limit && unanswered > 0,
            None => {
                unanswered
                    >= self
                        .config
                        .settings
                        .keepalive_probes
                        .unwrap_or(DEFAULT_PROBES)
            }
        }
    }
}
