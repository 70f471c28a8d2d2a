//! Consecutive time-outs: back-off, retry limits and the user timeout (`tcp_write_timeout`).

use units::{Duration, Instant};

use super::Sender;
use crate::config::TcpConfig;

/// First time-out of the model of retries (`TCP_RTO_MIN`).
const RTO_MIN: Duration = Duration::from_millis(200);

/// Consecutive time-outs that do not double in a thin stream (`TCP_THIN_LINEAR_RETRIES`).
const THIN_LINEAR_RETRIES: u32 = 6;

/// Outstanding segments from which on a stream is not thin (`tcp_stream_is_thin`).
const MIN_THICK_SEGMENTS: u32 = 4;

/// Time-outs of a sender since the last ACK of new data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timeouts {
    /// Consecutive time-outs (`icsk_retransmits`).
    pub(super) retransmits: u32,
    /// Time of the first one.
    first_at: Instant,
    /// Doublings of the time-out (`icsk_backoff`).
    pub(super) backoff: u32,
    /// Whether the connection has timed out (`ETIMEDOUT`).
    pub(super) has_expired: bool,
}

impl Timeouts {
    /// Returns the time-out `rto` with its back-off, at most `max_rto`.
    pub(super) fn backed_off(&self, rto: Duration, max_rto: Duration) -> Duration {
        (rto * (1 << self.backoff.min(20))).min(max_rto)
    }

    /// Notes the time of a time-out, if it is the first one. If the receiver has withdrawn its window (`has_withdrawn`), the retransmission
    /// is no time-out, but backs off.
    pub(super) fn note_first(&mut self, now: Instant, has_withdrawn: bool) {
        let prior_timeouts = if has_withdrawn {
            self.backoff
        } else {
            self.retransmits
        };
        if prior_timeouts == 0 {
            self.first_at = now;
        }
    }

    /// Returns whether retransmissions have lasted too long (the kernel's `tcp_write_timeout`).
    pub(super) fn write_timed_out(&self, now: Instant, config: &TcpConfig) -> bool {
        let limit = config.user_timeout.unwrap_or_else(|| model_timeout(config));
        self.retransmits > 0 && now.saturating_since(self.first_at) >= limit
    }

    /// Shortens a time-out to the rest of the user timeout, if there is one (the kernel's
    /// `tcp_clamp_rto_to_user_timeout`).
    pub(super) fn clamp_to_user_timeout(
        &self,
        now: Instant,
        wait: Duration,
        user_timeout: Option<Duration>,
    ) -> Duration {
        let Some(limit) = user_timeout else {
            return wait;
        };
        let elapsed = now.saturating_since(self.first_at);
        wait.min(limit.saturating_sub(elapsed).max(Duration::from_millis(1)))
    }
}

/// Returns the time of all retries if each time-out doubles up to its bound (the kernel's `tcp_model_timeout`).
fn model_timeout(config: &TcpConfig) -> Duration {
    let max_rto = config.max_rto;
    let doublings = (max_rto.as_nanos() / RTO_MIN.as_nanos()).max(1).ilog2();
    let doubled = RTO_MIN * ((2 << u64::from(config.retries.min(doublings))) - 1);
    doubled + max_rto * u64::from(config.retries.saturating_sub(doublings))
}

impl Sender {
    /// Returns whether the connection has timed out.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timeouts.has_expired
    }

    /// Returns whether the next time-out does not double: in a thin stream that is not being closed, if that is set. A stream
    /// that has never reduced its window is not thin (`tcp_in_initial_slowstart`), so under BBR none is.
    pub(super) fn has_linear_timeouts(&self) -> bool {
        self.config.settings.thin_linear_timeouts
            && !self.seq.fin_queued
            && self.board.packets_out() < MIN_THICK_SEGMENTS
            && self.congestion.window.ssthresh < cca::INFINITE_SSTHRESH
            && self.timeouts.retransmits <= THIN_LINEAR_RETRIES
    }

    /// Returns whether a peer that has withdrawn its window has been silent for too long while segments were retransmitted
    /// (the kernel's `tcp_rtx_probe0_timed_out`).
    pub(super) fn rtx_probe0_timed_out(&self, now: Instant) -> bool {
        let since_ms = self.recovery.retrans_stamp.unwrap_or_else(|| {
            let head = self.board.head();
            head.map_or(0, |head| head.tx.sent_at.since_start().as_millis())
        });
        let retransmitting =
            Duration::from_millis(now.since_start().as_millis().saturating_sub(since_ms));
        let mut limit = self.config.max_rto * 2;
        if let Some(user) = self.config.user_timeout {
            if retransmitting > user {
                return true;
            }
            limit = limit.min(user);
        }
        now.saturating_since(self.last_ack.rcv_tstamp) > limit && retransmitting > limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// RFC 6298 §5.5: every time-out doubles the next one, up to its bound (§2.5).
    #[test]
    fn a_time_out_doubles_up_to_its_bound() {
        let mut timeouts = Timeouts::default();
        for seconds in [1, 2, 4, 8, 10, 10] {
            assert_eq!(timeouts.backed_off(SECOND, SECOND * 10), SECOND * seconds);
            timeouts.backoff += 1;
        }
    }

    /// Linux `tcp_model_timeout`: 15 retries take 924.6 s (`tcp_retries2`).
    #[test]
    fn fifteen_retries_take_a_quarter_of_an_hour() {
        let config = TcpConfig {
            retries: 15,
            max_rto: SECOND * 120,
            ..TcpConfig::default()
        };
        assert_eq!(model_timeout(&config), Duration::from_millis(924_600));
    }

    /// The limit counts from the first time-out, and the last wait ends with it.
    #[test]
    fn the_user_timeout_counts_from_the_first_time_out() {
        let config = TcpConfig {
            user_timeout: Some(SECOND * 5),
            ..TcpConfig::default()
        };
        let at = |seconds| Instant::ZERO + SECOND * seconds;
        let mut timeouts = Timeouts::default();
        for seconds in [1, 3] {
            timeouts.note_first(at(seconds), false);
            timeouts.retransmits += 1;
        }
        let clamp = |seconds, wait| {
            timeouts.clamp_to_user_timeout(at(seconds), SECOND * wait, config.user_timeout)
        };
        assert_eq!(clamp(3, 2), SECOND * 2);
        assert_eq!(clamp(3, 4), SECOND * 3);
        assert_eq!(clamp(9, 4), Duration::from_millis(1));
        assert!(!timeouts.write_timed_out(at(5), &config));
        assert!(timeouts.write_timed_out(at(6), &config));
    }
}
