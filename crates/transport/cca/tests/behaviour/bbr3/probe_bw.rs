//! Tests of the phases of ProbeBW.

use units::{Duration, Rate};

use super::{RTT, found, goodput_until, path, path_without_probe_rtt, run_into};
use crate::path::MSS;

/// Appendix A.5, §5.3.3.7: a plateau ends ProbeBW_UP; without loss there is no long-term bound.
#[test]
fn a_plateau_ends_a_probe() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_up");
    let (began, sent) = (path.w.now, path.w.delivered);
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / 20.0 - 1.25 * 0.99).abs() < 0.03, "{rate}");
    path.run_while_not(2, |p| p.mode() != "probe_bw_up");
    assert_eq!(path.mode(), "probe_bw_down");
    let rounds = path.w.now.saturating_since(began).as_nanos() / RTT.as_nanos();
    assert!((3..=8).contains(&rounds), "{rounds} rounds");
    assert!(path.w.delivered > sent);
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// Appendix A.6: more than 2 % of loss ends ProbeBW_UP even if the application limits the samples, which then
/// do not set the bound.
#[test]
fn loss_ends_a_probe_of_a_limited_application() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_refill");
    path.app_rate = Some(Rate::from_mbps(15.0));
    path.run_while_not(2, |p| p.mode() == "probe_bw_up");
    let first = path.sent;
    path.drops = Box::new(move |n| n >= first && n % 10 == 0);
    path.run_while_not(1, |p| p.mode() != "probe_bw_up");
    assert_eq!(path.mode(), "probe_bw_down");
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// Appendix A.7: while the application limits the samples and nothing is lost, neither Startup nor ProbeBW_UP
/// ends.
#[test]
fn an_application_limited_flow_without_loss_keeps_its_state() {
    let mut path = path_without_probe_rtt(20.0, 40);
    path.app_rate = Some(Rate::from_mbps(10.0));
    path.run_until(20.0);
    assert_eq!(path.mode(), "startup");
    path.app_rate = None;
    run_into(&mut path, "probe_bw_refill");
    path.app_rate = Some(Rate::from_mbps(10.0));
    path.run_while_not(1, |p| p.mode() == "probe_bw_up");
    path.run_until(60.0);
    assert_eq!(path.mode(), "probe_bw_up");
}

/// Appendix A.8, §5.3.3.1: DOWN paces at 90 % until the queue is gone and headroom is left.
#[test]
fn down_ends_when_the_queue_is_gone_and_headroom_is_left() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 4);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    run_into(&mut path, "probe_bw_down");
    path.step();
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / found(&path) - 0.9 * 0.99).abs() < 0.02, "{rate}");
    path.run_while_not(5, |p| p.mode() != "probe_bw_down");
    assert_eq!(path.mode(), "probe_bw_cruise");
    let longterm = path.cca.inflight_longterm().expect("it is set");
    assert!(f64::from(path.w.inflight) <= 0.86 * f64::from(longterm));
}

/// Appendix A.9, §5.3.3.8: if the queue remains, DOWN ends when the next probe is due, after two to three
/// seconds.
#[test]
fn down_ends_when_the_next_probe_is_due() {
    let mut path = path_without_probe_rtt(20.0, 60);
    run_into(&mut path, "probe_bw_down");
    let began = path.w.now;
    // The link delivers hardly more than arrives.
    path.rate = Rate::from_mbps(18.0);
    path.run_while_not(10, |p| p.mode() != "probe_bw_down");
    let waited = path.w.now.saturating_since(began).as_secs_f64();
    assert!((2.0..3.2).contains(&waited), "{waited} s");
    assert_eq!(path.mode(), "probe_bw_refill");
}

/// Appendix A.13, §5.5.9: the window has room for aggregated ACKs, so that CRUISE uses the whole link.
#[test]
fn aggregated_acks_do_not_slow_cruise() {
    let mut path = path(20.0);
    path.ack_interval = Duration::from_millis(60);
    path.run_until(3.0);
    let goodput = goodput_until(&mut path, 4.8);
    assert!(goodput > 0.9 * 20.0, "{goodput} Mbit/s");
    let lump = (Rate::from_mbps(20.0).bytes_in(path.ack_interval).get() / u64::from(MSS)) as u32;
    assert!(
        path.cca.extra_acked() > lump / 2,
        "{}",
        path.cca.extra_acked()
    );
}

/// Appendix A.15: an existing long-term bound grows by 1, 2, 4, 8 … segments per round of UP.
#[test]
fn the_long_term_bound_grows_faster_every_round() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 4);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    path.buffer = u64::MAX;
    path.rate = Rate::from_mbps(200.0);
    let low = path.cca.inflight_longterm().expect("it is set");
    path.run_while_not(20, |p| found(p) > 190.0);
    let high = path.cca.inflight_longterm().expect("it stays");
    assert!(high > 4 * low, "{low}, then {high}");
}

/// Appendix A.21, §5.5.10.2: too much loss in ProbeBW_UP ends the probe and lowers the bound to the segments
/// in flight, but not below 0.7 of the target.
#[test]
fn too_much_loss_ends_a_probe_and_lowers_the_bound() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 2);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    run_into(&mut path, "probe_bw_up");
    let before = path.cca.inflight_longterm().expect("it is set");
    let (first, target) = (path.sent, path.bdp());
    path.drops = Box::new(move |n| n >= first && n % 5 == 0);
    path.run_while_not(1, |p| p.mode() != "probe_bw_up");
    assert_eq!(path.mode(), "probe_bw_down");
    let after = path.cca.inflight_longterm().expect("it stays set");
    assert!(after < before, "{before}, then {after}");
    assert!(
        f64::from(after) > 0.65 * f64::from(target),
        "{after} of {target}"
    );
}

/// Appendix A.22: samples that the application limits do not lower the bandwidth, and REFILL leads to UP.
#[test]
fn a_limited_refill_does_not_lower_the_bandwidth() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_refill");
    let before = found(&path);
    path.app_rate = Some(Rate::from_mbps(2.0));
    path.run_while_not(2, |p| p.mode() != "probe_bw_refill");
    assert_eq!(path.mode(), "probe_bw_up");
    assert!(found(&path) >= before);
}

/// §5.3.3.8.2: the time between probes is two to three seconds, but at most as many rounds as the BDP has
/// segments, or 63, for coexistence with Reno.
#[test]
fn small_paths_are_probed_as_often_as_reno_would() {
    let interval = |mbps: f64, rtt_ms: u64| {
        let mut path = path_without_probe_rtt(mbps, rtt_ms);
        run_into(&mut path, "probe_bw_up");
        run_into(&mut path, "probe_bw_down");
        let began = path.w.now;
        run_into(&mut path, "probe_bw_refill");
        path.w.now.saturating_since(began).as_secs_f64()
    };
    let native = interval(50.0, 100);
    assert!((2.0..3.1).contains(&native), "{native}");
    // 62 or 63 rounds of 10 ms.
    let by_reno = interval(100.0, 10);
    assert!((0.55..0.85).contains(&by_reno), "{by_reno}");
    // 17 segments: as many rounds of 20 ms.
    let small = interval(10.0, 20);
    assert!((0.3..0.6).contains(&small), "{small}");
}
