//! How much will be delivered, with caution (NSDI 2013 §3).

use super::belief::Belief;
use super::config::SproutConfig;

/// Halvings of the interval in which the quantile is: to a part in 65536 of what the grid allows.
const HALVINGS: u32 = 16;

/// What is delivered within `seconds` with at least the probability of the parameters, segments.
///
/// From a rate now, what a Poisson process delivers whose rate drifts as Brownian motion has that rate times
/// the time as its mean; its variance is the mean, for the process, and σ²t³/3, for the drift. Each is taken
/// to be normal, and the belief mixes them.
pub(super) fn cautious(belief: &Belief, config: &SproutConfig, seconds: f64) -> f64 {
    let sigma = config.sigma * belief.scale();
    let drift = sigma * sigma * seconds * seconds * seconds / 3.0;
    let below = |count: f64| -> f64 {
        let shares = belief.rates().map(|(rate, mass)| {
            let mean = rate * seconds;
            let deviation = (mean + drift).sqrt();
            mass * 0.5 * libm::erfc((mean - count) / (deviation * core::f64::consts::SQRT_2))
        });
        shares.sum()
    };
    let risk = 1.0 - config.confidence;
    let (mut low, mut high) = (0.0, belief.top() * seconds);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if below(middle) > risk {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(rate: f64) -> (Belief, SproutConfig) {
        let config = SproutConfig {
            max_rate: 2000.0,
            sigma: 1.0,
            bins: 1024,
            ..SproutConfig::default()
        };
        let mut belief = Belief::new(&config);
        belief.expect(rate, 0.0);
        (belief, config)
    }

    /// 1000 segments per second, known: in 100 ms a Poisson process of mean 100 delivers at least 84 with
    /// 95 % (its 5 % quantile).
    #[test]
    fn of_a_known_rate_it_is_the_quantile_of_the_poisson_process() {
        let (belief, config) = certain(1000.0);
        let forecast = cautious(&belief, &config, 0.1);
        assert!((forecast - 83.5).abs() < 1.0, "{forecast}");
    }

    /// A drift of 200 segments/s/√s over 100 ms adds a variance of 200² · 0.1³ / 3 = 13.3.
    #[test]
    fn drift_makes_it_more_cautious() {
        let (belief, config) = certain(1000.0);
        let drifting = SproutConfig {
            sigma: 200.0,
            ..config
        };
        let forecast = cautious(&belief, &drifting, 0.1);
        let expected = 100.0 - 1.645 * 113.3_f64.sqrt();
        assert!((forecast - expected).abs() < 1.0, "{forecast}");
    }

    /// At a confidence of one half it is the expectation.
    #[test]
    fn without_caution_it_is_the_mean() {
        let (belief, config) = certain(1000.0);
        let even = SproutConfig {
            confidence: 0.5,
            ..config
        };
        let forecast = cautious(&belief, &even, 0.1);
        assert!((forecast - 100.0).abs() < 0.5, "{forecast}");
    }

    /// Nothing is expected of a path that is out.
    #[test]
    fn an_outage_delivers_nothing() {
        let mut belief = Belief::new(&SproutConfig::default());
        for _ in 0..20 {
            belief.evolve();
            belief.observe(0, 0.02);
        }
        let forecast = cautious(&belief, &SproutConfig::default(), 0.1);
        assert!(forecast < 0.1, "{forecast}");
    }
}
