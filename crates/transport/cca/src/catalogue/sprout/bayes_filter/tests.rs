//! Tests of the inference by itself.

use super::*;
use proptest::prelude::*;

fn sum(distribution: &RateDistribution) -> f64 {
    distribution.probabilities.iter().sum()
}

fn deviation(distribution: &RateDistribution) -> f64 {
    let mean = distribution.mean();
    let squares = distribution
        .rates()
        .map(|(rate, probability)| probability * (rate - mean) * (rate - mean));
    squares.sum::<f64>().sqrt()
}

/// NSDI 2013 §3: 200 segments/s/√s are 28 segments/s in 20 ms and 200 segments/s in a second.
#[test]
fn the_rate_drifts_by_two_hundred_segments_per_second_in_a_second() {
    let config = SproutConfig {
        max_rate: 2000.0,
        ..SproutConfig::default()
    };
    let mut distribution = RateDistribution::new(&config);
    distribution.set_normal(1000.0, 0.0);
    let before = deviation(&distribution);
    distribution.predict();
    let after = (deviation(&distribution).powi(2) - before * before).sqrt();
    assert!((after - 28.3).abs() < 1.0, "{after}");
    for _ in 0..49 {
        distribution.predict();
    }
    let after = deviation(&distribution);
    assert!((after - 200.0).abs() < 10.0, "{after}");
    assert!(
        (distribution.mean() - 1000.0).abs() < 5.0,
        "{}",
        distribution.mean()
    );
}

/// NSDI 2013 §3: ten segments per tick of 20 ms are 500 per second, which a few ticks suffice to find.
#[test]
fn the_rate_is_inferred_from_deliveries() {
    let mut distribution = RateDistribution::new(&SproutConfig::default());
    for _ in 0..20 {
        distribution.predict();
        distribution.observe(10, 0.02);
    }
    assert!(
        (distribution.mean() - 500.0).abs() < 20.0,
        "{}",
        distribution.mean()
    );
    assert!(
        deviation(&distribution) < 90.0,
        "{}",
        deviation(&distribution)
    );
}

/// NSDI 2013 §3: outages end at a rate of one per second, so a share of 1/e of the distribution remains after a
/// second.
#[test]
fn an_outage_lasts() {
    let mut distribution = RateDistribution::new(&SproutConfig::default());
    distribution.probabilities.fill(0.0);
    distribution.probabilities[0] = 1.0;
    distribution.outage_persistence = libm::exp(-0.02);
    for _ in 0..50 {
        distribution.predict();
    }
    assert!(
        distribution.probabilities[0] >= libm::exp(-1.0),
        "{}",
        distribution.probabilities[0]
    );
    assert!(
        distribution.probabilities[0] < 0.8,
        "{}",
        distribution.probabilities[0]
    );
    // A single delivery ends it.
    distribution.observe(1, 0.02);
    assert_eq!(distribution.probabilities[0], 0.0);
}

/// A path that was not kept busy may be faster than observed, but not slower.
#[test]
fn a_lower_bound_rules_out_only_slower_rates() {
    let mut distribution = RateDistribution::new(&SproutConfig::default());
    distribution.observe_at_least(10, 0.02);
    let at = |distribution: &RateDistribution, rate: f64| {
        distribution.probabilities[(rate / distribution.width()) as usize]
    };
    assert!(at(&distribution, 200.0) < at(&distribution, 900.0) / 50.0);
    assert!((at(&distribution, 800.0) / at(&distribution, 990.0) - 1.0).abs() < 0.2);
}

/// 5000 segments per second do not fit a grid up to 1000.
#[test]
fn the_grid_follows_the_path() {
    let mut distribution = RateDistribution::new(&SproutConfig::default());
    for _ in 0..50 {
        distribution.predict();
        distribution.resize_grid(5000.0);
        distribution.observe(100, 0.02);
    }
    assert!(
        (distribution.mean() / 5000.0 - 1.0).abs() < 0.05,
        "{}",
        distribution.mean()
    );
    assert_eq!(distribution.max_rate(), 16_000.0);
    for _ in 0..200 {
        distribution.predict();
        distribution.resize_grid(50.0);
        distribution.observe(1, 0.02);
    }
    assert_eq!(distribution.max_rate(), 1000.0);
    assert!(distribution.mean() < 150.0, "{}", distribution.mean());
}

proptest! {
    #[test]
    fn probabilities_stay_probabilities(
        seen in prop::collection::vec((0_u32..100_000, 0_u8..3), 1..60)
    ) {
        let mut distribution = RateDistribution::new(&SproutConfig::default());
        for (count, kind) in seen {
            distribution.predict();
            distribution.resize_grid(f64::from(count) / 0.02);
            match kind {
                0 => distribution.observe(count, 0.02),
                1 => distribution.observe_at_least(count, 0.02),
                _ => distribution.observe(0, 0.02),
            }
            prop_assert!((sum(&distribution) - 1.0).abs() < 1e-6, "{}", sum(&distribution));
            prop_assert!(distribution.probabilities.iter().all(|probability| *probability >= 0.0));
            prop_assert!(distribution.mean() <= distribution.max_rate());
        }
    }

    #[test]
    fn a_change_of_the_grid_keeps_the_mean(rate in 10.0_f64..400.0) {
        let mut distribution = RateDistribution::new(&SproutConfig::default());
        distribution.set_normal(rate, 0.1);
        let before = distribution.mean();
        distribution.double();
        prop_assert!((distribution.mean() - before).abs() < 1e-6 * before);
        distribution.halve();
        prop_assert!((distribution.mean() - before).abs() < 1e-3 * before);
    }
}
