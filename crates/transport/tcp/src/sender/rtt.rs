//! Round-trip times: the smoothed RTT and the retransmission time-out (RFC 6298) with the variance of Linux,
//! and the lowest RTT of the last five minutes.

use units::{Duration, Instant};

use crate::timer_wheel;

/// Time for which a lowest RTT counts (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// Retransmission time-out of a connection whose handshake has given no RTT (`TCP_TIMEOUT_FALLBACK`).
const FALLBACK: Duration = Duration::from_secs(3);

/// Minimum time that is no RTT, milliseconds: in microseconds it has no room in a signed number of 32 bits.
const MAX_ECHO: u32 = i32::MAX as u32 / 1_000;

/// Returns the time from `earlier` to `later` in whole microseconds, like Linux's stamps of segments.
pub(super) fn micros_between(earlier: Instant, later: Instant) -> Duration {
    let micros = |at: Instant| at.since_start().as_micros();
    Duration::from_micros(micros(later).saturating_sub(micros(earlier)))
}

/// Returns the RTT of a segment whose timestamp is echoed, at least a millisecond; `None` if it is so long that the echo
/// cannot be one (the kernel's `tcp_rtt_tsopt_us`).
pub(crate) fn rtt_of_echo(now: Instant, echo: u32) -> Option<Duration> {
    let elapsed = (now.since_start().as_millis() as u32).wrapping_sub(echo);
    (elapsed < MAX_ECHO).then(|| Duration::from_millis(u64::from(elapsed.max(1))))
}

/// Returns the time of a segment whose timestamp is echoed, milliseconds: the nearest one to now with these bits. The clock
/// on the wire wraps every 50 days.
pub(super) fn echoed_ms(now: Instant, echo: u32) -> Option<u64> {
    let now_ms = now.since_start().as_millis();
    let elapsed = (now_ms as u32).wrapping_sub(echo) as i32;
    now_ms.checked_sub_signed(i64::from(elapsed))
}

/// Estimates from RTT samples.
///
/// The variance term is the largest mean deviation of the current and of earlier round trips, whose
/// deviations decay. It is never below `min_rto`, so that RTO = SRTT + max(`min_rto`, 4·RTTVAR).
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// Lower bound of the variance term.
    pub(super) min_rto: Duration,
    max_rto: Duration,
    /// Smoothed RTT; zero before the first sample.
    pub(super) srtt: Duration,
    /// Four times the mean deviation.
    deviation: Duration,
    /// Largest deviation of this round trip.
    round_deviation: Duration,
    variance: Duration,
    round_end: u64,
    /// Retransmission time-out without back-off.
    pub(super) rto: Duration,
    /// Lowest RTT of the window; [`Duration::MAX`] before the first sample.
    pub(super) min_rtt: Duration,
    min_rtt_at: Instant,
}

impl RttEstimator {
    pub(crate) fn new(initial_rto: Duration, min_rto: Duration, max_rto: Duration) -> Self {
        Self {
            min_rto,
            max_rto,
            srtt: Duration::ZERO,
            deviation: Duration::ZERO,
            round_deviation: min_rto,
            variance: Duration::ZERO,
            round_end: 0,
            rto: initial_rto,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
        }
    }

    /// Returns the mean deviation.
    pub(crate) fn variation(&self) -> Duration {
        self.deviation / 4
    }

    /// Adds an RTT sample; a round trip ends when `snd_una` passes what was sent at its start.
    pub(crate) fn sample(&mut self, rtt: Duration, snd_una: u64, snd_nxt: u64) {
        let rtt = rtt.as_nanos().max(1) as i64;
        if self.srtt.is_zero() {
            self.srtt = Duration::from_nanos(rtt as u64);
            self.deviation = self.srtt * 2;
            self.variance = self.deviation.max(self.min_rto);
            self.round_deviation = self.variance;
            self.round_end = snd_nxt;
        } else {
            let srtt = self.srtt.as_nanos() as i64;
            let error = rtt - srtt;
            self.srtt = Duration::from_nanos((srtt + error / 8).max(1) as u64);
            let deviation = self.deviation.as_nanos() as i64;
            let mut surplus = error.abs() - deviation / 4;
            if error < 0 && surplus > 0 {
                // A falling RTT should not inflate the deviation like a rising one.
                surplus /= 8;
            }
            self.deviation = Duration::from_nanos((deviation + surplus).max(0) as u64);
            self.round_deviation = self.round_deviation.max(self.deviation);
            self.variance = self.variance.max(self.round_deviation);
            if snd_una > self.round_end {
                if self.round_deviation < self.variance {
                    self.variance = self
                        .variance
                        .saturating_sub((self.variance - self.round_deviation) / 4);
                }
                self.round_end = snd_nxt;
                self.round_deviation = self.min_rto;
            }
        }
        self.rto = timer_wheel::ceil_to_tick(self.srtt + self.variance).min(self.max_rto);
    }

    /// Raises the time-out of the handshake, which has expired without an RTT, to three seconds (RFC 6298 §5.7).
    pub(crate) fn fall_back(&mut self) {
        self.rto = self.rto.max(FALLBACK);
        self.deviation = FALLBACK;
        self.variance = FALLBACK;
        self.round_deviation = FALLBACK;
    }

    /// Adds a sample of the lowest RTT.
    pub(crate) fn sample_min_rtt(&mut self, rtt: Duration, now: Instant) {
        if rtt <= self.min_rtt || now.saturating_since(self.min_rtt_at) > MIN_RTT_WINDOW {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        let (initial, min) = (Duration::from_secs(1), Duration::from_millis(200));
        RttEstimator::new(initial, min, Duration::from_secs(120))
    }

    /// RFC 6298 §2.1: the RTO is one second before the first sample.
    #[test]
    fn the_rto_is_one_second_before_the_first_sample() {
        assert_eq!(estimator().rto, Duration::from_secs(1));
    }

    /// RFC 6298 §2.2 with the variance floor of Linux: SRTT = R, RTTVAR = R/2, K = 4.
    #[test]
    fn the_first_sample_sets_srtt_and_twice_the_rtt_as_variance() {
        let mut rtt = estimator();
        rtt.sample(Duration::from_millis(300), 1, 2);
        assert_eq!(rtt.srtt, Duration::from_millis(300));
        assert_eq!(rtt.rto, Duration::from_millis(900));
        let mut short = estimator();
        short.sample(Duration::from_millis(20), 1, 2);
        assert_eq!(short.rto, Duration::from_millis(220));
    }

    #[test]
    fn a_steady_rtt_brings_the_rto_down_to_srtt_plus_the_floor() {
        let mut rtt = estimator();
        for round in 0..100 {
            rtt.sample(Duration::from_millis(300), 10 * round + 1, 10 * round + 10);
        }
        assert!(rtt.rto < Duration::from_millis(505), "{}", rtt.rto);
        assert!(rtt.rto >= Duration::from_millis(500), "{}", rtt.rto);
    }

    /// Linux `tcp_rtt_estimator`: the mean follows by an eighth of the error, the deviation by a quarter, or by a 32nd
    /// where a falling RTT raises it. The variance follows a rise at once, and falls by a quarter of the distance per round trip.
    #[test]
    fn deviation_and_variance_follow_the_samples() {
        let mut rtt = estimator();
        let mut after = |ms: u64, una: u64, next: u64| {
            rtt.sample(Duration::from_millis(ms), una, next);
            let micros = [rtt.srtt, rtt.variation()].map(Duration::as_micros);
            (micros, rtt.rto.as_millis())
        };
        assert_eq!(after(100, 1, 10), ([100_000, 50_000], 300));
        assert_eq!(after(180, 2, 11), ([110_000, 57_500], 340));
        assert_eq!(after(110, 3, 12), ([110_000, 43_125], 340));
        assert_eq!(after(10, 4, 13), ([97_500, 44_902], 328), "it falls");
        assert_eq!(after(97, 11, 20), ([97_437, 33_801], 328), "a round ends");
        assert_eq!(after(97, 21, 30), ([97_382, 25_460], 320), "another one");
    }

    #[test]
    fn the_lowest_rtt_is_forgotten_after_five_minutes() {
        let mut rtt = estimator();
        rtt.sample_min_rtt(Duration::from_millis(10), Instant::ZERO);
        rtt.sample_min_rtt(
            Duration::from_millis(20),
            Instant::ZERO + Duration::from_secs(299),
        );
        assert_eq!(rtt.min_rtt, Duration::from_millis(10));
        rtt.sample_min_rtt(
            Duration::from_millis(20),
            Instant::ZERO + Duration::from_secs(301),
        );
        assert_eq!(rtt.min_rtt, Duration::from_millis(20));
    }
}
