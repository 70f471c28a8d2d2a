//! Cost of middleboxes: two simulated seconds of a transfer at 100 Mbit/s, without and through each kind.
//!
//! A run through a split host may take at most 2.2 times as long as one without.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use measurement::Options;
use native_engine::Simulation;
use network_builder::Traces;
use scenario::{MiddleboxKind, Scenario};
use units::Instant;

fn scenario(middleboxes: &str) -> Scenario {
    let changes = [
        "path.rtt=40ms".to_owned(),
        "path.wired=[{ name = 'wan', delay = '10ms' }]".to_owned(),
        "path.down.rate=100Mbit/s".to_owned(),
        "duration=2s".to_owned(),
        format!("path.middleboxes=[{middleboxes}]"),
    ];
    Scenario::from_toml("", "bench", &changes).expect("a valid scenario")
}

fn run(scenario: &Scenario, traces: &Traces) -> u64 {
    let mut run = Simulation::new(scenario, traces, 1, Options::default()).expect("it can be run");
    run.advance(Instant::NEVER);
    run.finish().expect("no invariant is broken").flows.bytes[0]
}

fn middleboxes(criterion: &mut Criterion) {
    let kinds = MiddleboxKind::ALL
        .iter()
        .map(|kind| format!("{{ kind = '{}' }}", kind.name()));
    let mut group = criterion.benchmark_group("2 s at 100 Mbit/s");
    group.sample_size(20);
    for middlebox in core::iter::once(String::new()).chain(kinds) {
        let scenario = scenario(&middlebox);
        let traces = Traces::load(&scenario, Path::new(".")).expect("there are none");
        let name = scenario.path.middleboxes.first();
        let name = name.map_or("without", |middlebox| middlebox.kind.name());
        group.bench_function(name, |bencher| bencher.iter(|| run(&scenario, &traces)));
    }
    group.finish();
}

criterion_group!(benches, middleboxes);
criterion_main!(benches);
