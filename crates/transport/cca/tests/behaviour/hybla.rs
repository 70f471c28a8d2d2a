//! Hybla compared with Caini and Firrincieli 2004 and with Linux.

use cca::hybla::{Hybla, HyblaConfig};
use cca::{CaState, CongestionControl, Window};
use units::Duration;

use crate::rounds::{full_window, round};

/// Returns Hybla on a path of `rtt`, with a window of `cwnd` segments in congestion avoidance.
fn on_path(rtt: Duration, cwnd: u32) -> (Hybla, Window) {
    let (mut hybla, mut w) = (Hybla::new(Default::default()), full_window(cwnd));
    w.srtt = rtt;
    hybla.init(&mut w);
    w.cwnd = cwnd;
    w.ssthresh = cwnd;
    (hybla, w)
}

/// Congestion avoidance adds ρ² segments per round trip, with ρ = RTT / 25 ms, at least 1. The growth per
/// second is then 40 ρ segments.
#[test]
fn hybla_adds_rho_squared_per_round_trip() {
    for (ms, rho) in [(25, 1.0), (100, 4.0), (250, 10.0), (10, 1.0)] {
        let rtt = Duration::from_millis(ms);
        let (mut hybla, mut w) = on_path(rtt, 200);
        let mut added = 0;
        for _ in 0..5 {
            round(&mut hybla, &mut w, rtt);
            added += w.cwnd - 200;
            w.cwnd = 200;
        }
        let per_round = f64::from(added) / 5.0;
        // The growth of each ACK is kept in whole 128ths of a segment.
        assert!(
            per_round <= rho * rho && per_round > 0.75 * rho * rho - 0.1,
            "{per_round} for {rho}"
        );
    }
}

/// Slow start adds 2^ρ − 1 segments per ACK; eighths of ρ count.
#[test]
fn hybla_starts_by_powers_of_two() {
    for (ms, increase) in [(25, 1), (50, 3), (100, 15), (64, 5)] {
        let (mut hybla, mut w) = on_path(Duration::from_millis(ms), 100);
        w.ssthresh = 10_000;
        crate::rounds::ack(
            &mut hybla,
            &mut w,
            Duration::from_millis(ms),
            Duration::ZERO,
        );
        // 2^(20/8) − 1 = 4.66 at 64 ms: 4 segments now, 5 with the remainder of the first ACK.
        let second = w.cwnd;
        crate::rounds::ack(
            &mut hybla,
            &mut w,
            Duration::from_millis(ms),
            Duration::ZERO,
        );
        assert_eq!(w.cwnd - second, increase, "{ms} ms");
    }
}

/// Linux `hybla_init`: the connection starts with ρ segments.
#[test]
fn hybla_begins_with_rho_segments() {
    for (ms, cwnd) in [(10, 1), (60, 2), (500, 20)] {
        let mut w = full_window(10);
        w.srtt = Duration::from_millis(ms);
        Hybla::new(Default::default()).init(&mut w);
        assert_eq!((w.cwnd, w.cwnd_clamp), (cwnd, 65_535));
    }
}

/// Linux `hybla_cong_avoid`: ρ depends on the lowest smoothed RTT, so a queue does not increase growth.
#[test]
fn a_queue_does_not_increase_the_growth_of_hybla() {
    let rtt = Duration::from_millis(100);
    let (mut hybla, mut w) = on_path(rtt, 200);
    for (srtt, added) in [(rtt * 3, 13..=16), (rtt / 2, 3..=4), (rtt, 3..=4)] {
        w.srtt = srtt;
        w.cwnd = 200;
        round(&mut hybla, &mut w, srtt);
        assert!(
            added.contains(&(w.cwnd - 200)),
            "{} at {srtt}",
            w.cwnd - 200
        );
    }
}

/// Linux `hybla_state`: Reno while the state is not Open; a loss halves the window.
#[test]
fn hybla_is_reno_in_recovery() {
    let rtt = Duration::from_millis(100);
    let (mut hybla, mut w) = on_path(rtt, 200);
    hybla.set_state(&mut w, CaState::Disorder);
    round(&mut hybla, &mut w, rtt);
    assert_eq!(w.cwnd, 201);
    assert_eq!(hybla.ssthresh(&mut w), 100);
    hybla.set_state(&mut w, CaState::Open);
    round(&mut hybla, &mut w, rtt);
    assert!(w.cwnd >= 214, "{}", w.cwnd);
}

/// The reference is a parameter: with 100 ms, a path of 100 ms grows like Reno.
#[test]
fn hybla_takes_another_reference() {
    let rtt = Duration::from_millis(100);
    let mut hybla = Hybla::new(HyblaConfig { rtt0: rtt });
    let mut w = full_window(200);
    hybla.init(&mut w);
    w.cwnd = 200;
    round(&mut hybla, &mut w, rtt);
    assert!((200..=201).contains(&w.cwnd), "{}", w.cwnd);
}
