//! CUBIC against RFC 9438.

use tcp::cca::cubic::{Cubic, CubicConfig};
use tcp::cca::{CongestionControl, Event};
use units::Duration;

use crate::lab::{round, window};

/// RFC 9438 §4.2: between losses the window follows W(t) = C(t − K)³ + Wmax, K = ∛(Wmax(1 − β)/C), a
/// round trip ahead.
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
