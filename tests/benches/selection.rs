//! Cost of a sample and of a decision.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../../crates/selection/tests/behaviour/path.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod path;

use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use path::Flow;
use selection::policy::{BUILT_IN, DecisionInput, builtin};
use selection::{Auto, Features, Hints, PathEstimators, Requirement, Selector, SenderInfo, Start};
use units::Instant;
use units::random::{Purpose, RngStream};

/// Returns 40 s of a movement through a cell, beginning half-way.
fn way() -> Vec<(Instant, SenderInfo)> {
    let flow = Flow {
        cwnd: 300.0,
        ..Flow::default()
    };
    flow.samples(40.0, |t| 50.0 - 0.7 * t)
}

/// Returns the hints of the radio during that movement.
fn radio() -> Hints {
    Hints {
        sinr_db: Some(12.0),
        speed_mps: Some(33.3),
        sinr_trend: Some(-0.5),
    }
}

fn selector(policy: &str, hints: bool) -> Selector {
    let auto = Auto {
        hints,
        ..Auto::default()
    };
    let start = Start {
        at: Instant::ZERO,
        destination: None,
        hints: None,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    let policy = Arc::new(builtin(policy).expect("built in"));
    Selector::new(policy, auto, &start).0
}

/// Measures the last 10 s, after 30 s of warm-up: the estimators alone, a selector without decisions, and the default
/// policy with its two decisions a second.
fn samples(c: &mut Criterion) {
    let all = way();
    let (before, after) = all.split_at(3_000);
    let mut group = c.benchmark_group("sample");
    group.throughput(Throughput::Elements(after.len() as u64));
    let mut watch = PathEstimators::default();
    before
        .iter()
        .for_each(|(at, sender)| watch.observe(*at, sender, None));
    group.bench_function("estimators", |b| {
        b.iter_batched_ref(
            || watch.clone(),
            |watch| {
                after
                    .iter()
                    .for_each(|(at, sender)| watch.observe(*at, sender, None));
            },
            BatchSize::SmallInput,
        );
    });
    for (policy, hints) in [
        ("fixed", false),
        ("fixed", true),
        ("default", false),
        ("default", true),
    ] {
        let mut selector = selector(policy, hints);
        let given = hints.then(radio);
        before
            .iter()
            .for_each(|(at, sender)| drop(selector.observe(*at, sender, given)));
        let name = format!("{policy}{}", if hints { ", hints" } else { "" });
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || selector.clone(),
                |selector| {
                    let decisions = after
                        .iter()
                        .filter_map(|(at, sender)| selector.observe(*at, sender, given));
                    decisions.count()
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Measures the decision of each policy after 30 s of the movement.
fn decisions(c: &mut Criterion) {
    let mut watch = PathEstimators::default();
    way()[..3_000]
        .iter()
        .for_each(|(at, sender)| watch.observe(*at, sender, None));
    let mut group = c.benchmark_group("decision");
    for (name, _) in BUILT_IN {
        let policy = builtin(name).expect("built in");
        group.bench_function(name, |b| {
            b.iter(|| {
                let features = Features::of(watch.estimates());
                policy.recommend(&DecisionInput {
                    estimates: watch.estimates(),
                    features: &features,
                    requirement: Requirement::Balanced,
                    current_cca: Some("cubic"),
                    is_cca_chosen: true,
                    prefer: &[],
                    destination: None,
                    draw: 0.5,
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, samples, decisions);
criterion_main!(benches);
