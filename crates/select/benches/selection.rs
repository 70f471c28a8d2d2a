//! What a sample and a decision cost.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../tests/path/mod.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use path::Flow;
use select::policy::{BUILT_IN, Situation, builtin};
use select::{Features, Requirement, Watch};

/// A watch that has seen 30 s of a way through a cell, and the next 10 s of it.
fn samples(c: &mut Criterion) {
    let all = Flow {
        cwnd: 300.0,
        ..Flow::default()
    }
    .samples(40.0, |t| 50.0 - 0.7 * t);
    let mut watch = Watch::new();
    all[..3_000].iter().for_each(|sample| watch.observe(sample));
    let mut group = c.benchmark_group("sample");
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("observe", |b| {
        b.iter_batched_ref(
            || watch.clone(),
            |watch| all[3_000..].iter().for_each(|sample| watch.observe(sample)),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn decisions(c: &mut Criterion) {
    let mut watch = Watch::new();
    let all = Flow {
        cwnd: 300.0,
        ..Flow::default()
    }
    .samples(30.0, |t| 50.0 - 0.7 * t);
    all.iter().for_each(|sample| watch.observe(sample));
    let mut group = c.benchmark_group("decision");
    for (name, _) in BUILT_IN {
        let policy = builtin(name).expect("built in");
        group.bench_function(name, |b| {
            b.iter(|| {
                let features = Features::of(watch.view());
                policy.advise(&Situation {
                    view: watch.view(),
                    features: &features,
                    requirement: Requirement::Balanced,
                    present: Some("cubic"),
                    established: true,
                    prefer: &[],
                    known: None,
                    draw: 0.5,
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, samples, decisions);
criterion_main!(benches);
