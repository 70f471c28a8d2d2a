//! YeAH-TCP compared with Baiocchi, Castellani and Vacirca 2007 and with Linux.

use cca::yeah::{Yeah, YeahConfig};
use cca::{CongestionControl, Window};
use units::Duration;

use crate::rounds::{full_window, round};

const BASE: Duration = Duration::from_millis(100);

/// Returns a YeAH that knows the base RTT, with `cwnd` segments in flight.
fn yeah(cwnd: u32) -> (Yeah, Window) {
    let (mut yeah, mut w) = (Yeah::new(Default::default()), full_window(cwnd));
    yeah.init(&mut w);
    round(&mut yeah, &mut w, BASE);
    w.cwnd = cwnd;
    (yeah, w)
}

/// §2: without a queue the window grows like that of Scalable TCP: 1 % per round trip.
#[test]
fn yeah_is_scalable_while_there_is_no_queue() {
    let (mut yeah, mut w) = yeah(1000);
    round(&mut yeah, &mut w, BASE);
    assert!((1009..=1011).contains(&w.cwnd), "{}", w.cwnd);
    assert!(!yeah.is_slow());
}

/// §2: a queueing delay of more than 1/φ of the base RTT makes it as slow as Reno.
#[test]
fn yeah_is_reno_while_the_delay_is_high() {
    // 114 ms: 12 % of 1000 segments are queued, more than Q_max; of 200 segments 25 are.
    let (mut yeah, mut w) = yeah(200);
    let rtt = Duration::from_millis(114);
    for _ in 0..2 {
        round(&mut yeah, &mut w, rtt);
    }
    assert!(yeah.is_slow());
    let before = w.cwnd;
    round(&mut yeah, &mut w, rtt);
    assert_eq!(w.cwnd, before + 1);
    for _ in 0..2 {
        round(&mut yeah, &mut w, Duration::from_millis(105));
    }
    assert!(!yeah.is_slow());
}

/// §2, precautionary decongestion: a queue of more than Q_max = 80 segments is removed from the window at
/// once, but never more than half of the window.
#[test]
fn yeah_removes_a_long_queue() {
    for (rtt, left) in [(114, 880), (300, 500)] {
        let (mut yeah, mut w) = yeah(1000);
        let rtt = Duration::from_millis(rtt);
        round(&mut yeah, &mut w, rtt);
        w.cwnd = 1000;
        w.cwnd_cnt = 0;
        round(&mut yeah, &mut w, rtt);
        let near = left - 15..=left + 15;
        assert!(near.contains(&w.cwnd), "{rtt}: {} for {left}", w.cwnd);
    }
}

/// §2: a loss takes the queued segments, at least 1/8 and at most half of the window. After ρ = 16 rounds as
/// Reno there are greedy flows, and it takes half.
#[test]
fn yeah_reduces_by_its_queue_or_by_half_against_greedy_flows() {
    let (mut alone, mut w) = yeah(200);
    assert_eq!(alone.ssthresh(&mut w), 175);
    for rounds in [3, 20] {
        let (mut yeah, mut w) = yeah(200);
        // 40 % of the window is queued: 80 segments, which is not more than Q_max.
        let rtt = BASE.scaled(5, 3);
        for _ in 0..rounds {
            w.cwnd = 200;
            w.cwnd_cnt = 0;
            round(&mut yeah, &mut w, rtt);
        }
        w.cwnd = 200;
        let left = yeah.ssthresh(&mut w);
        let expected = if rounds < 16 { 119..=121 } else { 100..=100 };
        assert!(expected.contains(&left), "{rounds} rounds: {left}");
    }
}

/// The parameters take effect: with a Q_max of ten segments it is slow, with eighty it is not.
#[test]
fn the_parameters_of_yeah_take_effect() {
    let slow = |alpha| {
        let config = YeahConfig {
            alpha,
            phy: 1,
            ..YeahConfig::default()
        };
        let (mut yeah, mut w) = (Yeah::new(config), full_window(200));
        yeah.init(&mut w);
        round(&mut yeah, &mut w, BASE);
        for _ in 0..2 {
            round(&mut yeah, &mut w, Duration::from_millis(115));
        }
        yeah.is_slow()
    };
    assert!(slow(10));
    assert!(!slow(80));
}
