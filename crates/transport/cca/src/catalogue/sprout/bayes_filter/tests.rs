//! Tests of the inference by itself.

use super::*;
use proptest::prelude::*;

fn sum(belief: &Belief) -> f64 {
    belief.mass.iter().sum()
}

fn deviation(belief: &Belief) -> f64 {
    let mean = belief.mean();
    let squares = belief
        .rates()
        .map(|(rate, mass)| mass * (rate - mean) * (rate - mean));
    squares.sum::<f64>().sqrt()
}

/// NSDI 2013 §3: 200 segments/s/√s are 28 segments/s in 20 ms and 200 segments/s in a second.
#[test]
fn the_rate_drifts_by_two_hundred_segments_per_second_in_a_second() {
    let config = SproutConfig {
        max_rate: 2000.0,
        ..SproutConfig::default()
    };
    let mut belief = Belief::new(&config);
    belief.expect(1000.0, 0.0);
    let before = deviation(&belief);
    belief.predict();
    let after = (deviation(&belief).powi(2) - before * before).sqrt();
    assert!((after - 28.3).abs() < 1.0, "{after}");
    for _ in 0..49 {
        belief.predict();
    }
    let after = deviation(&belief);
    assert!((after - 200.0).abs() < 10.0, "{after}");
    assert!((belief.mean() - 1000.0).abs() < 5.0, "{}", belief.mean());
}

/// NSDI 2013 §3: ten segments per tick of 20 ms are 500 per second, which a few ticks suffice to find.
#[test]
fn the_rate_is_inferred_from_deliveries() {
    let mut belief = Belief::new(&SproutConfig::default());
    for _ in 0..20 {
        belief.predict();
        belief.observe(10, 0.02);
    }
    assert!((belief.mean() - 500.0).abs() < 20.0, "{}", belief.mean());
    assert!(deviation(&belief) < 90.0, "{}", deviation(&belief));
}

/// NSDI 2013 §3: outages end at a rate of one per second, so a share of 1/e of the belief remains after a
/// second.
#[test]
fn an_outage_lasts() {
    let mut belief = Belief::new(&SproutConfig::default());
    belief.mass.fill(0.0);
    belief.mass[0] = 1.0;
    belief.outage_persistence = libm::exp(-0.02);
    for _ in 0..50 {
        belief.predict();
    }
    assert!(belief.mass[0] >= libm::exp(-1.0), "{}", belief.mass[0]);
    assert!(belief.mass[0] < 0.8, "{}", belief.mass[0]);
    // A single delivery ends it.
    belief.observe(1, 0.02);
    assert_eq!(belief.mass[0], 0.0);
}

/// A path that was not kept busy may be faster than observed, but not slower.
#[test]
fn a_lower_bound_rules_out_only_slower_rates() {
    let mut belief = Belief::new(&SproutConfig::default());
    belief.observe_at_least(10, 0.02);
    let at = |belief: &Belief, rate: f64| belief.mass[(rate / belief.width()) as usize];
    assert!(at(&belief, 200.0) < at(&belief, 900.0) / 50.0);
    assert!((at(&belief, 800.0) / at(&belief, 990.0) - 1.0).abs() < 0.2);
}

/// 5000 segments per second do not fit a grid up to 1000.
#[test]
fn the_grid_follows_the_path() {
    let mut belief = Belief::new(&SproutConfig::default());
    for _ in 0..50 {
        belief.predict();
        belief.fit(5000.0);
        belief.observe(100, 0.02);
    }
    assert!(
        (belief.mean() / 5000.0 - 1.0).abs() < 0.05,
        "{}",
        belief.mean()
    );
    assert_eq!(belief.top(), 16_000.0);
    for _ in 0..200 {
        belief.predict();
        belief.fit(50.0);
        belief.observe(1, 0.02);
    }
    assert_eq!(belief.top(), 1000.0);
    assert!(belief.mean() < 150.0, "{}", belief.mean());
}

proptest! {
    #[test]
    fn probabilities_stay_probabilities(
        seen in prop::collection::vec((0_u32..100_000, 0_u8..3), 1..60)
    ) {
        let mut belief = Belief::new(&SproutConfig::default());
        for (count, kind) in seen {
            belief.predict();
            belief.fit(f64::from(count) / 0.02);
            match kind {
                0 => belief.observe(count, 0.02),
                1 => belief.observe_at_least(count, 0.02),
                _ => belief.observe(0, 0.02),
            }
            prop_assert!((sum(&belief) - 1.0).abs() < 1e-6, "{}", sum(&belief));
            prop_assert!(belief.mass.iter().all(|mass| *mass >= 0.0));
            prop_assert!(belief.mean() <= belief.top());
        }
    }

    #[test]
    fn a_change_of_the_grid_keeps_the_mean(rate in 10.0_f64..400.0) {
        let mut belief = Belief::new(&SproutConfig::default());
        belief.expect(rate, 0.1);
        let before = belief.mean();
        belief.double();
        prop_assert!((belief.mean() - before).abs() < 1e-6 * before);
        belief.halve();
        prop_assert!((belief.mean() - before).abs() < 1e-3 * before);
    }
}
