//! Tests of real and of spurious losses.

use cca::{CaState, CongestionControl, Lost};

use super::{found, path, run_into};
use crate::path::MSS;

/// Appendix A.18, §5.5.11.2: when losses prove to be spurious, bounds and window are restored, and a probe
/// that was given up restarts.
#[test]
fn spurious_losses_are_undone() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_up");
    let window = path.w.cwnd;
    let first = path.sent;
    path.drops = Box::new(move |n| (first..first + 12).contains(&n));
    path.run_while_not(2, |p| p.mode() == "probe_bw_down");
    assert!(path.cca.inflight_longterm().is_some());
    path.w.cwnd = path.cca.undo_cwnd(&mut path.w);
    assert_eq!(path.cca.inflight_longterm(), None);
    assert_eq!(path.mode(), "probe_bw_refill");
    assert!(path.w.cwnd >= window, "{} after {window}", path.w.cwnd);
}

/// Appendix A.18: the same for Startup.
#[test]
fn spurious_losses_lead_back_to_startup() {
    let mut path = path(50.0);
    path.drops = Box::new(|n| (200..600).contains(&n) && n % 8 == 0);
    path.run_while_not(5, |p| p.mode() == "drain");
    path.w.cwnd = path.cca.undo_cwnd(&mut path.w);
    assert_eq!(path.mode(), "startup");
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// §5.5.10.2, `InflightAtLoss`: of 1000 segments in flight 30 are lost. The 20th loss crosses 2 %, whichever
/// is noticed first: (0.02 · 999 − 29) / 0.98 < 0 for the last one, so that all segments before it still fit.
#[test]
fn the_bound_is_the_inflight_at_which_losses_cross_two_percent() {
    let mut path = path(100.0);
    run_into(&mut path, "probe_bw_up");
    let mut w = path.w.clone();
    let mut lose = |lost: u32| {
        let lost = Lost {
            seq: 0,
            end: u64::from(MSS),
            tx_in_flight: 1000,
            lost,
            app_limited: false,
        };
        path.cca.on_lost(&mut w, &lost);
        path.cca.inflight_longterm()
    };
    assert_eq!(lose(20), None);
    // 999 were in flight before, of which 20 were lost: (0.02 · 999 − 20) / 0.98 is zero.
    assert_eq!(lose(21), Some(999));
    // One reaction per probe.
    assert_eq!(lose(500), Some(999));
}

/// §5.5.10.3: a round with loss leaves the larger one of 0.7 of the bound and the deliveries of the round.
#[test]
fn loss_while_cruising_lowers_the_short_term_bounds_by_thirty_percent_at_most() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_cruise");
    let (window, rate) = (path.w.cwnd, found(&path));
    let first = path.sent;
    path.drops = Box::new(move |n| n >= first && n % 2 == 0);
    path.run_while_not(1, |p| p.cca.inflight_shortterm().is_some());
    let inflight = path.cca.inflight_shortterm().expect("it is set");
    let bound = path
        .cca
        .bandwidth_shortterm(MSS)
        .expect("it is set")
        .as_mbps();
    assert!(
        f64::from(inflight) >= (0.69 * f64::from(window)).floor(),
        "{inflight} of {window}"
    );
    assert!(bound >= 0.69 * rate && bound <= rate, "{bound} of {rate}");
    // REFILL resets them.
    path.drops = Box::new(|_| false);
    path.run_while_not(10, |p| p.mode() == "probe_bw_refill");
    assert_eq!(path.cca.inflight_shortterm(), None);
}

/// §5.6.4.4: a time-out leaves one segment beyond those in flight; afterwards the previous window is
/// restored.
#[test]
fn the_window_is_restored_after_a_time_out() {
    let mut path = path(20.0);
    path.run_until(3.0);
    let before = path.w.cwnd;
    path.cca.ssthresh(&mut path.w);
    path.w.cwnd = 1;
    path.enter(CaState::Loss);
    path.step();
    assert!(path.w.cwnd < before);
    path.enter(CaState::Open);
    assert!(path.w.cwnd >= before, "{} after {before}", path.w.cwnd);
}
