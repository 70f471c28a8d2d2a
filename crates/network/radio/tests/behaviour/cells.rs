//! Cells in the plane: levels by hand, interference, shadowing and measurements of a UE.

use std::sync::Arc;

use radio::channel::mobility::Trajectory;
use radio::channel::{
    Activity, Deployment, Doppler, FadingConfig, Grid, Position, Receiver, Reception,
};
use radio::settings::{
    Antenna, Cell, Hata, Interference, LosModel, PathLoss, Profile, Propagation, Radio, Sector,
    Shadowing, Streets,
};
use units::{Angle, Decibel, Frequency, Instant, Length, Power};

/// Shadowing of TR 36.942 §4.5: 10 dB, half of it common to all sites; distance of TR 36.814.
fn tr_36_942_shadowing() -> Shadowing {
    Shadowing {
        deviation: Decibel::new(10.0),
        ..Shadowing::default()
    }
}

/// Returns one of three sectors, TR 36.942 §4.2.1: 15 dBi, 65 degrees wide, 20 dB front to back.
fn tr_36_942(direction_deg: f64) -> Sector {
    Sector {
        azimuth: Angle::from_degrees(90.0 - direction_deg),
        ..Sector::default()
    }
}

fn cell(site: u32, x: f64) -> Cell {
    Cell {
        site: Some(site.to_string()),
        x: Length::from_metres(x),
        ..Cell::default()
    }
}

/// Returns the motorway of Hughes 2020: 20 MHz at 2620 MHz, Friis, 46 dBm, noise figure 7 dB.
fn config(cells: Vec<Cell>) -> Radio {
    Radio {
        cells,
        frequency: Some(Frequency::from_hertz(2620e6)),
        ..Radio::default()
    }
}

/// Returns the network with another propagation.
fn with(config: Radio, propagation: Propagation) -> Radio {
    Radio {
        propagation,
        ..config
    }
}

fn deployed(config: &Radio, seed: u64) -> Deployment {
    Deployment::new(config, Grid::lte(100, 4).unwrap(), seed).unwrap()
}

fn place(x: f64) -> Position {
    Position::new(x, 0.0, 1.5)
}

fn standing(config: Radio, x: f64, seed: u64) -> Reception {
    let deployment = Arc::new(deployed(&config, seed));
    Reception::new(deployment, 0, Trajectory::Static(place(x)), None).unwrap()
}

const NOW: Instant = Instant::from_nanos(5_000_000);

#[track_caller]
fn assert_db(result: f64, expected: f64) {
    assert!((result - expected).abs() < 0.02, "{result} for {expected}");
}

/// 600.68 m in free space at 2620 MHz cost 96.39 dB; 18 MHz of noise at 7 dB are -94.42 dBm.
#[test]
fn one_cell_alone_is_limited_by_noise() {
    let reception = standing(config(vec![cell(0, 0.0)]), 600.0, 1);
    let received = 46.0 - 96.39;
    assert_db(
        reception.mean_sinr_db(NOW, 0, Activity::Full),
        received + 94.42,
    );
    assert_db(
        reception.rsrp_dbm(NOW, 0),
        received - 10.0 * 1200_f64.log10(),
    );
    // Alone and under full load, a reference element has a twelfth of a PRB's power.
    assert_db(reception.rsrq_db(NOW, 0, Activity::Full), -10.79);
    let idle = reception.rsrq_db(NOW, 0, Activity::Shares(&[0.25]));
    assert_db(idle, -10.79 + 6.02);
}

/// Half way between two equal cells the SINR is 0 dB; a neighbour with a tenth of its power disturbs
/// a tenth as much.
#[test]
fn neighbours_disturb_by_what_they_transmit() {
    let reception = standing(config(vec![cell(0, 0.0), cell(1, 1200.0)]), 600.0, 1);
    assert_db(reception.mean_sinr_db(NOW, 0, Activity::Full), 0.0);
    let tenth = reception.mean_sinr_db(NOW, 0, Activity::Shares(&[1.0, 0.1]));
    assert_db(tenth, 10.0);
    let silent = reception.mean_sinr_db(NOW, 0, Activity::Shares(&[1.0, 0.0]));
    assert_db(silent, 46.0 - 96.39 + 94.42);
    let alone = with(
        config(vec![cell(0, 0.0), cell(1, 1200.0)]),
        Propagation {
            interference: Interference::None,
            ..Propagation::default()
        },
    );
    assert_db(
        standing(alone, 600.0, 1).mean_sinr_db(NOW, 0, Activity::Full),
        silent,
    );
}

fn moving(config: Radio, seed: u64) -> Reception {
    let deployment = Arc::new(deployed(&config, seed));
    let way = Trajectory::Linear {
        start: place(100.0),
        velocity: [30.0, 0.0, 0.0],
    };
    let fading = FadingConfig::new(Profile::Eva, Doppler::Hertz(262.0));
    Reception::new(deployment, 9, way, Some((fading, Receiver::IDEAL))).unwrap()
}

/// Returns three cells with the shadowing of TR 36.814 table A.2.1.1-2: 8 dB, 50 m, half of it common to all sites.
fn motorway((interference, culling_db): (Interference, f64)) -> Radio {
    with(
        config(vec![cell(0, 0.0), cell(1, 1200.0), cell(2, 2400.0)]),
        Propagation {
            interference,
            culling: Decibel::new(culling_db),
            shadowing: Some(Shadowing::default()),
            ..Propagation::default()
        },
    )
}

/// The reception depends neither on earlier queries nor on their number.
#[test]
fn reception_is_a_function_of_time() {
    for interference in [(Interference::Mean, 20.0), (Interference::Faded, 10.0)] {
        let (once, back) = (
            moving(motorway(interference), 4),
            moving(motorway(interference), 4),
        );
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut out = vec![0.0; 25];
        let mut history = Vec::new();
        for ms in (0..30_000).step_by(77) {
            once.sinr_db(at(ms), 0, Activity::Full, &mut out);
            history.push((ms, out.clone(), once.rsrp_dbm(at(ms), 2)));
        }
        for (ms, before, rsrp) in history.iter().rev() {
            assert_eq!(back.rsrp_dbm(at(*ms), 2), *rsrp);
            back.sinr_db(at(*ms), 1, Activity::Full, &mut out);
            back.sinr_db(at(*ms), 0, Activity::Full, &mut out);
            assert_eq!(&out, before, "{ms} ms");
        }
    }
}

/// Fading of the neighbours spreads the SINR and leaves its median within a decibel or so; with none
/// strong enough to count, it is the same as without.
#[test]
fn fading_neighbours_average_to_their_mean() {
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let [mut mean, mut faded] = [Vec::new(), Vec::new()];
    let models = [(Interference::Mean, 20.0), (Interference::Faded, 20.0)];
    for (interference, all) in models.into_iter().zip([&mut mean, &mut faded]) {
        let reception = moving(motorway(interference), 4);
        let mut out = vec![0.0; 25];
        for ms in (15_000..25_000).step_by(5) {
            reception.sinr_db(at(ms), 0, Activity::Full, &mut out);
            all.extend_from_slice(&out);
        }
        all.sort_by(f32::total_cmp);
    }
    let median = |all: &[f32]| all[all.len() / 2];
    let difference = median(&faded) - median(&mean);
    assert!((0.0..2.5).contains(&difference), "{difference}");
    let spread = |all: &[f32]| all[all.len() * 9 / 10] - all[all.len() / 10];
    assert!(spread(&faded) > spread(&mean));

    let weak = (Interference::Faded, -200.0);
    let [one, other] = [(Interference::Mean, 20.0), weak].map(|interference| {
        let mut out = vec![0.0; 25];
        moving(motorway(interference), 4).sinr_db(at(1_234), 0, Activity::Full, &mut out);
        out
    });
    for (one, other) in one.iter().zip(&other) {
        assert!((one - other).abs() < 1e-3, "{one}, {other}");
    }
}

/// Half the variance is common to all sites: the correlation between two of them is one half, and
/// sectors of one site share all of it.
#[test]
fn shadowing_is_shared_as_configured() {
    let cells = vec![cell(0, 0.0), cell(1, 0.0), cell(1, 0.0)];
    let shadowed = with(
        config(cells.clone()),
        Propagation {
            shadowing: Some(tr_36_942_shadowing()),
            ..Propagation::default()
        },
    );
    let plain = deployed(&config(cells), 1);
    let here = place(500.0);
    let seeds = 4_000;
    let (mut product, mut square) = (0.0, 0.0);
    for seed in 0..seeds {
        let deployment = deployed(&shadowed, seed);
        let powers = plain.powers_dbm(&here).zip(deployment.powers_dbm(&here));
        let shadows: Vec<f64> = powers.map(|(plain, shadowed)| plain - shadowed).collect();
        let (a, b, c) = (shadows[0], shadows[1], shadows[2]);
        assert_eq!(b, c);
        product += a * b / seeds as f64;
        square += a * a / seeds as f64;
    }
    assert!((square.sqrt() - 10.0).abs() < 0.4, "{}", square.sqrt());
    assert!(
        (product / square - 0.5).abs() < 0.06,
        "{}",
        product / square
    );
}

/// The share of places in sight is the model's probability at that distance.
#[test]
fn line_of_sight_is_as_frequent_as_its_probability() {
    let rural = |los| {
        with(
            config(vec![cell(0, 0.0)]),
            Propagation {
                model: PathLoss::Tr38901Rma(Streets::default()),
                los,
                ..Propagation::default()
            },
        )
    };
    let seeds = 3_000;
    let here = place(703.0);
    let mut in_sight = 0;
    for seed in 0..seeds {
        let deployment = deployed(&rural(LosModel::Probable), seed);
        let sees = deployment.is_los(0, &here);
        in_sight += u32::from(sees);
        let always = if sees { LosModel::Line } else { LosModel::None };
        let always = deployed(&rural(always), seed);
        assert!(deployment.powers_dbm(&here).eq(always.powers_dbm(&here)));
    }
    let share = f64::from(in_sight) / seeds as f64;
    let expected = (-0.693_f64).exp();
    assert!((share - expected).abs() < 0.03, "{share} for {expected}");
}

/// A UE in the middle of one sector of a site of three gets 20 dB less from the others.
#[test]
fn sectors_point_where_they_should() {
    let sector = |degrees| Cell {
        antenna: Antenna::Sector(tr_36_942(degrees)),
        ..cell(0, 0.0)
    };
    let cells = [0.0, 120.0, 240.0].map(sector).to_vec();
    let reception = standing(config(cells), 800.0, 1);
    let [ahead, left, right] = [0, 1, 2].map(|cell| reception.rsrp_dbm(NOW, cell));
    assert_db(ahead - left, 20.0);
    assert_db(left, right);
}

#[test]
fn impossible_networks_are_rejected() {
    let grid = Grid::lte(100, 4).unwrap();
    let error = |config| {
        let rejected = Deployment::new(&config, grid, 1).unwrap_err();
        rejected.to_string()
    };
    assert_eq!(
        error(config(vec![])),
        "number of cells = 0 must be at least one"
    );
    let strong = Cell {
        power: Power::from_dbm(146.0),
        ..cell(0, 0.0)
    };
    assert_eq!(
        error(config(vec![strong])),
        "power of a cell in dBm = 146 must be from -50 to 80"
    );
    let hata = with(
        config(vec![cell(0, 0.0)]),
        Propagation {
            model: PathLoss::Cost231Hata(Hata::default()),
            ..Propagation::default()
        },
    );
    assert_eq!(
        error(hata),
        "carrier in MHz for COST 231 Hata = 2620 must be from 1500 to 2000"
    );
}
