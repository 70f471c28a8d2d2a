//! Delay that varies from packet to packet.

use units::Duration;
use units::random::{Purpose, Stream};

use crate::{Jitter, JitterDistribution, LinkId};

/// Draws for one packet after the other, with the same number of draws for each.
pub(crate) struct Shaker {
    distribution: Option<JitterDistribution>,
    draws: Stream,
}

impl Shaker {
    pub(crate) fn new(jitter: Option<Jitter>, seed: u64, link: LinkId) -> Self {
        let distribution = jitter.map(|jitter| jitter.distribution);
        Self {
            distribution,
            draws: Stream::new(seed, Purpose::Jitter, link.0),
        }
    }

    /// The additional delay of the next packet.
    pub(crate) fn delay(&mut self) -> Duration {
        let Some(distribution) = self.distribution else {
            return Duration::ZERO;
        };
        match distribution {
            JitterDistribution::Uniform { max } => self.draws.duration_below(max),
            JitterDistribution::Normal { mean, deviation } => Duration::from_secs_f64(
                self.draws
                    .normal(mean.as_secs_f64(), deviation.as_secs_f64()),
            ),
            JitterDistribution::Exponential { mean } => {
                Duration::from_secs_f64(self.draws.exponential(mean.as_secs_f64()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_ms(distribution: JitterDistribution) -> f64 {
        let jitter = Some(Jitter {
            distribution,
            reorder: true,
        });
        let mut shaker = Shaker::new(jitter, 1, LinkId(0));
        let n = 50_000;
        (0..n).map(|_| shaker.delay().as_secs_f64()).sum::<f64>() / f64::from(n) * 1e3
    }

    #[test]
    fn delays_have_their_mean() {
        let ms = Duration::from_millis;
        let uniform = mean_ms(JitterDistribution::Uniform { max: ms(10) });
        assert!((uniform - 5.0).abs() < 0.1, "{uniform}");
        let normal = mean_ms(JitterDistribution::Normal {
            mean: ms(10),
            deviation: ms(2),
        });
        assert!((normal - 10.0).abs() < 0.1, "{normal}");
        // Half of it cut off at zero leaves 2 ms / √(2π).
        let half = mean_ms(JitterDistribution::Normal {
            mean: ms(0),
            deviation: ms(2),
        });
        assert!((half - 0.798).abs() < 0.02, "{half}");
        let exponential = mean_ms(JitterDistribution::Exponential { mean: ms(3) });
        assert!((exponential - 3.0).abs() < 0.06, "{exponential}");
    }
}
