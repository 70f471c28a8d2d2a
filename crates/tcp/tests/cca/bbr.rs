//! BBR v1 against its draft, a round trip at a time.

use tcp::cca::bbr::Bbr;
use tcp::cca::{Ack, CaState, CongestionControl, Event, RateSample, Window};
use units::{Duration, Instant, Rate};

use crate::lab::{RTT, window};
use crate::path::Path;

fn path(mbps: f64, rtt: Duration, seed: u64) -> Path<Bbr> {
    Path::new(Bbr::default(), mbps, rtt, seed)
}

/// A pipe of steady bandwidth and RTT under BBR: what it delivers in each round trip.
fn bbr_round(bbr: &mut Bbr, w: &mut Window, mbps: f64, rtt: Duration) {
    let per_round = (mbps * 1e6 / 8.0 / 1448.0 * rtt.as_secs_f64()) as u32;
    // A drain paces below the bandwidth until the queue is gone.
    let queued = if bbr.mode() == "drain" {
        per_round
    } else {
        3 * per_round
    };
    let in_flight = w.cwnd.min(queued);
    let delivered = in_flight.min(per_round).max(1);
    let queue = rtt.scaled(
        u64::from(in_flight.saturating_sub(per_round)),
        u64::from(per_round),
    );
    let prior = w.delivered;
    for _ in 0..delivered {
        w.now += rtt / u64::from(delivered);
        w.delivered_at = w.now;
        w.delivered += 1;
        w.inflight = in_flight;
        let rate = RateSample {
            delivered: Some(delivered),
            interval: rtt,
            prior_delivered: prior,
            ..RateSample::default()
        };
        let ack = Ack {
            acked: 1,
            delivered: 1,
            prior_inflight: in_flight,
            rtt: Some(rtt + queue),
            rate,
            ..Ack::default()
        };
        bbr.cong_control(w, &ack);
    }
}

/// draft-cardwell-iccrg-bbr-congestion-control-00 §4.3: start-up until three rounds bring no more, then
/// drain, then cruising at the bandwidth.
#[test]
fn bbr_finds_the_bandwidth_and_cruises() {
    let (mut bbr, mut w) = (Bbr::default(), window(10));
    bbr.init(&mut w);
    assert!(w.paced);
    assert_eq!(bbr.mode(), "startup");
    let mut seen = vec!["startup"];
    for _ in 0..60 {
        bbr_round(&mut bbr, &mut w, 20.0, RTT);
        if *seen.last().unwrap() != bbr.mode() {
            seen.push(bbr.mode());
        }
    }
    assert!(
        seen.starts_with(&["startup", "drain", "probe_bw"]),
        "{seen:?}"
    );
    let found = bbr.bottleneck_bandwidth();
    assert!((found.as_mbps() / 20.0 - 1.0).abs() < 0.05, "{found}");
    let rate = w.pacing_rate.as_mbps();
    assert!((0.7 * 20.0..1.3 * 20.0).contains(&rate), "{rate}");
}

/// §4.3.5: after ten seconds without a lower RTT, four segments for 200 ms; then the window is back.
#[test]
fn bbr_visits_probe_rtt_every_ten_seconds() {
    let (mut bbr, mut w) = (Bbr::default(), window(10));
    bbr.init(&mut w);
    let mut visits = Vec::new();
    let mut inside = false;
    while w.now < Instant::ZERO + Duration::from_secs(40) {
        let rtt = RTT + Duration::from_millis(1 + w.now.as_nanos() / 1_000_000_000);
        bbr_round(&mut bbr, &mut w, 20.0, rtt);
        if bbr.mode() == "probe_rtt" {
            assert!(w.cwnd <= 4);
            if !inside {
                visits.push(w.now.as_secs_f64());
            }
        }
        inside = bbr.mode() == "probe_rtt";
    }
    assert!((3..=4).contains(&visits.len()), "{visits:?}");
    assert!(
        visits.windows(2).all(|v| (v[1] - v[0] - 10.0).abs() < 1.5),
        "{visits:?}"
    );
    assert!(w.cwnd > 100, "{}", w.cwnd);
}

/// §4.2.3.4: after a time-out and recovery the window is what it was.
#[test]
fn bbr_restores_the_window_after_a_loss_episode() {
    let (mut bbr, mut w) = (Bbr::default(), window(10));
    bbr.init(&mut w);
    for _ in 0..40 {
        bbr_round(&mut bbr, &mut w, 20.0, RTT);
    }
    let before = w.cwnd;
    assert_eq!(bbr.ssthresh(&mut w), w.ssthresh);
    bbr.set_state(&mut w, CaState::Loss);
    w.state = CaState::Loss;
    w.cwnd = 1;
    bbr_round(&mut bbr, &mut w, 20.0, RTT);
    w.state = CaState::Open;
    bbr_round(&mut bbr, &mut w, 20.0, RTT);
    assert!(w.cwnd >= before, "{} after {before}", w.cwnd);
}

/// Linux `bbr_min_tso_segs`: single segments below 1.2 Mbit/s.
#[test]
fn bbr_sends_single_segments_at_low_rates() {
    let mut w = window(10);
    for (mbps, segments) in [(1.0, 1), (2.0, 2)] {
        w.pacing_rate = Rate::from_mbps(mbps);
        assert_eq!(Bbr::default().min_tso_segs(&w), segments);
    }
}

/// Linux `bbr_update_min_rtt`: what is sent in PROBE_RTT is marked as limited by the application, so that
/// 200 ms with four segments, more than ten rounds of a short path, do not end the estimate.
#[test]
fn a_probe_for_a_short_rtt_leaves_the_bandwidth_estimate_alone() {
    for rtt_ms in [5, 10, 18] {
        let mut path = path(100.0, Duration::from_millis(rtt_ms), 1);
        path.run_until(9.0);
        let before = path.cca.bottleneck_bandwidth().as_mbps();
        assert!(
            (95.0..102.0).contains(&before),
            "{rtt_ms} ms: {before} Mbit/s"
        );
        let (mut visits, mut inside, mut lowest) = (0, false, f64::MAX);
        while path.w.now < Instant::ZERO + Duration::from_secs(25) {
            path.step();
            lowest = lowest.min(path.cca.bottleneck_bandwidth().as_mbps());
            visits += u32::from(path.cca.mode() == "probe_rtt" && !inside);
            inside = path.cca.mode() == "probe_rtt";
        }
        assert!(visits >= 1, "{rtt_ms} ms: no visit");
        assert!(
            lowest > 0.95 * before,
            "{rtt_ms} ms: {before}, then {lowest} Mbit/s"
        );
    }
}

/// Linux `bbr_cwnd_event`: a transmission after an idle time ends a probe whose 200 ms are over, without
/// waiting for another round.
#[test]
fn idle_time_may_end_a_probe_for_the_rtt() {
    let mut path = path(20.0, Duration::from_millis(40), 1);
    while path.cca.mode() != "probe_rtt" || path.in_flight() > 4 {
        path.step();
        assert!(path.w.now < Instant::ZERO + Duration::from_secs(20));
    }
    path.take_ack();
    path.w.now += Duration::from_secs(1);
    path.w.inflight = 0;
    path.w.app_limited = true;
    path.cca.cwnd_event(&mut path.w, Event::TxStart);
    assert_eq!(path.cca.mode(), "probe_bw");
}

/// Linux `bbr_set_state`: a time-out is itself a lossy round of the policer model.
#[test]
fn a_time_out_counts_as_a_lossy_round_for_the_policer() {
    let mut path = path(20.0, Duration::from_millis(40), 1);
    path.run_until(2.0);
    let policed = |path: &mut Path<Bbr>| {
        for _ in 0..4 {
            path.w.now += Duration::from_millis(100);
            path.w.delivered_at = path.w.now;
            path.w.delivered += 25;
            path.w.lost += 25;
            path.cca.set_state(&mut path.w, CaState::Loss);
        }
    };
    for _ in 0..3 {
        policed(&mut path);
    }
    // 25 segments in 100 ms, whatever the estimate was.
    let rate = path.cca.bottleneck_bandwidth().as_mbps();
    assert!((2.5..4.0).contains(&rate), "{rate} Mbit/s");
}
