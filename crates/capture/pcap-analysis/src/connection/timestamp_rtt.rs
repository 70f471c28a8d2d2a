//! Timestamp RTT: the time from a packet with a timestamp to the first packet that echoes it (RFC 7323 §3).
//!
//! It is the RTT between the capture and the side that echoes, even without ACKs for data.

use std::collections::VecDeque;

use super::rtt::Sample;
use crate::sequence::older;

/// Maximum number of timestamps that wait for their echo. Behind a long queue, every second one is forgotten.
const MAX_WAITING: usize = 1_024;

/// Timestamp that waits for its echo.
#[derive(Clone, Copy)]
struct Waiting {
    value: u32,
    /// Time at which it passed first, ns.
    passed_ns: u64,
    /// Bytes that the side that echoes had sent until then.
    bytes: u64,
}

/// Timestamps of one side, each with the time at which it passed first.
#[derive(Default)]
pub(super) struct TimestampRtt {
    waiting: VecDeque<Waiting>,
}

impl TimestampRtt {
    /// Processes a packet with the timestamp `value`; `bytes` have passed from the side that echoes.
    pub(super) fn on_timestamp(&mut self, value: u32, at_ns: u64, bytes: u64) {
        let last = self.waiting.back();
        if last.is_none_or(|last| older(last.value, value)) {
            if self.waiting.len() == MAX_WAITING {
                let mut is_kept = false;
                self.waiting.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
            }
            self.waiting.push_back(Waiting {
                value,
                passed_ns: at_ns,
                bytes,
            });
        }
    }

    /// Returns the RTT sample of the first echo of a timestamp. Its time is that of the echo, until which `bytes` have
    /// passed from the side that echoes.
    pub(super) fn on_echo(&mut self, value: u32, at_ns: u64, bytes: u64) -> Option<Sample> {
        while let Some(&first) = self.waiting.front() {
            if older(value, first.value) {
                return None;
            }
            self.waiting.pop_front();
            if first.value == value {
                return Some(Sample {
                    at_ns,
                    end: 0,
                    rtt_ns: at_ns.saturating_sub(first.passed_ns),
                    delivered: Some(bytes.saturating_sub(first.bytes)),
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of 7 s, which every fourth millisecond a packet with a new timestamp joins.
    #[test]
    fn echoes_behind_a_long_queue_have_their_delay() {
        let mut echo = TimestampRtt::default();
        let mut samples = 0;
        for at_ms in (0..20_000_u32).step_by(4) {
            echo.on_timestamp(at_ms, u64::from(at_ms), 0);
            let echoed = at_ms.checked_sub(7_000);
            if let Some(sample) = echoed.and_then(|value| echo.on_echo(value, u64::from(at_ms), 0))
            {
                assert_eq!(sample.rtt_ns, 7_000);
                samples += 1;
            }
        }
        assert!(samples > 200, "{samples}");
    }

    #[test]
    fn only_the_first_echo_of_a_timestamp_counts() {
        let mut echo = TimestampRtt::default();
        echo.on_timestamp(10, 1_000, 70);
        echo.on_timestamp(10, 2_000, 80);
        echo.on_timestamp(11, 3_000, 90);
        assert_eq!(echo.on_echo(9, 3_500, 95), None);
        let first = echo.on_echo(10, 4_000, 100).unwrap();
        assert_eq!((first.rtt_ns, first.delivered), (3_000, Some(30)));
        assert_eq!(echo.on_echo(10, 4_500, 110), None);
        let second = echo.on_echo(11, 5_000, 120).unwrap();
        assert_eq!((second.rtt_ns, second.delivered), (2_000, Some(30)));
    }
}
