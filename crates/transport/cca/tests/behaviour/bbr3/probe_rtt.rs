//! Tests of the lowest RTT and ProbeRTT.

use units::{Duration, Rate};

use super::{RTT, found, path, run_into};

/// Appendix A.10, §5.3.4: after five seconds without a lower RTT, ProbeRTT keeps half of the BDP in flight
/// for 200 ms and a round; then the window is restored.
#[test]
fn the_lowest_rtt_is_probed_for_every_five_seconds() {
    let mut path = path(20.0);
    let mut visits = Vec::new();
    for _ in 0..4 {
        run_into(&mut path, "probe_rtt");
        visits.push(path.w.now.as_secs_f64());
        path.run_while_not(1, |p| p.in_flight() <= p.bdp() / 2 + 1);
        let drained = path.w.now;
        path.run_while_not(1, |p| p.mode() != "probe_rtt");
        let stayed = path.w.now.saturating_since(drained);
        assert!(stayed >= Duration::from_millis(199), "{stayed}");
        assert!(stayed < Duration::from_millis(350), "{stayed}");
        assert!(path.mode().starts_with("probe_bw"));
        assert!(path.w.cwnd > path.bdp(), "{}", path.w.cwnd);
    }
    for pair in visits.windows(2) {
        assert!((5.0..6.0).contains(&(pair[1] - pair[0])), "{visits:?}");
    }
}

/// Appendix A.11, §5.4.1: a silence replaces ProbeRTT, and the restart is paced at the bandwidth.
#[test]
fn a_silence_replaces_probe_rtt() {
    let mut path = path(20.0);
    path.run_until(3.0);
    path.paused_until = path.w.now + Duration::from_secs(6);
    path.run_while_not(7, |p| p.in_flight() == 0);
    path.step();
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / found(&path) - 0.99).abs() < 0.01, "{rate}");
    let restarted = path.w.now;
    while path.w.now < restarted + Duration::from_secs(4) {
        assert_ne!(path.mode(), "probe_rtt");
        path.step();
    }
}

/// Appendix A.20, §5.3.4.4: ProbeRTT leads back to Startup if the path was never full.
#[test]
fn probe_rtt_leads_back_to_startup() {
    let mut path = path(50.0);
    path.app_rate = Some(Rate::from_mbps(5.0));
    // The lowest RTT does not occur again.
    path.run_until(1.0);
    path.rtt = RTT + Duration::from_millis(5);
    run_into(&mut path, "probe_rtt");
    path.run_while_not(2, |p| p.mode() != "probe_rtt");
    assert_eq!(path.mode(), "startup");
}
