//! Bandwidths and gains of BBR, in the fixed-point format of Linux so that rounding is the same.

use units::{Bytes, Duration, Rate};

use crate::Window;

/// Fraction bits of a bandwidth in segments per microsecond.
const BANDWIDTH_BITS: u32 = 24;
/// Fraction bits of a gain.
const GAIN_BITS: u32 = 8;
/// Margin by which the pacing rate stays below the estimate, in percent.
const PACING_MARGIN: u128 = 1;
/// Microseconds per second, less the margin.
const PACED_MICROS_PER_SECOND: u128 = 1_000_000 / 100 * (100 - PACING_MARGIN);
/// Upper bound of a product in segments, with room for the bursts and gains that callers add.
const MAX_PRODUCT: u128 = u32::MAX as u128 / 4;

/// Gain in units of 1/256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Gain(pub(super) u32);

impl Gain {
    pub(super) const ONE: Self = Self(1 << GAIN_BITS);

    /// Converts `ratio`, truncated like the kernel's constants.
    pub(super) fn of(ratio: f64) -> Self {
        Self((ratio * f64::from(1 << GAIN_BITS)) as u32)
    }

    /// Multiplies `segments` by the gain, truncated.
    pub(super) fn of_segments(self, segments: u32) -> u32 {
        let scaled = (u64::from(segments) * u64::from(self.0)) >> GAIN_BITS;
        u32::try_from(scaled).unwrap_or(u32::MAX)
    }
}

/// Bandwidth in segments per microsecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    /// Returns the bandwidth of `segments` in `time`; `None` if `time` is shorter than a microsecond.
    pub(super) fn of(segments: u64, time: Duration) -> Option<Self> {
        (segments << BANDWIDTH_BITS)
            .checked_div(time.as_micros())
            .map(Self)
    }

    /// Returns the number of whole segments delivered in `time`.
    pub(super) fn segments_in(self, time: Duration) -> u64 {
        ((u128::from(self.0) * u128::from(time.as_micros())) >> BANDWIDTH_BITS) as u64
    }

    /// Multiplies by `gain`.
    pub(super) fn scaled(self, gain: Gain) -> Self {
        let scaled = (u128::from(self.0) * u128::from(gain.0)) >> GAIN_BITS;
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// Converts a payload `rate` for segments of `mss` bytes.
    pub(super) fn from_rate(rate: Rate, mss: u32) -> Self {
        let bytes = u128::from(rate.bits_per_second() / 8) << BANDWIDTH_BITS;
        let bandwidth = bytes / (u128::from(mss.max(1)) * 1_000_000);
        Self(u64::try_from(bandwidth).unwrap_or(u64::MAX))
    }

    /// Returns the bandwidth-delay product for this RTT in segments, times `gain`, rounded up.
    pub(super) fn product(self, rtt: Duration, gain: Gain) -> u32 {
        let product = u128::from(self.0) * u128::from(rtt.as_micros());
        let scaled = (product * u128::from(gain.0)) >> GAIN_BITS;
        scaled.div_ceil(1 << BANDWIDTH_BITS).min(MAX_PRODUCT) as u32
    }

    /// Converts to a payload rate for segments of `mss` bytes.
    pub(super) fn rate(self, mss: u32) -> Rate {
        let bytes = (u128::from(self.0) * u128::from(mss) * 1_000_000) >> BANDWIDTH_BITS;
        Rate::from_bits_per_second(u64::try_from(bytes * 8).unwrap_or(u64::MAX))
    }

    /// Multiplies by `gain`, subtracts the margin that lets queues drain, and converts to a payload rate.
    pub(super) fn pacing_rate(self, mss: u32, gain: Gain) -> Rate {
        let rate = (u128::from(self.0) * u128::from(mss) * u128::from(gain.0)) >> GAIN_BITS;
        let bytes = (rate * PACED_MICROS_PER_SECOND) >> BANDWIDTH_BITS;
        Rate::from_bits_per_second(u64::try_from(bytes * 8).unwrap_or(u64::MAX))
    }

    /// Returns whether the two payload rates differ by at most `max_difference` per second, for segments of `mss`
    /// bytes.
    pub(super) fn is_close(self, other: Self, max_difference: Bytes, mss: u32) -> bool {
        let difference = Self(self.0.abs_diff(other.0));
        difference.pacing_rate(mss, Gain::ONE).bits_per_second() / 8 <= max_difference.get()
    }
}

/// Pacing by the bandwidth.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pacing {
    /// Gain before the first sample of the bandwidth.
    initial_gain: Gain,
    /// Whether there has been an RTT (Linux `has_seen_rtt`).
    pub(super) has_seen_rtt: bool,
}

impl Pacing {
    pub(super) fn new(initial_gain: Gain) -> Self {
        Self {
            initial_gain,
            has_seen_rtt: false,
        }
    }

    /// Sets the rate before the first sample: the window over the first RTT, or over 1 ms.
    pub(super) fn init(&mut self, window: &mut Window) {
        self.has_seen_rtt |= !window.srtt.is_zero();
        let rtt = match window.srtt {
            Duration::ZERO => Duration::from_millis(1),
            srtt => srtt.max(Duration::from_micros(1)),
        };
        if let Some(nominal) = Bandwidth::of(u64::from(window.cwnd), rtt) {
            let rate = nominal.pacing_rate(window.mss, self.initial_gain);
            window.pacing_rate = rate.min(window.max_pacing_rate);
        }
    }

    /// Sets the rate to `bandwidth` times `gain`. Until the path `is_full`, the rate never falls.
    pub(super) fn update(
        &mut self,
        window: &mut Window,
        bandwidth: Bandwidth,
        gain: Gain,
        is_full: bool,
    ) {
        let rate = bandwidth.pacing_rate(window.mss, gain);
        if !self.has_seen_rtt && !window.srtt.is_zero() {
            self.init(window);
        }
        if is_full || rate > window.pacing_rate {
            window.pacing_rate = rate.min(window.max_pacing_rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bandwidth, Gain};
    use units::Duration;

    /// 20 Mbit/s in segments of 1448 bytes over 68 ms are 117.4 segments.
    #[test]
    fn a_bandwidth_times_an_rtt_is_rounded_up() {
        let bandwidth = Bandwidth::of(1_726_519, Duration::from_secs(1_000)).unwrap();
        let rtt = Duration::from_millis(68);
        assert_eq!(bandwidth.product(rtt, Gain::ONE), 118);
        assert_eq!(bandwidth.product(rtt, Gain::of(1.25)), 147);
        assert_eq!(bandwidth.segments_in(rtt), 117);
        assert!((bandwidth.rate(1448).as_mbps() - 20.0).abs() < 0.001);
        let paced = bandwidth.pacing_rate(1448, Gain::ONE).as_mbps();
        assert!((paced - 19.8).abs() < 0.001, "{paced}");
    }

    #[test]
    fn converting_to_a_rate_and_back_keeps_the_bandwidth() {
        let bandwidth = Bandwidth::of(117, Duration::from_millis(68)).unwrap();
        let again = Bandwidth::from_rate(bandwidth.rate(1448), 1448);
        assert!(
            bandwidth.0.abs_diff(again.0) <= 1,
            "{bandwidth:?} {again:?}"
        );
    }

    /// The kernel's constants are 256 * 2885 / 1000 + 1 and 256 * 1000 / 2885.
    #[test]
    fn gains_are_truncated_to_256ths() {
        assert_eq!(Gain::of(739.0 / 256.0), Gain(739));
        assert_eq!(Gain::of(1000.0 / 2885.0), Gain(88));
    }

    #[test]
    fn there_is_no_bandwidth_below_a_microsecond() {
        assert_eq!(Bandwidth::of(10, Duration::from_nanos(999)), None);
    }
}
