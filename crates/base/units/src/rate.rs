//! Data rates.

use core::fmt;

use crate::{Bytes, Duration};

/// Data rate in bits per second, counted at the IP layer unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(transparent)]
pub struct Rate(u64);

const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl Rate {
    /// Rate of a link that carries nothing.
    pub const ZERO: Self = Self(0);

    /// Returns a rate of `bits` per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the rate of `mbps` Mbit/s, to the nearest bit per second; negative and NaN become zero.
    pub fn from_mbps(mbps: f64) -> Self {
        Self(libm::round(mbps * 1e6) as u64)
    }

    /// Returns the bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Returns the megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns the time to send `size`, rounded up, so that a link is never faster than its rate. It saturates at
    /// [`Duration::MAX`], which is also the time at a rate of zero.
    pub fn time_to_send(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // The product stays in 64 bits for packets: the wide division costs ten times as much.
        let nanoseconds = match size.get().checked_mul(8 * 1_000_000_000) {
            Some(product) => product.div_ceil(self.0),
            None => {
                let product = u128::from(size.get()) * 8 * NANOS_PER_SECOND;
                saturated(product.div_ceil(u128::from(self.0)))
            }
        };
        Duration::from_nanos(nanoseconds)
    }

    /// Returns the bytes that a link sends in `time`, rounded down. It saturates.
    pub fn bytes_in(self, time: Duration) -> Bytes {
        let bits = u128::from(self.0) * u128::from(time.as_nanos()) / NANOS_PER_SECOND;
        Bytes::new(saturated(bits / 8))
    }

    /// Returns the rate at which a link sends `size` in `time`; zero if `time` is zero. It saturates.
    pub fn of(size: Bytes, time: Duration) -> Self {
        if time.is_zero() {
            return Self::ZERO;
        }
        let bits = u128::from(size.get()) * 8 * NANOS_PER_SECOND / u128::from(time.as_nanos());
        Self(saturated(bits))
    }
}

fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl fmt::Display for Rate {
    /// Writes the rate in the largest of `Gbit/s`, `Mbit/s`, `kbit/s`, `bit/s` that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n != 0 && n % 1_000_000_000 == 0 => write!(f, "{}Gbit/s", n / 1_000_000_000),
            n if n != 0 && n % 1_000_000 == 0 => write!(f, "{}Mbit/s", n / 1_000_000),
            n if n != 0 && n % 1_000 == 0 => write!(f, "{}kbit/s", n / 1_000),
            n => write!(f, "{n}bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_takes_at_least_as_long_as_the_rate_allows() {
        let rate = Rate::from_bits_per_second(3);
        assert_eq!(rate.time_to_send(Bytes::new(1)).as_nanos(), 2_666_666_667);
        assert_eq!(Rate::ZERO.time_to_send(Bytes::new(1)), Duration::MAX);
        assert_eq!(rate.time_to_send(Bytes::new(u64::MAX)), Duration::MAX);
        assert_eq!(
            Rate::from_bits_per_second(u64::MAX).bytes_in(Duration::MAX),
            Bytes::new(u64::MAX)
        );
    }

    #[test]
    fn what_passes_in_a_time_has_that_rate() {
        let rate = Rate::from_mbps(20.0);
        let slot = Duration::from_millis(100);
        assert_eq!(rate.bytes_in(slot), Bytes::new(250_000));
        assert_eq!(Rate::of(Bytes::new(250_000), slot), rate);
        assert_eq!(rate.to_string(), "20Mbit/s");
    }
}
