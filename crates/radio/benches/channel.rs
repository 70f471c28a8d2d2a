//! What one evaluation of a fading channel costs.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use radio::channel::{
    Carrier, DelayProfile, Doppler, FadedSinr, Fading, FadingConfig, Grid, LinkId, Receiver,
    SinrSource, Speed,
};
use units::{Decibel, Duration, Instant};

fn eva60(criterion: &mut Criterion) {
    let carrier = Carrier::from_mhz(2650.0).expect("in range");
    let speed = Speed::from_km_per_h(60.0).expect("in range");
    let config = FadingConfig::new(DelayProfile::Eva, Doppler::Moving(speed, carrier));
    for (name, per_group) in [
        ("EVA 60 km/h, 100 PRBs in 25 groups", 4),
        ("EVA 60 km/h, 100 PRBs one by one", 1),
    ] {
        let grid = Grid::lte(100, per_group).expect("in range");
        let fading = Fading::new(config, &grid, 1, LinkId { ue: 0, cell: 0 }).expect("valid");
        let source =
            FadedSinr::new(Decibel::new(15.0), fading, Receiver::IDEAL, &grid).expect("valid");
        let mut out = vec![0.0; grid.groups()];
        let mut now = Instant::ZERO;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                now += Duration::from_millis(1);
                source.sinr_db(black_box(now), &mut out);
                black_box(&out);
            });
        });
    }
}

criterion_group!(benches, eva60);
criterion_main!(benches);
