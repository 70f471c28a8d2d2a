//! TCP-Illinois compared with Liu, Başar and Srikant 2008 and with Linux.

use cca::illinois::{Illinois, IllinoisConfig};
use cca::{CaState, CongestionControl, Window};
use units::Duration;

use crate::lab::RTT;
use crate::rounds::{full_window, round};

/// Largest queueing delay that the path has shown.
const LARGEST: Duration = Duration::from_millis(100);

/// Returns an Illinois that has seen RTTs from 100 to 200 ms, with a constant window of `cwnd` segments.
fn knowing(cwnd: u32) -> (Illinois, Window) {
    let (mut illinois, mut w) = (Illinois::new(Default::default()), full_window(cwnd));
    illinois.init(&mut w);
    for rtt in [RTT, RTT + LARGEST, RTT] {
        held_round(&mut illinois, &mut w, rtt);
    }
    (illinois, w)
}

fn held_round(illinois: &mut Illinois, w: &mut Window, rtt: Duration) {
    let cwnd = w.cwnd;
    round(illinois, w, rtt);
    w.cwnd = cwnd;
}

/// Returns the growth in segments per round trip and the share that a loss takes, after some round trips at a
/// delay.
fn at_delay(percent: u64) -> (f64, f64) {
    let (mut illinois, mut w) = knowing(200);
    for _ in 0..8 {
        held_round(&mut illinois, &mut w, RTT + LARGEST * percent / 100);
    }
    (
        illinois.alpha() as f64 / 128.0,
        illinois.beta() as f64 / 64.0,
    )
}

/// With α from 0.3 to 10: κ1 / (κ2 + d), and the fastest growth up to 1 % of the largest delay.
#[test]
fn the_growth_of_illinois_depends_on_the_delay() {
    let law = |d: f64| {
        let (least, most, low) = (0.3, 10.0, 0.01);
        let k1 = (1.0 - low) * least * most / (most - least);
        let k2 = (1.0 - low) * least / (most - least) - low;
        if d <= low { most } else { k1 / (k2 + d) }
    };
    for percent in [0, 1, 5, 10, 30, 60, 100] {
        let (alpha, _) = at_delay(percent);
        let expected = law(percent as f64 / 100.0);
        assert!(
            (alpha / expected - 1.0).abs() < 0.05,
            "{alpha} for {expected} at {percent} %"
        );
    }
}

/// A loss takes an eighth up to 10 % of the largest delay, half from 80 % on, and a linear share in between.
#[test]
fn the_reduction_of_illinois_depends_on_the_delay() {
    for (percent, expected) in [(0, 0.125), (10, 0.125), (45, 0.3125), (80, 0.5), (100, 0.5)] {
        let (_, beta) = at_delay(percent);
        assert!((beta - expected).abs() < 0.02, "{beta} at {percent} %");
        let (mut illinois, mut w) = knowing(200);
        for _ in 0..8 {
            held_round(&mut illinois, &mut w, RTT + LARGEST * percent / 100);
        }
        let left = f64::from(illinois.ssthresh(&mut w)) / 200.0;
        assert!(
            (left - (1.0 - expected)).abs() < 0.02,
            "{left} at {percent} %"
        );
    }
}

/// The growth in a round trip depends on the delay: 10 segments without a queue.
#[test]
fn illinois_adds_alpha_per_round_trip() {
    for (percent, added) in [(0, 9..=11), (100, 0..=1)] {
        let (mut illinois, mut w) = knowing(200);
        for _ in 0..8 {
            held_round(&mut illinois, &mut w, RTT + LARGEST * percent / 100);
        }
        w.cwnd_cnt = 0;
        round(&mut illinois, &mut w, RTT + LARGEST * percent / 100);
        assert!(
            added.contains(&(w.cwnd - 200)),
            "{} at {percent} %",
            w.cwnd - 200
        );
    }
}

/// Growth returns to its fastest only after θ = 5 round trips of low delay.
#[test]
fn illinois_waits_for_five_round_trips_of_low_delay() {
    let (mut illinois, mut w) = knowing(200);
    held_round(&mut illinois, &mut w, RTT + LARGEST);
    let mut good = 0;
    while illinois.alpha() < 1_280 {
        held_round(&mut illinois, &mut w, RTT);
        good += 1;
    }
    // Growth is set when the next round trip begins.
    assert_eq!(good, 6);
}

/// Linux `update_params`: below 15 segments, and after a time-out, one segment per round trip and half on
/// loss.
#[test]
fn illinois_is_reno_where_the_window_is_small_and_after_a_time_out() {
    let (illinois, _) = knowing(10);
    assert_eq!((illinois.alpha(), illinois.beta()), (128, 32));
    let (mut illinois, mut w) = knowing(200);
    assert_ne!(illinois.alpha(), 128);
    illinois.set_state(&mut w, CaState::Loss);
    assert_eq!((illinois.alpha(), illinois.beta()), (128, 32));
}

/// With α from 1 to 1 and β from 0.5 to 0.5 it is Reno.
#[test]
fn illinois_without_its_ranges_is_reno() {
    let mut illinois = Illinois::new(IllinoisConfig {
        alpha_min: 1.0,
        alpha_max: 1.0,
        beta_min: 0.5,
        ..IllinoisConfig::default()
    });
    let mut w = full_window(100);
    illinois.init(&mut w);
    for rtt in [RTT, RTT * 2, RTT * 2, RTT] {
        round(&mut illinois, &mut w, rtt);
    }
    assert_eq!(w.cwnd, 104);
    assert_eq!(illinois.ssthresh(&mut w), 52);
}
