//! Instants and durations in integer nanoseconds of simulated time.
//!
//! Their arithmetic is the same in debug and in release builds. Sums and products saturate at [`Instant::NEVER`] and
//! [`Duration::MAX`], which stand for "no deadline": a delay after "never" is "never". A difference below zero panics, as
//! that of [`std::time::Duration`] does. [`Duration::saturating_sub`] and [`Instant::saturating_since`] return zero
//! instead.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

/// A length of simulated time, in nanoseconds. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Duration(u64);

/// A point in simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[repr(transparent)]
pub struct Instant(u64);

impl Duration {
    /// A duration of zero.
    pub const ZERO: Self = Self(0);
    /// The longest duration, longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A duration of `nanoseconds`.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// A duration of `microseconds`; saturates.
    pub const fn from_micros(microseconds: u64) -> Self {
        Self(microseconds.saturating_mul(1_000))
    }

    /// A duration of `milliseconds`; saturates.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds.saturating_mul(1_000_000))
    }

    /// A duration of `seconds`; saturates.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// The nearest nanosecond to `seconds`; negative and NaN become zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(libm::round(seconds * 1e9) as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds as a floating-point number.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, or zero where that would be negative.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * numerator / denominator` without overflow of the intermediate product; the result saturates.
    ///
    /// # Panics
    /// If `denominator` is zero.
    pub const fn scaled(self, numerator: u64, denominator: u64) -> Self {
        let scaled = self.0 as u128 * numerator as u128 / denominator as u128;
        if scaled > u64::MAX as u128 {
            return Self::MAX;
        }
        Self(scaled as u64)
    }
}

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The latest instant, later than any event. It stands for "no deadline".
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `nanoseconds` after the start.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Time since the start of the run.
    pub const fn since_start(self) -> Duration {
        Duration(self.0)
    }

    /// Time from `earlier` to this instant, or zero where `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The time from `rhs` to `self`.
    ///
    /// # Panics
    /// If `rhs` is later, in every build.
    #[inline]
    #[track_caller]
    fn sub(self, rhs: Self) -> Duration {
        match self.0.checked_sub(rhs.0) {
            Some(nanoseconds) => Duration(nanoseconds),
            None => below_zero(&self, &rhs),
        }
    }
}

impl Add for Duration {
    type Output = Self;
    /// Saturates at [`Duration::MAX`].
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for Duration {
    type Output = Self;
    /// # Panics
    /// If `rhs` is longer, in every build.
    #[inline]
    #[track_caller]
    fn sub(self, rhs: Self) -> Self {
        match self.0.checked_sub(rhs.0) {
            Some(nanoseconds) => Self(nanoseconds),
            None => below_zero(&self, &rhs),
        }
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    /// Saturates at [`Duration::MAX`].
    fn mul(self, rhs: u64) -> Self {
        Self(self.0.saturating_mul(rhs))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, rhs: u64) -> Self {
        Self(self.0 / rhs)
    }
}

/// Reports a difference of times that would be negative. It stays out of line, so that subtracting costs a comparison.
#[cold]
#[inline(never)]
#[track_caller]
fn below_zero(minuend: &dyn fmt::Debug, subtrahend: &dyn fmt::Debug) -> ! {
    panic!("a time below zero: {minuend:?} - {subtrahend:?}")
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Duration {
    /// The largest unit of `s`, `ms`, `us`, `ns` that divides the value, as scenario files write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0 => (0, "s"),
            n if n % 1_000_000_000 == 0 => (n / 1_000_000_000, "s"),
            n if n % 1_000_000 == 0 => (n / 1_000_000, "ms"),
            n if n % 1_000 == 0 => (n / 1_000, "us"),
            n => (n, "ns"),
        };
        write!(f, "{value}{unit}")
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}s",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

#[cfg(test)]
mod tests {
    use core::hint::black_box;

    use super::*;

    #[test]
    fn a_duration_is_printed_in_its_largest_exact_unit() {
        assert_eq!(Duration::from_millis(68).to_string(), "68ms");
        assert_eq!(Duration::from_millis(2_000).to_string(), "2s");
        assert_eq!(Duration::from_nanos(1_500).to_string(), "1500ns");
        assert_eq!(Duration::ZERO.to_string(), "0s");
    }

    #[test]
    fn sums_and_products_beyond_the_latest_time_are_the_latest_time() {
        let (never, max) = (Instant::NEVER, Duration::MAX);
        assert_eq!(never + Duration::from_secs(1), never);
        assert_eq!(max + Duration::from_secs(1), max);
        assert_eq!(max * 3, max);
        assert_eq!(max.scaled(3, 2), max);
        assert_eq!(Duration::from_secs(u64::MAX / 2), max);
        assert_eq!(Duration::from_millis(u64::MAX / 2), max);
        assert_eq!(Duration::from_micros(u64::MAX / 2), max);
    }

    #[test]
    #[should_panic(expected = "a time below zero: 1ns - 2ns")]
    fn a_duration_minus_a_longer_one_panics_in_every_build() {
        let _ = black_box(Duration::from_nanos(1)) - black_box(Duration::from_nanos(2));
    }

    #[test]
    #[should_panic(expected = "a time below zero: 1.000000000s - 2.000000000s")]
    fn an_instant_minus_a_later_one_panics_in_every_build() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let _ = black_box(at(1)) - black_box(at(2));
    }

    #[test]
    fn named_differences_stop_at_zero() {
        let (short, long) = (Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!(short.saturating_sub(long), Duration::ZERO);
        let (early, late) = (Instant::ZERO + short, Instant::ZERO + long);
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(late - early, short);
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond_and_are_never_negative() {
        assert_eq!(Duration::from_secs_f64(0.1), Duration::from_millis(100));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
    }
}
