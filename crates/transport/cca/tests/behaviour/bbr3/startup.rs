//! Tests of Startup, of Drain, and of a switch by context, which replaces them.

use cca::bbr3::Bbr3;
use cca::{Ack, CongestionControl, RateSample, TransferState};
use units::{Bytes, Duration, Instant, Rate};

use super::{RTT, found, path, run_into};
use crate::lab::window;
use crate::path::MSS;

/// Appendix A.1: a plateau of the delivery rate ends Startup after three rounds, within 2 % of the rate.
#[test]
fn a_plateau_ends_startup() {
    let mut path = path(10.0);
    assert_eq!(path.mode(), "startup");
    path.run_while_not(2, |p| p.w.pacing_rate.as_mbps() > 20.0);
    let full_since = path.w.now;
    path.run_while_not(2, |p| p.mode() == "drain");
    let rounds = path.w.now.saturating_since(full_since).as_nanos() / RTT.as_nanos();
    assert!((2..=8).contains(&rounds), "{rounds} rounds");
    assert!((found(&path) / 10.0 - 1.0).abs() < 0.02, "{}", found(&path));
}

/// Appendix A.2, §5.3.1.3: loss of more than 2 % in six ranges of a round of recovery ends Startup, even if
/// the application limits the samples; without loss Startup does not end.
#[test]
fn loss_ends_startup_of_a_limited_application() {
    let limited = |drops: fn(u64) -> bool| {
        let mut path = path(50.0);
        path.app_rate = Some(Rate::from_mbps(10.0));
        path.drops = Box::new(drops);
        path.run_until(4.5);
        path
    };
    assert_eq!(limited(|_| false).mode(), "startup");
    // More than 2 % lost, but in fewer than six ranges.
    assert_eq!(limited(|n| (300..320).contains(&n)).mode(), "startup");
    let path = limited(|n| n > 300 && n % 4 == 0);
    assert_ne!(path.mode(), "startup");
    assert!(path.cca.inflight_longterm().is_some());
}

/// Appendix A.3, §5.3.2: Drain paces at half of the bandwidth until no more than the BDP is in flight.
#[test]
fn drain_ends_when_the_queue_is_gone() {
    let mut path = path(20.0);
    run_into(&mut path, "drain");
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / 20.0 - 0.5 * 0.99).abs() < 0.02, "{rate}");
    assert!(path.in_flight() > path.bdp() * 5 / 4);
    path.run_while_not(1, |p| p.mode() != "drain");
    assert!(
        path.in_flight() <= path.bdp() * 11 / 10,
        "{}",
        path.in_flight()
    );
    assert!(path.mode().starts_with("probe_bw"));
}

/// Appendix A.4, §5.3.2: Drain ends after three rounds, even if the queue remains.
#[test]
fn drain_ends_after_three_rounds() {
    let mut path = path(20.0);
    path.run_while_not(5, |p| found(p) > 19.5);
    // The estimate is too high now: half of it still fills the queue.
    path.rate = Rate::from_mbps(8.0);
    run_into(&mut path, "drain");
    let mut rounds = 0;
    while path.mode() == "drain" {
        let end = path.w.delivered + u64::from(path.in_flight());
        path.run_while_not(10, |p| p.w.delivered >= end || p.mode() != "drain");
        rounds += 1;
    }
    assert!((3..=5).contains(&rounds), "{rounds} rounds");
    assert_eq!(path.mode(), "probe_bw_down");
    assert!(path.in_flight() > 75, "{}", path.in_flight());
}

/// Appendix A.12: Startup finds the bandwidth even if ACKs are aggregated.
#[test]
fn startup_finds_the_bandwidth_with_aggregated_acks() {
    let mut path = path(20.0);
    path.ack_interval = Duration::from_millis(25);
    path.run_while_not(5, |p| p.mode() == "drain");
    assert!((found(&path) / 20.0 - 1.0).abs() < 0.1, "{}", found(&path));
    // An aggregate is what the link delivers in 25 ms.
    assert!(path.cca.extra_acked() >= 20, "{}", path.cca.extra_acked());
}

/// Switch by context: no Startup, the rate is that of the context, and the window does not burst.
#[test]
fn a_switch_by_context_replaces_startup() {
    let mut w = window(100);
    w.now = Instant::ZERO + Duration::from_secs(10);
    let context = TransferState {
        cwnd: 100,
        ssthresh: 100,
        srtt: Duration::from_millis(150),
        min_rtt: Duration::from_millis(100),
        pacing_rate: Rate::of(Bytes::new(100 * u64::from(MSS)), Duration::from_millis(100)),
    };
    let mut bbr = Bbr3::new(Default::default());
    bbr.init(&mut w);
    bbr.seed(&mut w, &context);
    assert_eq!(bbr.mode(&w), "probe_bw_down");
    let rate = w.pacing_rate.as_mbps() / context.pacing_rate.as_mbps();
    assert!((rate - 0.9 * 0.99).abs() < 0.01, "{rate}");
    // The queue of the previous CCA is drained first.
    let mut queued = window(100);
    queued.inflight = 300;
    let mut other = Bbr3::new(Default::default());
    other.init(&mut queued);
    other.seed(&mut queued, &context);
    assert_eq!(other.mode(&queued), "drain");
    let ack = Ack {
        acked: 1,
        delivered: 1,
        rate: RateSample {
            delivered: Some(1),
            interval: Duration::from_millis(100),
            app_limited: true,
            ..RateSample::default()
        },
        ..Ack::default()
    };
    bbr.cong_control(&mut w, &ack);
    assert_eq!(w.cwnd, 101);
    assert!(w.pacing_rate.as_mbps() <= context.pacing_rate.as_mbps());
}
