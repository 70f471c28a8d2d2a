//! DCTCP compared with RFC 8257.

use cca::dctcp::{Dctcp, DctcpConfig};
use cca::{AckKind, CaState, CongestionControl, Event, Window};

use crate::lab::window;

fn started(cwnd: u32) -> (Dctcp, Window) {
    let (mut dctcp, mut w) = (Dctcp::default(), window(cwnd));
    w.ecn = true;
    dctcp.init(&mut w);
    (dctcp, w)
}

/// Delivers a window of data of which `marked` out of `segments` return with ECN-Echo.
fn observe(dctcp: &mut Dctcp, w: &mut Window, segments: u64, marked: u64) {
    w.snd_una = w.snd_nxt;
    w.snd_nxt += segments * u64::from(w.mss);
    w.delivered += segments;
    w.delivered_ce += marked;
    dctcp.in_ack_event(w, AckKind::default());
}

/// §3.3: alpha starts at 1, so that the first mark halves the window.
#[test]
fn the_first_mark_halves_the_window() {
    let (mut dctcp, mut w) = started(100);
    assert!((dctcp.alpha() - 1.0).abs() < 1e-9);
    assert_eq!(dctcp.ssthresh(&mut w), 50);
}

/// §3.3: alpha = (1 - g) alpha + g M with g = 1/16, once per window of data.
#[test]
fn alpha_follows_the_share_of_marks() {
    let (mut dctcp, mut w) = started(100);
    let mut expected = 1.0;
    for round in 0..200 {
        let marked = if round % 2 == 0 { 25 } else { 35 };
        observe(&mut dctcp, &mut w, 100, marked);
        expected = expected * (15.0 / 16.0) + marked as f64 / 100.0 / 16.0;
        // Linux computes in whole 1024ths.
        assert!(
            (dctcp.alpha() - expected).abs() < 0.03,
            "{} {expected}",
            dctcp.alpha()
        );
    }
    assert!((dctcp.alpha() - 0.3).abs() < 0.03);
    // §3.3: cwnd (1 - alpha / 2).
    let reduced = f64::from(dctcp.ssthresh(&mut w));
    assert!((reduced - 85.0).abs() <= 2.0, "{reduced}");
}

/// §3.3: alpha does not change within a window of data.
#[test]
fn alpha_changes_once_per_window() {
    let (mut dctcp, mut w) = started(100);
    observe(&mut dctcp, &mut w, 100, 0);
    let once = dctcp.alpha();
    w.snd_una += 1;
    dctcp.in_ack_event(&mut w, AckKind::default());
    assert!((dctcp.alpha() - once).abs() < f64::EPSILON);
}

/// Without marks alpha goes to zero (Linux drops a remainder below 1/64 at once).
#[test]
fn alpha_goes_to_zero_without_marks() {
    let (mut dctcp, mut w) = started(100);
    for _ in 0..120 {
        observe(&mut dctcp, &mut w, 100, 0);
    }
    assert!(dctcp.alpha() < f64::EPSILON);
    assert_eq!(dctcp.ssthresh(&mut w), 100);
}

/// §3.4 and §4.1: a loss has the effect that it has on NewReno, regardless of alpha.
#[test]
fn a_loss_halves_the_window_regardless_of_marks() {
    let (mut dctcp, mut w) = started(100);
    for _ in 0..120 {
        observe(&mut dctcp, &mut w, 100, 0);
    }
    w.ssthresh = dctcp.ssthresh(&mut w);
    dctcp.set_state(&mut w, CaState::Recovery);
    assert_eq!(w.ssthresh, 50);
    w.cwnd = 40;
    dctcp.cwnd_event(&mut w, Event::Loss);
    assert_eq!(w.ssthresh, 20);
    w.cwnd = 10;
    assert_eq!(dctcp.undo_cwnd(&mut w), 40);
}

/// §4.2: g is configurable.
#[test]
fn the_weight_can_be_set() {
    let config = DctcpConfig {
        dctcp_shift_g: 1,
        ..DctcpConfig::default()
    };
    let (mut dctcp, mut w) = (Dctcp::new(config), window(100));
    w.ecn = true;
    dctcp.init(&mut w);
    observe(&mut dctcp, &mut w, 100, 0);
    assert!((dctcp.alpha() - 0.5).abs() < 1e-9);
}
