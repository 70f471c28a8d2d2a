//! User timeout and retry limits (`tcp_write_timeout`).

use units::{Duration, Instant};

use super::Sender;

/// Time-out of which the limit is made (`TCP_RTO_MIN`).
const BASE: Duration = Duration::from_millis(200);

impl Sender {
    /// Returns whether the other end has not answered for too long.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out
    }

    /// Returns the time that the retries take if each time-out doubles up to its bound (the kernel's
    /// `tcp_model_timeout`).
    fn model_timeout(&self) -> Duration {
        let longest = self.config.max_rto;
        let doublings = (longest.as_nanos() / BASE.as_nanos()).max(1).ilog2();
        let retries = self.config.retries;
        let doubled = BASE * ((2 << u64::from(retries.min(doublings))) - 1);
        doubled + longest * u64::from(retries.saturating_sub(doublings))
    }

    /// Returns whether retransmissions have lasted too long (the kernel's `tcp_write_timeout`).
    pub(super) fn write_timed_out(&self, now: Instant) -> bool {
        let limit = self
            .config
            .user_timeout
            .unwrap_or_else(|| self.model_timeout());
        self.retransmits > 0 && now.saturating_since(self.timing_out_since) >= limit
    }

    /// Returns whether an other end that has withdrawn its window has been silent for too long while segments were
    /// repeated (the kernel's `tcp_rtx_probe0_timed_out`). As long as it answers, the connection lasts.
    pub(super) fn rtx_probe0_timed_out(&self, now: Instant) -> bool {
        let since_ms = self.retransmission_stamp.unwrap_or_else(|| {
            let head = self.board.head();
            head.map_or(0, |head| head.sent_at.since_start().as_millis())
        });
        let repeating =
            Duration::from_millis(now.since_start().as_millis().saturating_sub(since_ms));
        let mut limit = self.config.max_rto * 2;
        if let Some(user) = self.config.user_timeout {
            if repeating > user {
                return true;
            }
            limit = limit.min(user);
        }
        now.saturating_since(self.rcv_tstamp) > limit && repeating > limit
    }

    /// Shortens a time-out so that it ends with the time-out of the application (the kernel's
    /// `tcp_clamp_rto_to_user_timeout`).
    pub(super) fn clamp_to_user_timeout(&self, now: Instant, wait: Duration) -> Duration {
        let Some(limit) = self.config.user_timeout else {
            return wait;
        };
        let elapsed = now.saturating_since(self.timing_out_since);
        wait.min(limit.saturating_sub(elapsed).max(Duration::from_millis(1)))
    }

    /// Returns whether window probes have lasted too long, and notes the first of them (the kernel's
    /// `tcp_probe_timer`).
    pub(super) fn probe_timed_out(&mut self, now: Instant) -> bool {
        let since = *self.probing_since.get_or_insert(now);
        let expired = self
            .config
            .user_timeout
            .is_some_and(|limit| now.saturating_since(since) >= limit);
        expired || self.probes >= self.config.retries
    }
}
