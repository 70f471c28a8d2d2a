//! Cost of one evaluation of a fading channel.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use radio::channel::mobility::Trajectory;
use radio::channel::{
    Activity, Deployment, Doppler, FadedSinr, Fading, FadingConfig, Grid, LinkId, Position,
    Receiver, Reception, SinrTrace,
};
use radio::settings::{
    Cell, Frequency, Interference, Length, Profile, Propagation, Radio, Shadowing, Speed,
};
use units::{Duration, Instant};

fn eva60(criterion: &mut Criterion) {
    let carrier = Frequency::from_hertz(2650.0 * 1e6);
    let speed = Speed::from_metres_per_second(60.0 / 3.6);
    let config = FadingConfig::new(Profile::Eva, Doppler::Moving(speed, carrier));
    for (name, per_group) in [
        ("EVA 60 km/h, 100 PRBs in 25 groups", 4),
        ("EVA 60 km/h, 100 PRBs one by one", 1),
    ] {
        let grid = Grid::lte(100, per_group).expect("in range");
        let fading = Fading::new(config, &grid, 1, LinkId { ue: 0, cell: 0 }).expect("valid");
        let mean = SinrTrace::new(vec![(Instant::ZERO, 15.0)]).expect("valid");
        let source = FadedSinr::new(mean, fading, Receiver::IDEAL, &grid);
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

/// Measures one UE that passes nine shadowed cells.
fn nine_cells(criterion: &mut Criterion) {
    let carrier = Frequency::from_hertz(2620.0 * 1e6);
    let cells = (0..9_u32).map(|site| Cell {
        name: site.to_string(),
        x: Length::from_metres(1_000.0 * f64::from(site)),
        y: Length::from_metres(30.0),
        ..Cell::default()
    });
    let mut config = Radio {
        cells: cells.collect(),
        frequency: Some(carrier),
        propagation: Propagation {
            // TR 36.814 table A.2.1.1-2: 8 dB, 50 m, half of it common to all sites.
            shadowing: Some(Shadowing::default()),
            ..Propagation::default()
        },
        ..Radio::default()
    };
    let grid = Grid::lte(100, 4).expect("in range");
    let speed = Speed::from_metres_per_second(120.0 / 3.6);
    let fading = FadingConfig::new(Profile::Eva, Doppler::Moving(speed, carrier));
    for (name, interference) in [
        ("nine cells, neighbours without fading", Interference::Mean),
        ("nine cells, neighbours with fading", Interference::Faded),
    ] {
        config.propagation.interference = interference;
        let deployment = Arc::new(Deployment::new(&config, grid, 1).expect("valid"));
        let trajectory = Trajectory::Linear {
            start: Position::new(0.0, 0.0, 1.5),
            velocity: [30.0, 0.0, 0.0],
        };
        let reception = Reception::new(deployment, 0, trajectory, Some((fading, Receiver::IDEAL)))
            .expect("valid");
        let mut out = vec![0.0; 25];
        let mut now = Instant::ZERO;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                now += Duration::from_millis(1);
                reception.sinr_db(black_box(now), 4, Activity::Full, &mut out);
                black_box(&out);
            });
        });
    }
}

criterion_group!(benches, eva60, nine_cells);
criterion_main!(benches);
