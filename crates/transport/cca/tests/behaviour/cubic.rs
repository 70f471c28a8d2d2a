//! CUBIC compared with RFC 9438.

use cca::cubic::{Cubic, CubicConfig, Kernel};
use cca::{AckSample, CongestionControl, Event, TransferState};
use units::Duration;

use crate::lab::{RTT, round, window};

/// RFC 9438 §4.2: between losses the window follows W(t) = C(t − K)³ + Wmax, K = ∛(Wmax(1 − β)/C), one round
/// trip ahead.
#[test]
fn cubic_follows_its_function_between_losses() {
    let config = CubicConfig {
        tcp_friendliness: false,
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
        let result = f64::from(w.cwnd);
        assert!(
            result > 0.98 * low && result < 1.02 * high,
            "t {t}: {result}, law {low}..{high}"
        );
    }
}

/// RFC 9438 §4.6 and §4.7: beta is 0.7, and a window that lost before it reached the last maximum is reduced
/// a little more.
#[test]
fn cubic_decreases_by_beta_and_converges_fast() {
    let mut cubic = Cubic::default();
    let mut w = window(1000);
    assert_eq!(cubic.ssthresh(&mut w), 700);
    w.cwnd = 800;
    cubic.ssthresh(&mut w);
    w.cwnd = 560;
    // Wmax is now 800·(1 + β)/2 ≈ 680, where growth becomes flat.
    for _ in 0..60 {
        round(&mut cubic, &mut w);
    }
    assert!((660..720).contains(&w.cwnd), "{}", w.cwnd);
}

/// RFC 9438 §4.3: CUBIC is as fast as Reno where Reno is faster: alpha = 3(1 − β)/(1 + β) per round trip.
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

/// RFC 9438 §4.2 and Linux `cubictcp_cwnd_event_tx_start`: idle time does not count as time on the curve.
#[test]
fn cubic_excludes_idle_time_from_the_curve() {
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

/// Growth over 20 round trips after a loss at 100 segments, with ACKs of `acked` segments.
fn grown_after_loss(kernel: Kernel, acked: u32) -> u32 {
    let config = CubicConfig {
        kernel,
        ..CubicConfig::default()
    };
    let (mut cubic, mut w) = (Cubic::new(config), window(100));
    w.cwnd = cubic.ssthresh(&mut w);
    for _ in 0..20 {
        let acks = w.cwnd / acked;
        for _ in 0..acks {
            w.now += RTT / u64::from(acks);
            let sample = AckSample {
                acked,
                rtt: Some(RTT),
                in_flight: w.cwnd,
            };
            cubic.pkts_acked(&mut w, &sample);
            cubic.cong_avoid(&mut w, acked);
        }
    }
    w.cwnd
}

/// Linux 3.19 `bictcp_update` and `tcp_cong_avoid_ai`: an ACK adds at most one segment. Stretch ACKs of 40
/// segments exceed the 32 that it corrects for and slow growth down; later kernels count segments.
#[test]
fn cubic_of_linux_3_19_is_slow_on_stretch_acks() {
    let (then, now) = (Kernel::Linux3_19, Kernel::Current);
    let (each, stretched) = (grown_after_loss(then, 1), grown_after_loss(then, 40));
    assert!(stretched + 8 < each, "{stretched} for {each}");
    let (each, stretched) = (grown_after_loss(now, 1), grown_after_loss(now, 40));
    assert!(stretched.abs_diff(each) < 8, "{stretched} for {each}");
}

/// Linux 3.19 counts an idle time as time on the curve, so that the window jumps afterwards.
#[test]
fn cubic_of_linux_3_19_jumps_after_an_idle_time() {
    let grown = |kernel| {
        let config = CubicConfig {
            kernel,
            ..CubicConfig::default()
        };
        let (mut cubic, mut w) = (Cubic::new(config), window(400));
        w.cwnd = cubic.ssthresh(&mut w);
        for _ in 0..20 {
            round(&mut cubic, &mut w);
        }
        w.last_sent = w.now;
        w.now += Duration::from_secs(15);
        cubic.cwnd_event(&mut w, Event::TxStart);
        for _ in 0..10 {
            round(&mut cubic, &mut w);
        }
        w.cwnd
    };
    let (then, now) = (grown(Kernel::Linux3_19), grown(Kernel::Current));
    assert!(then > now + 300, "{then} {now}");
}

/// atxutegi2018 §6: after a switch by context the window stays near the window of the context, as after a
/// reduction from there (RFC 9438 §4.2); without the context it grows by 5 % per round trip.
#[test]
fn a_switch_by_context_starts_at_the_flat_part_of_the_curve() {
    let grown = |by_context: bool| {
        let (mut cubic, mut w) = (Cubic::default(), window(200));
        cubic.init(&mut w);
        if by_context {
            let context = TransferState {
                cwnd: 200,
                ssthresh: 200,
                srtt: RTT,
                min_rtt: RTT,
                pacing_rate: w.pacing_rate,
            };
            cubic.seed(&mut w, &context);
        }
        for _ in 0..20 {
            round(&mut cubic, &mut w);
        }
        w.cwnd
    };
    assert!(grown(true) < 230, "{}", grown(true));
    assert!(grown(false) > 400, "{}", grown(false));
}
