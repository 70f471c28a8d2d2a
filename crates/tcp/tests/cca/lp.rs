//! TCP-LP against Kuzmanovic and Knightly 2006 and Linux.

use tcp::cca::lp::{Clocks, Lp, LpConfig};
use tcp::cca::{CongestionControl, Window};
use units::Duration;

use crate::rounds::{ack, flying, round};

const MS: Duration = Duration::from_millis(1);
const BASE: Duration = Duration::from_millis(100);

fn lp(clocks: Clocks, cwnd: u32) -> (Lp, Window) {
    let config = LpConfig {
        clocks,
        ..LpConfig::default()
    };
    let (mut lp, mut w) = (Lp::new(config), flying(cwnd));
    lp.init(&mut w);
    (lp, w)
}

/// §III: an excess capacity is taken as Reno takes it, one segment per round trip, once the first delay has
/// been taken for congestion, as it is not below the lowest (Linux `tcp_lp_pkts_acked`).
#[test]
fn lp_is_reno_while_the_delay_is_low() {
    let (mut lp, mut w) = lp(Clocks::Together, 40);
    for _ in 0..4 {
        round(&mut lp, &mut w, BASE);
    }
    let start = w.cwnd;
    // Back at the threshold by slow start, as the threshold was not cut.
    assert!((40..44).contains(&start), "{start}");
    for step in 1..10 {
        round(&mut lp, &mut w, BASE);
        assert_eq!(w.cwnd, start + step);
    }
    assert_eq!(lp.ssthresh(&mut w), (start + 9) / 2);
}

/// §III.A and C: a smoothed one-way delay beyond 15 % of its range halves the window; then the window
/// stands still for three round trips, and a second indication within them leaves one segment. Linux takes
/// the range anew each time: from the present delay to its double.
#[test]
fn lp_gives_way_before_a_loss() {
    let (mut lp, mut w) = lp(Clocks::Together, 80);
    for _ in 0..5 {
        round(&mut lp, &mut w, BASE);
    }
    let before = w.cwnd;
    // 50 ms, and the threshold is 57.5 ms: the eighth part of 60 ms more is 7.5 ms.
    ack(&mut lp, &mut w, BASE + MS * 50, MS * 100);
    assert_eq!(w.cwnd, before);
    ack(&mut lp, &mut w, BASE + MS * 50, MS * 100);
    // This very ACK may still have grown it by one.
    let halved = w.cwnd;
    assert!((before / 2..=before / 2 + 1).contains(&halved), "{halved}");
    // It falls, and rises again within three round trips: from 61 ms by 15 %.
    for _ in 0..4 {
        ack(&mut lp, &mut w, BASE + MS * 50, MS * 100);
    }
    assert_eq!(w.cwnd, 1);
    // Back at the base: nothing grows until three round trips have passed since.
    let calm = w.now;
    while w.now < calm + MS * 250 {
        w.now += MS * 10;
        ack(&mut lp, &mut w, BASE, MS * 50);
    }
    assert_eq!(w.cwnd, 1);
    for _ in 0..20 {
        round(&mut lp, &mut w, BASE);
    }
    assert!(w.cwnd >= 18, "{}", w.cwnd);
}

/// A delay that rises only on the way back is none of the path that data takes.
#[test]
fn lp_does_not_mind_the_way_back() {
    let (mut lp, mut w) = lp(Clocks::Together, 40);
    for _ in 0..5 {
        round(&mut lp, &mut w, BASE);
    }
    let before = w.cwnd;
    for _ in 0..4 {
        for _ in 0..w.cwnd {
            w.now += MS * 5;
            ack(&mut lp, &mut w, BASE * 2, MS * 50);
        }
    }
    assert!((before + 3..=before + 4).contains(&w.cwnd), "{}", w.cwnd);
}

/// Linux `tcp_lp_owd_calculator`: the clocks' distance is part of the delay. Beyond 2²⁹ ms the smoothed
/// delay, kept in eighths, no longer holds it, and nothing counts as congestion; on clocks that agree, the
/// first delay does, as it is not below the lowest, and so does a queue of 100 ms.
#[test]
fn lp_as_in_linux_depends_on_how_far_the_clocks_are_apart() {
    let window_after = |apart: u32| {
        let (mut lp, mut w) = lp(Clocks::Apart, 40);
        let mut at = |lp: &mut Lp, one_way: u32| {
            w.now += MS * 10;
            w.snd_una += 1_448;
            let sent = w.clock_ms() - 100;
            w.timestamps = Some((sent + one_way + apart, sent));
            let sample = tcp::cca::AckSample {
                acked: 1,
                rtt: Some(BASE),
                in_flight: 40,
            };
            lp.pkts_acked(&mut w, &sample);
            w.cwnd
        };
        for _ in 0..100 {
            at(&mut lp, 50);
        }
        let before = at(&mut lp, 50);
        for _ in 0..100 {
            at(&mut lp, 150);
        }
        let after = at(&mut lp, 150);
        (before, after)
    };
    assert_eq!(window_after(1 << 30), (40, 40));
    let (before, after) = window_after(0);
    assert_eq!(before, 20);
    assert!(after < before, "{after}");
}

/// Without timestamps nothing tells one-way delays: Reno.
#[test]
fn lp_without_timestamps_is_reno() {
    let (mut lp, mut w) = lp(Clocks::Apart, 40);
    w.timestamps = None;
    for _ in 0..200 {
        w.now += MS * 5;
        let sample = tcp::cca::AckSample {
            acked: 1,
            rtt: Some(BASE * 3),
            in_flight: 40,
        };
        lp.pkts_acked(&mut w, &sample);
        lp.grow(&mut w, &mut tcp::cca::slow_start::Standard, 1);
    }
    assert!((44..=45).contains(&w.cwnd), "{}", w.cwnd);
}
