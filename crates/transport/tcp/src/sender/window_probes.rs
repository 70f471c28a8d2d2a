//! Unanswered zero-window probes (RFC 9293 §3.8.6.1).

use units::Instant;

use crate::config::TcpConfig;

/// Probes since the last ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowProbes {
    /// Number of probes (`icsk_probes_out`).
    pub(super) probes_out: u32,
    /// Time of the first probe (`icsk_probes_tstamp`).
    probes_tstamp: Option<Instant>,
}

impl WindowProbes {
    /// Returns whether probes have lasted too long, and notes the time of the first one (the kernel's `tcp_probe_timer`).
    pub(super) fn timed_out(&mut self, now: Instant, config: &TcpConfig) -> bool {
        let since = *self.probes_tstamp.get_or_insert(now);
        let expired = config
            .user_timeout
            .is_some_and(|limit| now.saturating_since(since) >= limit);
        expired || self.probes_out >= config.retries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    /// Linux `tcp_probe_timer`: probes end after the retries, or with the time-out of the application.
    #[test]
    fn probes_end_after_the_retries_or_the_user_timeout() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut config = TcpConfig {
            retries: 3,
            ..TcpConfig::default()
        };
        let mut probes = WindowProbes::default();
        for seconds in 1..=3 {
            assert!(!probes.timed_out(at(seconds), &config));
            probes.probes_out += 1;
        }
        assert!(probes.timed_out(at(4), &config));
        config.user_timeout = Some(Duration::from_secs(5));
        let mut probes = WindowProbes::default();
        assert!(!probes.timed_out(at(10), &config));
        assert!(!probes.timed_out(at(14), &config));
        assert!(probes.timed_out(at(15), &config));
    }
}
