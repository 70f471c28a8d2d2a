//! Radio hints that a user's device offers to its programs.

use radio::channel::{FadedSinr, SinrTrace};
use radio::ran::{Channel, User};
use radio::rlc::Forwarding;
use units::Instant;

use crate::ran::cells::two_cells;
use crate::ran::lab::{Lab, lte, ms, steady};

fn moving_away(speed_mps: Option<f64>) -> User {
    let trace = SinrTrace::new(vec![(Instant::ZERO, 20.0), (ms(60_000), 5.0)]).unwrap();
    User {
        channel: Channel::Traced(Box::new(FadedSinr::unfaded(trace))),
        speed_mps,
        observed: true,
    }
}

/// 15 dB in 60 s: the slope is known from the first moment on, when no report has been made yet.
#[test]
fn a_trace_tells_its_mean_and_its_slope() {
    let mut lab = Lab::new(lte(50, vec![moving_away(Some(16.7))]));
    let first = lab.ran.hints(0, Instant::ZERO);
    assert_eq!((first.sinr_db, first.cqi), (20.0, None));
    assert!((first.sinr_trend_db_per_s + 0.25).abs() < 1e-9);
    assert_eq!(first.speed_mps, Some(16.7));
    lab.run(ms(20_000));
    let later = lab.ran.hints(0, ms(20_000));
    assert!((later.sinr_db - 15.0).abs() < 1e-9);
    assert!((later.sinr_trend_db_per_s + 0.25).abs() < 1e-9);
    // TS 36.213 table 7.2.3-1 at 15 dB: 64QAM, below the highest.
    assert!(later.cqi.is_some_and(|cqi| (10..15).contains(&cqi)));
}

#[test]
fn a_user_that_stands_has_no_trend_and_no_known_speed() {
    let lab = Lab::new(lte(50, vec![steady(10.0)]));
    let hints = lab.ran.hints(0, ms(500));
    assert_eq!((hints.sinr_trend_db_per_s, hints.speed_mps), (0.0, None));
}

/// From 350 m towards the next cell at 1000 m, the serving one at 0 m gets weaker.
#[test]
fn a_place_tells_the_speed_of_its_way() {
    let mut lab = Lab::new(two_cells(Forwarding::Lossless, None));
    for at in [Instant::ZERO, ms(3_000)] {
        lab.run(at);
        let hints = lab.ran.hints(0, at);
        assert!((hints.speed_mps.unwrap() - 30.0).abs() < 1e-9);
        assert!(hints.sinr_trend_db_per_s < 0.0);
    }
}
