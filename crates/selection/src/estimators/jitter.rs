//! Jitter: deviation of the RTT of single packets that no queue explains.
//!
//! A queue changes the smoothed RTT steadily over some samples. Jitter changes it from sample to sample. The second
//! difference of three samples leaves steady changes out.

use units::Duration;

/// Number of samples over which the deviation is smoothed: three seconds.
const SMOOTHING_SAMPLES: f64 = 300.0;
/// Mean absolute second difference of the smoothed RTT over the standard deviation of independent RTTs. The smoothed RTT
/// (weight 1/8) has sqrt(1/15) of their deviation, and its second difference sqrt(6) of that. The mean absolute value of
/// a normal variable is sqrt(2/pi) of its deviation.
const SECOND_DIFFERENCE_PER_SD: f64 = 0.505;

/// Estimator of the jitter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JitterEstimator {
    /// Smoothed RTTs of the last two samples, the latest first, s.
    srtts: [Option<f64>; 2],
    /// Mean absolute second difference, s.
    second_difference: f64,
    /// Number of second differences in the mean, up to [`SMOOTHING_SAMPLES`].
    samples: f64,
}

impl JitterEstimator {
    /// Adds the smoothed RTT of the next sample.
    pub(super) fn observe(&mut self, srtt: Duration) {
        let srtt = srtt.as_secs_f64();
        let [last, first] = self.srtts;
        if let (Some(last), Some(first)) = (last, first) {
            self.samples = (self.samples + 1.0).min(SMOOTHING_SAMPLES);
            let difference = (srtt - 2.0 * last + first).abs();
            self.second_difference += (difference - self.second_difference) / self.samples;
        }
        self.srtts = [Some(srtt), last];
    }

    /// Returns the deviation of the RTT of single packets.
    pub(super) fn jitter(&self) -> Duration {
        Duration::from_secs_f64(self.second_difference / SECOND_DIFFERENCE_PER_SD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jitter(ms: impl Fn(u32) -> f64) -> f64 {
        let mut estimator = JitterEstimator::default();
        (0..500).for_each(|n| estimator.observe(Duration::from_secs_f64(ms(n) / 1e3)));
        estimator.jitter().as_secs_f64() * 1e3
    }

    #[test]
    fn a_queue_that_grows_or_drains_is_no_jitter() {
        assert!(jitter(|n| 50.0 + f64::from(n)) < 1e-6);
        assert!(
            jitter(|n| 50.0 + f64::from(n % 100)) < 4.0,
            "a sawtooth has corners"
        );
    }

    #[test]
    fn an_rtt_that_jumps_has_jitter() {
        let jumps = |n: u32| 50.0 + 2.0 * f64::from(n % 2);
        assert!((jitter(jumps) - 4.0 / SECOND_DIFFERENCE_PER_SD).abs() < 0.1);
    }
}
