//! Policer: a token bucket that drops packets above a rate, without a queue (RFC 2475 §2.3.3.3).

use config::{FieldError, check_positive, table};
use units::{Bytes, Duration, Instant, Rate};

table! {
    /// Token bucket that drops what exceeds a rate, at the entrance of a link.
    pub struct Policer {
        /// Rate at which packets pass; compulsory.
        pub rate: Rate,
        /// Bytes that pass at once after a pause; default 64kB.
        pub burst: Bytes = Bytes::new(64_000),
    }
}

impl Policer {
    /// Checks that packets can pass.
    pub fn check(&self, mtu: Bytes) -> Result<(), FieldError> {
        check_positive("rate", self.rate)?;
        config::check_range("burst", self.burst, mtu, Bytes::new(1 << 40))
    }
}

/// Token bucket, as the time at which it is full again.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) rate: Rate,
    depth: Duration,
    full_at: Instant,
}

impl Bucket {
    pub(crate) fn new(policer: &Policer) -> Self {
        Self {
            rate: policer.rate,
            depth: policer.rate.time_to_send(policer.burst),
            full_at: Instant::ZERO,
        }
    }

    /// Consumes the tokens for a packet of `size` bytes. Returns whether there were enough; if not, none are consumed.
    pub(crate) fn conforms(&mut self, now: Instant, size: u32) -> bool {
        let time = self.rate.time_to_send(Bytes::new(u64::from(size)));
        let full_at = self.full_at.max(now) + time;
        let conforms = full_at.saturating_since(now) <= self.depth;
        if conforms {
            self.full_at = full_at;
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket() -> Bucket {
        Bucket::new(&Policer {
            rate: Rate::from_bits_per_second(8_000_000),
            burst: Bytes::new(10_000),
        })
    }

    fn at(microseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(microseconds)
    }

    #[test]
    fn a_burst_passes_and_what_follows_has_the_rate() {
        let mut bucket = bucket();
        let passed = (0..20).filter(|_| bucket.conforms(at(0), 1_000)).count();
        assert_eq!(passed, 10);
        assert!(!bucket.conforms(at(999), 1_000));
        assert!(
            bucket.conforms(at(1_000), 1_000),
            "a millisecond brings 1000 bytes"
        );
        assert!(!bucket.conforms(at(1_000), 1_000));
        let passed = (0..100_000).filter(|&at_us| bucket.conforms(at(1_001 + at_us), 1_000));
        assert_eq!(passed.count(), 100);
    }

    #[test]
    fn a_pause_fills_the_bucket_up_to_its_size() {
        let mut bucket = bucket();
        while bucket.conforms(at(0), 500) {}
        let passed = (0..50)
            .filter(|_| bucket.conforms(at(5_000_000), 500))
            .count();
        assert_eq!(passed, 20);
    }

    #[test]
    fn a_packet_that_is_dropped_takes_no_tokens() {
        let mut bucket = bucket();
        assert!(bucket.conforms(at(0), 9_500));
        assert!(!bucket.conforms(at(0), 600));
        assert!(bucket.conforms(at(0), 500));
    }
}
