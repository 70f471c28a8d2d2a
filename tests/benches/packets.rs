//! Speed of the analysis: packets per second of a capture with snapshot length 96.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../../crates/capture/pcap-analysis/tests/behaviour/made_up.rs"]
mod made_up;

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pcap_analysis::Analysis;

const SEGMENTS: u32 = 200_000;

fn analyse(bytes: Vec<u8>) -> u64 {
    let mut analysis = Analysis::new(Box::new(Cursor::new(bytes)), false);
    while analysis.advance(100_000) {
        black_box(analysis.take_tables());
    }
    analysis.summary().packets
}

fn bench(criterion: &mut Criterion) {
    let packets = made_up::download(SEGMENTS);
    let file = made_up::pcap(&packets, 101, false, true);
    let mut group = criterion.benchmark_group("capture");
    group.sample_size(10);
    group.throughput(Throughput::Elements(packets.len() as u64));
    group.bench_function("download", |b| b.iter(|| analyse(file.clone())));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
