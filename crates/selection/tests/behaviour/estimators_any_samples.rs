//! Any samples: estimates stay finite and confidences between 0 and 1, whatever a kernel reports.

use proptest::prelude::*;
use selection::{Features, Hints, PathEstimates, PathEstimators, SenderInfo};
use units::{Duration, Instant, Rate};

/// Generates a distance from the sample before and an arbitrary sender.
fn any_sample() -> impl Strategy<Value = (Duration, SenderInfo)> {
    let times = (
        0..50_000_000_u64,
        0..5_000_000_000_u64,
        0..5_000_000_000_u64,
    );
    let counts = (
        any::<u32>(),
        any::<u32>(),
        0..u64::from(u32::MAX),
        0..u64::from(u32::MAX),
    );
    let rest = (
        0..70_000_u32,
        0..1_u64 << 45,
        any::<bool>(),
        any::<u64>(),
        any::<bool>(),
    );
    (times, counts, rest).prop_map(|(times, counts, rest)| {
        let sender = SenderInfo {
            mss: rest.0,
            cwnd: counts.0,
            inflight: counts.1,
            srtt: (times.1 > 0).then_some(Duration::from_nanos(times.1)),
            min_rtt: Some(Duration::from_nanos(times.2)),
            delivered: counts.2,
            retransmissions: counts.3,
            delivery_rate: Some(Rate::from_bits_per_second(rest.1)),
            app_limited: rest.2,
            send_window: Some(rest.3),
            slow_start: rest.4,
            ..SenderInfo::default()
        };
        (Duration::from_nanos(times.0), sender)
    })
}

fn assert_sane(estimates: &PathEstimates) -> Result<(), TestCaseError> {
    let confidences = [
        estimates.base_rtt.confidence,
        estimates.latency.confidence,
        estimates.capacity.confidence,
        estimates.trend.confidence,
        estimates.movement.confidence,
        estimates.variability.confidence,
        estimates.queue.confidence,
        estimates.buffer.confidence,
        estimates.window_limited.confidence,
        estimates.random_loss.confidence,
        estimates.phase.confidence,
        estimates.speed.confidence,
    ];
    for confidence in confidences {
        prop_assert!((0.0..=1.0).contains(&confidence), "{estimates:?}");
    }
    for known in Features::of(estimates).0.into_iter().flatten() {
        prop_assert!(known.value.is_finite(), "{estimates:?}");
        prop_assert!((0.0..=1.0).contains(&known.confidence), "{estimates:?}");
    }
    prop_assert!(
        (0.0..=1.0).contains(&estimates.random_loss.value),
        "{estimates:?}"
    );
    prop_assert!(estimates.variability.value >= 0.0, "{estimates:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_samples_give_sane_estimates(
        samples in prop::collection::vec(any_sample(), 1..300),
        ordered in any::<bool>(),
        trend in prop::option::of(-10.0..10.0_f64),
    ) {
        let mut watch = PathEstimators::default();
        watch.set_hints(Hints { sinr_trend: trend, ..Hints::default() });
        let (mut now, mut delivered, mut again) = (Instant::ZERO, 0, 0);
        for (since, mut sample) in samples {
            now += since;
            if ordered {
                delivered += sample.delivered % 1_000;
                again += sample.retransmissions % 100;
                (sample.delivered, sample.retransmissions) = (delivered, again);
            }
            watch.observe(now, &sample, None);
            assert_sane(watch.estimates())?;
        }
    }
}
