//! TCP-LP compared with Kuzmanovic and Knightly 2006 and with Linux.

use cca::lp::{Lp, LpConfig, Version};
use cca::{CongestionControl, Window};
use units::Duration;

use crate::rounds::{ack, full_window, round};

const MS: Duration = Duration::from_millis(1);
const BASE: Duration = Duration::from_millis(100);

fn lp(version: Version, cwnd: u32) -> (Lp, Window) {
    let config = LpConfig {
        version,
        ..LpConfig::default()
    };
    let (mut lp, mut w) = (Lp::new(config), full_window(cwnd));
    lp.init(&mut w);
    (lp, w)
}

/// §III: LP uses excess capacity like Reno, one segment more per round trip.
#[test]
fn lp_is_reno_while_the_delay_is_low() {
    let (mut lp, mut w) = lp(Version::Paper, 40);
    for step in 1..10 {
        round(&mut lp, &mut w, BASE);
        assert_eq!(w.cwnd, 40 + step);
    }
    assert_eq!(lp.ssthresh(&mut w), 49 / 2);
}

/// Returns LP on a path whose one-way delays have been from 50 to 150 ms: the threshold is 65 ms.
fn on_a_known_path(cwnd: u32) -> (Lp, Window) {
    let (mut lp, mut w) = lp(Version::Paper, cwnd);
    for one_way in [50, 150, 150] {
        w.now += MS;
        ack(&mut lp, &mut w, BASE * 2, MS * one_way);
    }
    lp.ssthresh(&mut w);
    w.now += Duration::from_secs(2);
    for _ in 0..8 {
        round(&mut lp, &mut w, BASE);
    }
    w.cwnd = cwnd;
    w.ssthresh = cwnd;
    (lp, w)
}

/// §III.A and C: a smoothed one-way delay beyond 15 % of its range halves the window, which then stays
/// constant. A second indication, after the next round trip and within three, leaves one segment.
#[test]
fn lp_reduces_before_a_loss() {
    let (mut lp, mut w) = on_a_known_path(80);
    // From 50 ms, an eighth of the way to 200 ms is beyond 65 ms.
    ack(&mut lp, &mut w, BASE, MS * 200);
    let halved = w.cwnd;
    assert_eq!(halved, 40);
    assert_eq!(w.ssthresh, 40);
    for _ in 0..9 {
        w.now += MS * 10;
        ack(&mut lp, &mut w, BASE, MS * 200);
        assert_eq!(w.cwnd, halved, "what cannot show yet does not count");
    }
    w.now += MS * 20;
    ack(&mut lp, &mut w, BASE, MS * 200);
    assert_eq!(w.cwnd, 1);
}

/// The length of a full queue is known from a loss. A reduction that is undone was none: reordered packets. LP takes no
/// delay for congestion before a loss that stands.
#[test]
fn lp_does_not_learn_from_a_loss_that_was_none() {
    let spurious = |times: usize, real: bool| {
        let (mut lp, mut w) = lp(Version::Paper, 80);
        for one_way in [50, 60, 60] {
            w.now += MS;
            ack(&mut lp, &mut w, BASE * 2, MS * one_way);
        }
        if real {
            lp.ssthresh(&mut w);
        }
        for _ in 0..times {
            w.prior_cwnd = w.cwnd;
            lp.ssthresh(&mut w);
            assert_eq!(lp.undo_cwnd(&mut w), w.prior_cwnd);
        }
        w.now += Duration::from_secs(2);
        for _ in 0..8 {
            w.now += MS * 10;
            ack(&mut lp, &mut w, BASE * 2, MS * 60);
        }
        w.cwnd
    };
    assert!(spurious(1, false) >= 80 && spurious(3, false) >= 80);
    assert!(spurious(0, true) < 80 && spurious(3, true) < 80);
}

/// §III.C: if the delay is low again, Reno continues after the inference phase of three round trips.
#[test]
fn lp_grows_again_after_the_inference_phase() {
    let (mut lp, mut w) = on_a_known_path(80);
    ack(&mut lp, &mut w, BASE, MS * 200);
    let calm = w.now + MS * 310;
    while w.now < calm {
        assert_eq!(w.cwnd, 40);
        w.now += MS * 10;
        ack(&mut lp, &mut w, BASE, MS * 50);
    }
    for _ in 0..5 {
        round(&mut lp, &mut w, BASE);
    }
    assert!((44..=46).contains(&w.cwnd), "{}", w.cwnd);
}

/// A delay that rises only on the return path does not belong to the path of the data.
#[test]
fn lp_ignores_delay_on_the_return_path() {
    let (mut lp, mut w) = lp(Version::Paper, 40);
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

/// Linux `tcp_lp_owd_calculator`: the offset of the clocks is part of the delay. Beyond 2²⁹ ms the smoothed
/// delay, kept in eighths, overflows, and nothing counts as congestion. With clocks that agree, the first
/// delay counts as congestion, as it is not below the lowest one, and so does a queue of 100 ms.
#[test]
fn lp_of_linux_depends_on_the_offset_of_the_clocks() {
    let window_after = |apart: u32| {
        let (mut lp, mut w) = lp(Version::Linux, 40);
        let mut at = |lp: &mut Lp, one_way: u32| {
            w.now += MS * 10;
            w.snd_una += 1_448;
            let sent = w.clock_ms() - 100;
            w.timestamps = Some((sent + one_way + apart, sent)).into();
            let sample = cca::AckSample {
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

/// Without timestamps there are no one-way delays, so LP is Reno.
#[test]
fn lp_without_timestamps_is_reno() {
    let (mut lp, mut w) = lp(Version::Linux, 40);
    w.timestamps = None.into();
    for _ in 0..200 {
        w.now += MS * 5;
        let sample = cca::AckSample {
            acked: 1,
            rtt: Some(BASE * 3),
            in_flight: 40,
        };
        lp.pkts_acked(&mut w, &sample);
        lp.grow(&mut w, &mut cca::slow_start::Standard, 1);
    }
    assert!((44..=45).contains(&w.cwnd), "{}", w.cwnd);
}
