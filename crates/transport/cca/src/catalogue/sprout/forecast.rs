//! Cautious forecast of the deliveries (NSDI 2013 §3).

use super::bayes_filter::RateDistribution;
use super::config::SproutConfig;

/// Bisections of the interval that contains the quantile: to 1/65536 of the largest value of the grid.
const HALVINGS: u32 = 16;

/// Returns the segments that are delivered within `seconds` with the probability `confidence` of the parameters.
///
/// For a known rate, the deliveries of a Poisson process whose rate drifts as Brownian motion have the mean
/// rate times time. Their variance is the mean, for the process, plus σ²t³/3, for the drift. Each such
/// distribution is assumed to be normal; their mixture is weighted by the probabilities of the rates.
pub(super) fn forecast_deliveries(
    distribution: &RateDistribution,
    config: &SproutConfig,
    seconds: f64,
) -> f64 {
    let sigma = config.sigma * distribution.scale();
    let drift = sigma * sigma * seconds * seconds * seconds / 3.0;
    let cdf = |count: f64| -> f64 {
        let terms = distribution.rates().map(|(rate, probability)| {
            let mean = rate * seconds;
            let deviation = (mean + drift).sqrt();
            let z = (mean - count) / (deviation * core::f64::consts::SQRT_2);
            probability * 0.5 * libm::erfc(z)
        });
        terms.sum()
    };
    let risk = 1.0 - config.confidence;
    let (mut low, mut high) = (0.0, distribution.max_rate() * seconds);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if cdf(middle) > risk {
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

    fn certain(rate: f64) -> (RateDistribution, SproutConfig) {
        let config = SproutConfig {
            max_rate: 2000.0,
            sigma: 1.0,
            bins: 1024,
            ..SproutConfig::default()
        };
        let mut distribution = RateDistribution::new(&config);
        distribution.set_normal(rate, 0.0);
        (distribution, config)
    }

    /// At a known rate of 1000 segments per second, a Poisson process of mean 100 delivers at least 84 in 100
    /// ms with 95 % (its 5 % quantile).
    #[test]
    fn the_forecast_of_a_known_rate_is_the_poisson_quantile() {
        let (distribution, config) = certain(1000.0);
        let forecast = forecast_deliveries(&distribution, &config, 0.1);
        assert!((forecast - 83.5).abs() < 1.0, "{forecast}");
    }

    /// A drift of 200 segments/s/√s over 100 ms adds a variance of 200² · 0.1³ / 3 = 13.3.
    #[test]
    fn drift_lowers_the_forecast() {
        let (distribution, config) = certain(1000.0);
        let drifting = SproutConfig {
            sigma: 200.0,
            ..config
        };
        let forecast = forecast_deliveries(&distribution, &drifting, 0.1);
        let expected = 100.0 - 1.645 * 113.3_f64.sqrt();
        assert!((forecast - expected).abs() < 1.0, "{forecast}");
    }

    /// At a confidence of one half the forecast is the expectation.
    #[test]
    fn a_confidence_of_one_half_forecasts_the_mean() {
        let (distribution, config) = certain(1000.0);
        let even = SproutConfig {
            confidence: 0.5,
            ..config
        };
        let forecast = forecast_deliveries(&distribution, &even, 0.1);
        assert!((forecast - 100.0).abs() < 0.5, "{forecast}");
    }

    /// During an outage the forecast is zero.
    #[test]
    fn the_forecast_in_an_outage_is_zero() {
        let mut distribution = RateDistribution::new(&SproutConfig::default());
        for _ in 0..20 {
            distribution.predict();
            distribution.observe(0, 0.02);
        }
        let forecast = forecast_deliveries(&distribution, &SproutConfig::default(), 0.1);
        assert!(forecast < 0.1, "{forecast}");
    }
}
