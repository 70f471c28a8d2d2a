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

    /// Returns the time to send `size`, rounded up, so that a link is never faster than its rate; [`Duration::MAX`]
    /// at a rate of zero.
    pub fn time_to_send(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let bits = size.get() * 8;
        // The product stays in 64 bits for packets: the wide division costs ten times as much.
        let nanoseconds = match bits.checked_mul(1_000_000_000) {
            Some(product) => product.div_ceil(self.0),
            None => (u128::from(bits) * NANOS_PER_SECOND).div_ceil(u128::from(self.0)) as u64,
        };
        Duration::from_nanos(nanoseconds)
    }

    /// Returns the bytes that pass in `time`, rounded down.
    pub fn bytes_in(self, time: Duration) -> Bytes {
        let bits = u128::from(self.0) * u128::from(time.as_nanos()) / NANOS_PER_SECOND;
        Bytes::new((bits / 8) as u64)
    }

    /// Returns the rate at which `size` passes in `time`; zero if `time` is zero.
    pub fn of(size: Bytes, time: Duration) -> Self {
        if time.is_zero() {
            return Self::ZERO;
        }
        let bits = u128::from(size.get()) * 8 * NANOS_PER_SECOND / u128::from(time.as_nanos());
        Self(bits.min(u128::from(u64::MAX)) as u64)
    }
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
