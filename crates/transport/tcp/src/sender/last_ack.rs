//! Last ACK: its time, and the timestamp that it echoes.

use units::Instant;

use super::rtt::echoed_ms;

/// Last ACK that was processed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastAck {
    /// Our timestamp that it echoes (`rcv_tsecr`), milliseconds modulo 2^32.
    pub(super) rcv_tsecr: Option<u32>,
    /// Time of the last one that was not overtaken (`rcv_tstamp`).
    pub(super) rcv_tstamp: Instant,
}

impl LastAck {
    /// Returns whether it echoes a time before `ms` milliseconds (`tcp_tsopt_ecr_before`).
    pub(super) fn echoes_before(&self, now: Instant, ms: u64) -> bool {
        let echo = self.rcv_tsecr.and_then(|echo| echoed_ms(now, echo));
        echo.is_some_and(|echo| echo < ms)
    }
}
