//! The congestion controls against their sources, on a path of steady RTT and rate.

use tcp::cca::cubic::{Cubic, CubicConfig};
use tcp::cca::slow_start::{HyStart, HyStartConfig};
use tcp::cca::{
    Ack, CaState, CongestionControl, Event, RateSample, SlowStart, Window, bbr::Bbr, reno::Reno,
};
use units::random::{Purpose, Stream};
use units::{Duration, Instant, Rate};

const RTT: Duration = Duration::from_millis(100);

fn window(cwnd: u32) -> Window {
    let mut window = Window::new(1448, cwnd, Stream::new(1, Purpose::CongestionControl, 0));
    window.cwnd_limited = true;
    window.srtt = RTT;
    window.min_rtt = RTT;
    window
}

/// One round trip of congestion avoidance: an ACK for each segment of the window.
fn round(cca: &mut dyn CongestionControl, w: &mut Window) {
    let segments = w.cwnd;
    for _ in 0..segments {
        w.now += RTT / u64::from(segments);
        cca.pkts_acked(
            w,
            &Ack {
                acked: 1,
                delivered: 1,
                rtt: Some(RTT),
                ..Ack::default()
            },
        );
        cca.cong_avoid(w, 1);
    }
}

/// RFC 5681 §3.1: one segment per round trip, half on loss, never below two.
#[test]
fn newreno_adds_one_and_halves() {
    let mut w = window(50);
    for expected in 51..60 {
        round(&mut Reno, &mut w);
        assert_eq!(w.cwnd, expected);
    }
    assert_eq!(Reno.ssthresh(&mut w), 29);
    assert_eq!(Reno.ssthresh(&mut window(3)), 2);
}

/// RFC 9438 §4.2: between losses the window follows W(t) = C(t − K)³ + Wmax, K = ∛(Wmax(1 − β)/C), a
/// round trip ahead.
#[test]
fn cubic_follows_its_function_between_losses() {
    let config = CubicConfig {
        reno_friendly: false,
        ..CubicConfig::default()
    };
    let mut cubic = Cubic::new(config);
    let mut w = window(400);
    cubic.init(&mut w);
    w.cwnd = cubic.ssthresh(&mut w);
    assert_eq!(w.cwnd, 280);
    let w_max: f64 = 400.0;
    let k = ((w_max - 280.0) / 0.4).cbrt();
    let start = w.now;
    while w.now < start + Duration::from_secs(12) {
        round(&mut cubic, &mut w);
        let t = (w.now - start).as_secs_f64();
        let law = |t: f64| 0.4 * (t - k).powi(3) + w_max;
        let (low, high) = (law(t - 0.15), law(t + 0.15));
        let found = f64::from(w.cwnd);
        assert!(
            found > 0.98 * low && found < 1.02 * high,
            "t {t}: {found}, law {low}..{high}"
        );
    }
}

/// RFC 9438 §4.6 and §4.7: beta is 0.7, and a window that lost before it reached the last maximum
/// gives way a little more.
#[test]
fn cubic_decreases_by_beta_and_converges_fast() {
    let mut cubic = Cubic::default();
    let mut w = window(1000);
    assert_eq!(cubic.ssthresh(&mut w), 700);
    w.cwnd = 800;
    cubic.ssthresh(&mut w);
    w.cwnd = 560;
    // Wmax is now 800·(1 + β)/2 ≈ 680: growth flattens there.
    for _ in 0..60 {
        round(&mut cubic, &mut w);
    }
    assert!((660..720).contains(&w.cwnd), "{}", w.cwnd);
}

/// RFC 9438 §4.3: where Reno would be faster, so is CUBIC: alpha = 3(1 − β)/(1 + β) per round trip.
#[test]
fn cubic_is_not_slower_than_reno_on_short_paths() {
    let rtt = Duration::from_millis(5);
    let mut cubic = Cubic::default();
    let mut w = window(40);
    w.cwnd = cubic.ssthresh(&mut w);
    let start = w.cwnd;
    for _ in 0..40 {
        for _ in 0..w.cwnd {
            w.now += rtt / u64::from(w.cwnd);
            cubic.cong_avoid(&mut w, 1);
        }
    }
    let alpha = 3.0 * (1.0 - 0.7) / (1.0 + 0.7);
    let expected = f64::from(start) + alpha * 40.0;
    assert!(
        (f64::from(w.cwnd) - expected).abs() < 4.0,
        "{} for {expected}",
        w.cwnd
    );
}

fn hystart_round(h: &mut HyStart, w: &mut Window, rtt: Duration, spacing: Duration) {
    w.snd_una = w.snd_nxt + 1;
    w.snd_nxt += u64::from(w.cwnd) * 1448;
    for _ in 0..w.cwnd {
        w.now += spacing;
        h.on_ack(
            w,
            &Ack {
                acked: 1,
                delivered: 1,
                rtt: Some(rtt),
                ..Ack::default()
            },
        );
    }
    w.now += RTT;
}

/// Ha and Rhee 2011 §4: a delay that rises by more than an eighth (4 to 16 ms) ends slow start, but not
/// below 16 segments.
#[test]
fn hystart_leaves_when_the_delay_rises() {
    let only_delay = HyStartConfig {
        ack_train: false,
        ..HyStartConfig::default()
    };
    let risen = RTT + Duration::from_millis(14);
    for (cwnd, rtt, leaves) in [
        (32, risen, true),
        (12, risen, false),
        (32, RTT + Duration::from_millis(9), false),
    ] {
        let (mut h, mut w) = (HyStart::new(only_delay), window(cwnd));
        h.reset(&mut w);
        hystart_round(&mut h, &mut w, RTT, Duration::from_millis(3));
        hystart_round(&mut h, &mut w, rtt, Duration::from_millis(3));
        assert_eq!(!w.in_slow_start(), leaves, "cwnd {cwnd}, RTT {rtt}");
    }
}

/// The same §: ACKs that come without a gap for half the lowest RTT fill the pipe.
#[test]
fn hystart_leaves_on_a_long_ack_train_and_at_the_third_detection_if_so_set() {
    for (detections, rounds) in [(1, 1), (3, 3)] {
        let config = HyStartConfig {
            detections,
            delay: false,
            ..HyStartConfig::default()
        };
        let (mut h, mut w) = (HyStart::new(config), window(100));
        h.reset(&mut w);
        let mut needed = 0;
        while w.in_slow_start() && needed < 10 {
            hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
            needed += 1;
        }
        assert_eq!(needed, rounds, "{detections} detections");
    }
}

/// Linux `hystart_update`: once the end is found, a slow start after an idle time looks for it no more; one
/// after a time-out does.
#[test]
fn hystart_finds_the_end_once_until_a_time_out() {
    let (mut h, mut w) = (HyStart::default(), window(100));
    h.reset(&mut w);
    hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    assert_eq!(w.ssthresh, 100);
    w.ssthresh = 200;
    for _ in 0..3 {
        hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    }
    assert_eq!(w.ssthresh, 200);
    h.reset(&mut w);
    hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    assert_eq!(w.ssthresh, 100);
}

/// RFC 9438 §4.2 and Linux `cubictcp_cwnd_event_tx_start`: time without sending is not time on the curve.
#[test]
fn cubic_goes_on_where_it_stopped_after_an_idle_time() {
    let grown = |idle: Duration| {
        let (mut cubic, mut w) = (Cubic::default(), window(400));
        w.cwnd = cubic.ssthresh(&mut w);
        for _ in 0..20 {
            round(&mut cubic, &mut w);
        }
        w.last_sent = w.now;
        w.now += idle;
        cubic.cwnd_event(&mut w, Event::TxStart);
        for _ in 0..20 {
            round(&mut cubic, &mut w);
        }
        w.cwnd
    };
    assert_eq!(grown(Duration::ZERO), grown(Duration::from_secs(5)));
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
