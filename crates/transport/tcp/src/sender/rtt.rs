//! Round-trip times: the smoothed RTT and the retransmission time-out (RFC 6298) with the variance of Linux,
//! and the lowest RTT of the last five minutes.

use units::{Duration, Instant};

use crate::timer_wheel;

/// Time for which a lowest RTT is valid (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// Retransmission time-out of a connection whose handshake has given no RTT (`TCP_TIMEOUT_FALLBACK`).
const FALLBACK_RTO: Duration = Duration::from_secs(3);

/// Upper bound of an RTT from an echo, milliseconds: in microseconds it would overflow 32 bits with a sign.
const MAX_ECHO_RTT: u32 = i32::MAX as u32 / 1_000;

/// Returns the time from `earlier` to `later` in whole microseconds, like Linux's stamps of segments.
pub(super) fn micros_between(earlier: Instant, later: Instant) -> Duration {
    let micros = |at: Instant| at.since_start().as_micros();
    Duration::from_micros(micros(later).saturating_sub(micros(earlier)))
}

/// Returns the RTT of a segment whose timestamp `echo`, milliseconds, is echoed, at least a millisecond; `None` if it is
/// implausibly long (the kernel's `tcp_rtt_tsopt_us`).
pub(crate) fn rtt_of_echo(now: Instant, echo: u32) -> Option<Duration> {
    let elapsed = (now.since_start().as_millis() as u32).wrapping_sub(echo);
    (elapsed < MAX_ECHO_RTT).then(|| Duration::from_millis(u64::from(elapsed.max(1))))
}

/// Returns the time of a segment whose timestamp is echoed, milliseconds: the time nearest to now with these low bits.
/// Timestamps wrap every 50 days.
pub(super) fn echoed_ms(now: Instant, echo: u32) -> Option<u64> {
    let now_ms = now.since_start().as_millis();
    let elapsed = (now_ms as u32).wrapping_sub(echo) as i32;
    now_ms.checked_sub_signed(i64::from(elapsed))
}

/// Estimator of SRTT and RTO (the kernel's `tcp_rtt_estimator`).
///
/// RTO = SRTT + `rttvar`: the largest mean deviation of the current and, decaying, of earlier round trips, times four,
/// and at least `min_rto`.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// Lower bound of the variance term.
    pub(super) min_rto: Duration,
    max_rto: Duration,
    /// Smoothed RTT; zero before the first sample.
    pub(super) srtt: Duration,
    /// Four times the mean deviation (`mdev_us`).
    mdev: Duration,
    /// Largest `mdev` of this round trip (`mdev_max_us`).
    mdev_max: Duration,
    /// Variance term of the RTO (`rttvar_us`).
    rttvar: Duration,
    /// Number whose acknowledgement ends the round trip (`rtt_seq`).
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
            mdev: Duration::ZERO,
            mdev_max: min_rto,
            rttvar: Duration::ZERO,
            round_end: 0,
            rto: initial_rto,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
        }
    }

    /// Returns the mean deviation (`tcpi_rttvar`).
    pub(crate) fn variation(&self) -> Duration {
        self.mdev / 4
    }

    /// Adds an RTT sample; a round trip ends when `snd_una` passes what was sent at its start.
    pub(crate) fn sample(&mut self, rtt: Duration, snd_una: u64, snd_nxt: u64) {
        let rtt = rtt.as_nanos().max(1) as i64;
        if self.srtt.is_zero() {
            self.srtt = Duration::from_nanos(rtt as u64);
            self.mdev = self.srtt * 2;
            self.rttvar = self.mdev.max(self.min_rto);
            self.mdev_max = self.rttvar;
            self.round_end = snd_nxt;
        } else {
            let srtt = self.srtt.as_nanos() as i64;
            let error = rtt - srtt;
            self.srtt = Duration::from_nanos((srtt + error / 8).max(1) as u64);
            let mdev = self.mdev.as_nanos() as i64;
            let mut surplus = error.abs() - mdev / 4;
            if error < 0 && surplus > 0 {
                // A falling RTT inflates the deviation less than a rising one.
                surplus /= 8;
            }
            self.mdev = Duration::from_nanos((mdev + surplus).max(0) as u64);
            self.mdev_max = self.mdev_max.max(self.mdev);
            self.rttvar = self.rttvar.max(self.mdev_max);
            if snd_una > self.round_end {
                if self.mdev_max < self.rttvar {
                    self.rttvar = self
                        .rttvar
                        .saturating_sub((self.rttvar - self.mdev_max) / 4);
                }
                self.round_end = snd_nxt;
                self.mdev_max = self.min_rto;
            }
        }
        self.rto = timer_wheel::ceil_to_tick(self.srtt + self.rttvar).min(self.max_rto);
    }

    /// Raises the RTO to three seconds after a handshake that was repeated and gave no RTT (RFC 6298 §5.7).
    pub(crate) fn set_fallback_rto(&mut self) {
        self.rto = self.rto.max(FALLBACK_RTO);
        self.mdev = FALLBACK_RTO;
        self.rttvar = FALLBACK_RTO;
        self.mdev_max = FALLBACK_RTO;
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
