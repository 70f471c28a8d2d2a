//! Cost of the physical layer per report and per transport block.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use radio::phy::lte::{Bandwidth, McsTable, Overhead, format, link_adaptation};
use radio::phy::{Modulation, effective_sinr_mi};

fn physical_layer(criterion: &mut Criterion) {
    let bandwidth = Bandwidth::from_khz(20_000).expect("a carrier");
    let overhead = Overhead::new(1, 1).expect("a configuration");
    let adaptation = link_adaptation(McsTable::Qam64, bandwidth, overhead);
    let sinr_db: [f32; 25] = core::array::from_fn(|group| 12.0 + (group % 7) as f32);
    let elements = overhead.data_elements(bandwidth);
    let block = format(McsTable::Qam64, 20, 100, 1, elements).expect("in the tables");

    criterion.bench_function("effective SINR of 25 groups", |bencher| {
        bencher.iter(|| effective_sinr_mi(black_box(&sinr_db), Modulation::Qam64));
    });
    criterion.bench_function("CQI of 25 groups", |bencher| {
        bencher.iter(|| adaptation.cqi(black_box(&sinr_db)));
    });
    criterion.bench_function("MCS of a CQI", |bencher| {
        bencher.iter(|| adaptation.mcs_of_cqi(black_box(11), 100, 0.0));
    });
    criterion.bench_function("BLER of a first transmission", |bencher| {
        bencher.iter(|| block.bler(black_box(9.0)));
    });
    criterion.bench_function("BLER of a second transmission", |bencher| {
        bencher.iter(|| {
            let mut buffer = block.soft_buffer();
            buffer.receive(0, block.coded_bits, black_box(8.0));
            buffer.receive(2, block.coded_bits, black_box(8.5));
            buffer.bler()
        });
    });
    criterion.bench_function("thresholds of a 20 MHz carrier", |bencher| {
        bencher.iter(|| link_adaptation(McsTable::Qam64, bandwidth, overhead));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = physical_layer
}
criterion_main!(benches);
