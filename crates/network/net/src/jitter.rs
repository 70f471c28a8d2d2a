//! Jitter: delay that varies from packet to packet.

use config::{FieldError, invalid_value, table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;
use units::random::{Purpose, RngStream};

use crate::LinkId;

table! {
    /// Delay that varies from packet to packet, on top of the propagation delay.
    pub struct Jitter {
        /// Distribution of the draws; draws below zero become zero; default "normal".
        pub distribution: JitterDistribution = JitterDistribution::Normal,
        /// Mean of the additional delay; default 0s. `tc netem delay 300ms 15ms distribution normal` is a one-way delay of
        /// 240ms, and a jitter with the mean "60ms", the sd "15ms" and reorder.
        pub mean: Duration,
        /// Standard deviation; default 0s. Left at 0s for "exponential", where it equals the mean.
        pub sd: Duration,
        /// Whether packets may overtake each other; default false: a packet waits for those before it.
        pub reorder: bool,
    }
}

/// Distribution of jitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterDistribution {
    /// Between mean − √3·sd and mean + √3·sd.
    Uniform,
    /// Gaussian.
    Normal,
    /// Exponential with the mean.
    Exponential,
}

impl Jitter {
    /// Checks that the distribution takes the parameters.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.distribution == JitterDistribution::Exponential && !self.sd.is_zero() {
            return invalid_value(
                "sd",
                self.sd,
                "0s for \"exponential\", where it is the mean",
            );
        }
        Ok(())
    }

    /// Returns whether delays differ from packet to packet: the exponential distribution has its mean as its deviation.
    pub fn is_random(&self) -> bool {
        match self.distribution {
            JitterDistribution::Uniform | JitterDistribution::Normal => !self.sd.is_zero(),
            JitterDistribution::Exponential => !self.mean.is_zero(),
        }
    }

    /// Returns the minimum additional delay of a packet.
    pub(crate) fn min_delay(&self) -> Duration {
        match self.distribution {
            JitterDistribution::Uniform => self.mean.saturating_sub(self.half_width()),
            JitterDistribution::Normal | JitterDistribution::Exponential => Duration::ZERO,
        }
    }

    /// Returns half the width of a uniform distribution with this standard deviation.
    fn half_width(&self) -> Duration {
        Duration::from_secs_f64(self.sd.as_secs_f64() * libm::sqrt(3.0))
    }
}

/// Jitter process with a fixed number of draws per packet.
pub(crate) struct JitterModel {
    jitter: Option<Jitter>,
    draws: RngStream,
}

impl JitterModel {
    pub(crate) fn new(jitter: Option<Jitter>, seed: u64, link: LinkId) -> Self {
        let draws = RngStream::new(seed, Purpose::Jitter, link.0);
        Self { jitter, draws }
    }

    /// Returns the additional delay of the next packet; most links have none.
    #[inline]
    pub(crate) fn delay(&mut self) -> Duration {
        match &self.jitter {
            None => Duration::ZERO,
            Some(jitter) => Self::draw(jitter, &mut self.draws),
        }
    }

    fn draw(jitter: &Jitter, draws: &mut RngStream) -> Duration {
        let (mean, sd) = (jitter.mean.as_secs_f64(), jitter.sd.as_secs_f64());
        match jitter.distribution {
            JitterDistribution::Uniform => {
                let half = jitter.half_width();
                (jitter.mean + draws.duration_below(half * 2)).saturating_sub(half)
            }
            JitterDistribution::Normal => Duration::from_secs_f64(draws.normal(mean, sd)),
            JitterDistribution::Exponential => Duration::from_secs_f64(draws.exponential(mean)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_ms(distribution: JitterDistribution, mean_us: u64, sd_us: u64) -> f64 {
        let jitter = Some(Jitter {
            distribution,
            mean: Duration::from_micros(mean_us),
            sd: Duration::from_micros(sd_us),
            reorder: true,
        });
        let mut model = JitterModel::new(jitter, 1, LinkId(0));
        let n = 50_000;
        (0..n).map(|_| model.delay().as_secs_f64()).sum::<f64>() / f64::from(n) * 1e3
    }

    /// The maximum is mean + √3·sd, also where the minimum is cut off.
    #[test]
    fn uniform_delays_reach_their_bounds() {
        for (mean_us, sd_us, min_ms, max_ms) in
            [(5_000, 1_000, 3.268, 6.732), (3_000, 5_000, 0.0, 11.660)]
        {
            let jitter = Jitter {
                distribution: JitterDistribution::Uniform,
                mean: Duration::from_micros(mean_us),
                sd: Duration::from_micros(sd_us),
                reorder: false,
            };
            let min_delay = jitter.min_delay();
            let mut model = JitterModel::new(Some(jitter), 1, LinkId(0));
            let all: Vec<_> = (0..50_000).map(|_| model.delay()).collect();
            let ms = |delay: Option<&Duration>| delay.expect("many").as_secs_f64() * 1e3;
            assert!((ms(all.iter().min()) - min_ms).abs() < 0.01);
            assert!((ms(all.iter().max()) - max_ms).abs() < 0.01);
            assert!(all.iter().all(|delay| *delay >= min_delay));
        }
    }

    #[test]
    fn a_constant_delay_is_not_random() {
        let is_random = |distribution, mean_ms, sd_ms| {
            let jitter = Jitter {
                distribution,
                mean: Duration::from_millis(mean_ms),
                sd: Duration::from_millis(sd_ms),
                reorder: false,
            };
            jitter.is_random()
        };
        for distribution in [JitterDistribution::Uniform, JitterDistribution::Normal] {
            assert!(!is_random(distribution, 5, 0));
            assert!(is_random(distribution, 0, 5));
        }
        assert!(is_random(JitterDistribution::Exponential, 5, 0));
        assert!(!is_random(JitterDistribution::Exponential, 0, 0));
    }

    #[test]
    fn delays_have_their_mean() {
        // From zero to 10 ms: a standard deviation of 10 ms / √12.
        let uniform = mean_ms(JitterDistribution::Uniform, 5_000, 2_887);
        assert!((uniform - 5.0).abs() < 0.1, "{uniform}");
        // From −8.66 to 8.66 ms and from −5.66 to 11.66 ms, cut off at zero.
        let half = mean_ms(JitterDistribution::Uniform, 0, 5_000);
        assert!((half - 2.165).abs() < 0.05, "{half}");
        let max = mean_ms(JitterDistribution::Uniform, 3_000, 5_000);
        assert!((max - 3.925).abs() < 0.05, "{max}");
        let normal = mean_ms(JitterDistribution::Normal, 10_000, 2_000);
        assert!((normal - 10.0).abs() < 0.1, "{normal}");
        // Half of it cut off at zero leaves 2 ms / √(2π).
        let half = mean_ms(JitterDistribution::Normal, 0, 2_000);
        assert!((half - 0.798).abs() < 0.02, "{half}");
        let exponential = mean_ms(JitterDistribution::Exponential, 3_000, 0);
        assert!((exponential - 3.0).abs() < 0.06, "{exponential}");
    }
}
