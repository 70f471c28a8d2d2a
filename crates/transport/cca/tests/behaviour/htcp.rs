//! H-TCP compared with draft-leith-tcp-htcp-06 and with Linux.

use cca::htcp::{Htcp, HtcpConfig};
use cca::{CaState, CongestionControl, Window};
use units::Duration;

use crate::lab::RTT;
use crate::rounds::{full_window, round};

fn lose(htcp: &mut Htcp, w: &mut Window) {
    w.ssthresh = htcp.ssthresh(w);
    w.prior_cwnd = w.cwnd;
    for state in [CaState::Recovery, CaState::Open] {
        htcp.set_state(w, state);
        w.state = state;
    }
    w.cwnd = w.ssthresh;
    w.cwnd_cnt = 0;
}

fn settled(config: HtcpConfig, cwnd: u32) -> (Htcp, Window) {
    let (mut htcp, mut w) = (Htcp::new(config), full_window(cwnd));
    htcp.init(&mut w);
    (htcp, w)
}

/// In the first second after a loss growth is one segment per round trip, as in Reno. After Δ more seconds it
/// is 1 + 10 Δ + (Δ/2)², times 2 (1 − β) = 1.
#[test]
fn htcp_grows_by_the_time_since_the_loss() {
    let (mut htcp, mut w) = settled(HtcpConfig::default(), 2_000);
    let start = w.now;
    let mut previous = w.cwnd;
    for _ in 0..80 {
        round(&mut htcp, &mut w, RTT);
        let t = (w.now - start).as_secs_f64();
        let law = |t: f64| {
            let delta = (t - 1.0).max(0.0);
            1.0 + 10.0 * delta + delta * delta / 4.0
        };
        let added = f64::from(w.cwnd - previous);
        previous = w.cwnd;
        assert!(
            (law(t - 0.25).floor() - 1.0..=law(t) + 1.0).contains(&added),
            "{added} at {t}, law {}",
            law(t)
        );
    }
}

/// Growth is scaled by the RTT over 100 ms, between 1/10 and 2, so that growth over time is the same for all
/// RTTs.
#[test]
fn htcp_scales_growth_by_the_rtt() {
    let alpha = |use_rtt_scaling, rtt| {
        let (mut htcp, mut w) = settled(
            HtcpConfig {
                use_rtt_scaling,
                ..HtcpConfig::default()
            },
            50,
        );
        let start = w.now;
        while w.now < start + Duration::from_secs(11) {
            round(&mut htcp, &mut w, rtt);
            w.cwnd = 50;
        }
        htcp.alpha()
    };
    let ms = Duration::from_millis;
    let base = f64::from(alpha(true, ms(100)));
    assert!((f64::from(alpha(true, ms(200))) / base - 2.0).abs() < 0.1);
    assert!((f64::from(alpha(true, ms(50))) / base - 0.5).abs() < 0.05);
    assert!((f64::from(alpha(true, ms(400))) / base - 2.0).abs() < 0.2);
    let (short, long) = (alpha(false, ms(50)), alpha(false, ms(200)));
    assert!(short.abs_diff(long) < long / 10, "{short} and {long}");
}

/// Once two losses have occurred at about the same rate, a loss leaves RTTmin / RTTmax of the window, between
/// 0.5 and 0.8.
#[test]
fn htcp_reduces_by_the_queue() {
    for (queue_ms, left) in [(40, 100.0 / 140.0), (300, 0.5), (5, 0.8)] {
        let (mut htcp, mut w) = settled(HtcpConfig::default(), 100);
        let mut share = 0.0;
        for _ in 0..5 {
            w.cwnd = 100;
            for _ in 0..8 {
                round(&mut htcp, &mut w, RTT);
                w.cwnd = 100;
            }
            // The queue fills in steps: the highest RTT rises by at most 20 ms at a time.
            for queue in (0..=queue_ms).step_by(5) {
                round(&mut htcp, &mut w, RTT + Duration::from_millis(queue));
                w.cwnd = 100;
            }
            lose(&mut htcp, &mut w);
            share = f64::from(w.cwnd) / 100.0;
        }
        assert!((share - left).abs() < 0.03, "{share} for {left}");
    }
}

/// Bandwidth switch: if the rate has changed by more than a fifth, a loss takes half.
#[test]
fn htcp_halves_when_the_rate_has_changed() {
    let share_after = |cwnd, use_bandwidth_switch| {
        let (mut htcp, mut w) = settled(
            HtcpConfig {
                use_bandwidth_switch,
                ..HtcpConfig::default()
            },
            100,
        );
        for window in [100, 100, 100, cwnd] {
            for _ in 0..12 {
                w.cwnd = window;
                round(&mut htcp, &mut w, RTT);
            }
            w.cwnd = window;
            lose(&mut htcp, &mut w);
        }
        f64::from(htcp.beta()) / 128.0
    };
    assert!(share_after(100, true) > 0.75);
    assert!(share_after(150, true) < 0.51);
    assert!(share_after(150, false) > 0.75);
}

/// Linux `htcp_cwnd_undo`: an undone loss does not reset the time since the last loss.
#[test]
fn an_undone_loss_does_not_reset_the_growth_of_htcp() {
    let (mut htcp, mut w) = settled(HtcpConfig::default(), 500);
    for _ in 0..30 {
        round(&mut htcp, &mut w, RTT);
    }
    let (before, alpha) = (w.cwnd, htcp.alpha());
    w.prior_cwnd = w.cwnd;
    w.ssthresh = htcp.ssthresh(&mut w);
    htcp.set_state(&mut w, CaState::Recovery);
    w.state = CaState::Recovery;
    w.cwnd = w.ssthresh;
    w.cwnd = htcp.undo_cwnd(&mut w);
    assert_eq!(w.cwnd, before);
    htcp.set_state(&mut w, CaState::Open);
    w.state = CaState::Open;
    round(&mut htcp, &mut w, RTT);
    assert!(htcp.alpha() >= alpha, "{} after {alpha}", htcp.alpha());
}
