//! Cost of one evaluation of a fading channel.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use radio::channel::mobility::Trajectory;
use radio::channel::{
    Antenna, Carrier, CellSite, DelayProfile, Deployment, DeploymentConfig, Doppler, FadedSinr,
    Fading, FadingConfig, Grid, Interference, LinkId, NoiseFigure, PathLossModel, Position,
    Receiver, Reception, Shadowing, Sight, SinrSource, Speed,
};
use units::{Decibel, Duration, Instant};

/// Shadowing of TR 36.814 table A.2.1.1-2: 8 dB, 50 m, half of it common to all sites.
const SHADOWING: Shadowing = Shadowing {
    deviation_db: 8.0,
    correlation_distance_m: 50.0,
    site_correlation: 0.5,
};

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

/// Measures one UE that passes nine shadowed cells.
fn nine_cells(criterion: &mut Criterion) {
    let carrier = Carrier::from_mhz(2620.0).expect("in range");
    let cells = (0..9_u32).map(|site| CellSite {
        site,
        position: Position::new(1_000.0 * f64::from(site), 30.0, 30.0),
        antenna: Antenna::Omni { gain_dbi: 0.0 },
        power_dbm: 46.0,
    });
    let mut config = DeploymentConfig {
        cells: cells.collect(),
        carrier,
        grid: Grid::lte(100, 4).expect("in range"),
        path_loss: PathLossModel::Friis,
        sight: Sight::Line,
        shadowing: Some(SHADOWING),
        noise_figure: NoiseFigure::new(7.0).expect("in range"),
        ue_height_m: 1.5,
        interference: Interference::Mean,
        update_period: Duration::from_millis(10),
    };
    let speed = Speed::from_km_per_h(120.0).expect("in range");
    let fading = FadingConfig::new(DelayProfile::Eva, Doppler::Moving(speed, carrier));
    for (name, interference) in [
        ("nine cells, neighbours without fading", Interference::Mean),
        (
            "nine cells, neighbours with fading",
            Interference::Faded {
                below_noise_db: 20.0,
            },
        ),
    ] {
        config.interference = interference;
        let deployment = Arc::new(Deployment::new(config.clone(), 1).expect("valid"));
        let way = Trajectory::Linear {
            start: Position::new(0.0, 0.0, 1.5),
            velocity: [30.0, 0.0, 0.0],
        };
        let reception =
            Reception::new(deployment, 0, way, Some((fading, Receiver::IDEAL))).expect("valid");
        let mut out = vec![0.0; 25];
        let mut now = Instant::ZERO;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                now += Duration::from_millis(1);
                reception.link(4).sinr_db(black_box(now), &mut out);
                black_box(&out);
            });
        });
    }
}

criterion_group!(benches, eva60, nine_cells);
criterion_main!(benches);
