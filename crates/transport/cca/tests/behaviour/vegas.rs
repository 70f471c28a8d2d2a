//! Vegas compared with Brakmo and Peterson 1995 and with Linux.

use cca::vegas::{Vegas, VegasConfig};
use cca::{CaState, CongestionControl, Event, INFINITE_SSTHRESH, Window};
use units::Duration;

use crate::rounds::{full_window, round};

const BASE: Duration = Duration::from_millis(100);

/// Returns a Vegas that knows the base RTT, with `cwnd` segments in flight.
fn vegas(config: VegasConfig, cwnd: u32) -> (Vegas, Window) {
    let (mut vegas, mut w) = (Vegas::new(config), full_window(cwnd));
    vegas.init(&mut w);
    round(&mut vegas, &mut w, BASE);
    w.cwnd = cwnd;
    (vegas, w)
}

/// Returns the RTT at which `waiting` of `cwnd` segments are queued: Diff = cwnd (RTT - base) / base.
fn rtt_with(waiting: u64, cwnd: u32) -> Duration {
    BASE + BASE * waiting / u64::from(cwnd) + Duration::from_micros(100)
}

/// Brakmo and Peterson 1995 §IV.B: one segment more per round trip below alpha, one less above beta, none in
/// between.
#[test]
fn vegas_keeps_between_alpha_and_beta_segments_queued() {
    for (waiting, change) in [(0, 1), (1, 1), (2, 0), (3, 0), (4, 0), (5, -1), (20, -1)] {
        let (mut vegas, mut w) = vegas(VegasConfig::default(), 50);
        let rtt = rtt_with(waiting, 50);
        // The first round still contains samples of the base RTT.
        round(&mut vegas, &mut w, rtt);
        let before = i64::from(w.cwnd);
        round(&mut vegas, &mut w, rtt);
        assert_eq!(i64::from(w.cwnd) - before, change, "{waiting} waiting");
    }
}

/// §IV.B: on a link of 50 segments per base RTT the window settles with alpha to beta segments queued.
#[test]
fn vegas_settles_where_the_queue_is_between_alpha_and_beta() {
    for start in [20_u32, 50, 90] {
        let (mut vegas, mut w) = vegas(VegasConfig::default(), start);
        for _ in 0..100 {
            let rtt = BASE.scaled(u64::from(w.cwnd.max(50)), 50);
            round(&mut vegas, &mut w, rtt);
        }
        assert!((52..=54).contains(&w.cwnd), "from {start}: {}", w.cwnd);
    }
}

/// §IV.C and Linux `tcp_vegas_cong_avoid`: more than gamma queued segments end slow start, at the window that
/// fills the path at the measured rate.
#[test]
fn vegas_leaves_slow_start_when_a_queue_builds() {
    let (mut vegas, mut w) = vegas(VegasConfig::default(), 40);
    w.ssthresh = INFINITE_SSTHRESH;
    round(&mut vegas, &mut w, BASE);
    assert!(w.in_slow_start());
    assert!(w.cwnd >= 79, "{}", w.cwnd);
    let rtt = BASE * 2;
    round(&mut vegas, &mut w, rtt);
    let full = w.cwnd;
    round(&mut vegas, &mut w, rtt);
    assert!(!w.in_slow_start());
    assert!(w.cwnd < full * 6 / 10, "{} of {full}", w.cwnd);
}

/// §IV.C: in the paper slow start grows only in every other round trip, to compare the rates.
#[test]
fn vegas_may_pause_in_every_other_round_of_slow_start() {
    let grown = |slow_start_pauses| {
        let config = VegasConfig {
            slow_start_pauses,
            ..VegasConfig::default()
        };
        let (mut vegas, mut w) = vegas(config, 4);
        w.ssthresh = INFINITE_SSTHRESH;
        for _ in 0..6 {
            round(&mut vegas, &mut w, BASE);
        }
        w.cwnd
    };
    assert!(grown(false) >= 4 * 60, "{}", grown(false));
    assert!((20..=80).contains(&grown(true)), "{}", grown(true));
}

/// Linux `tcp_vegas_state`: Vegas grows like Reno during loss recovery, and the window is halved.
#[test]
fn vegas_is_reno_in_loss_recovery() {
    let (mut vegas, mut w) = vegas(VegasConfig::default(), 50);
    assert_eq!(vegas.ssthresh(&mut w), 25);
    vegas.set_state(&mut w, CaState::Disorder);
    for _ in 0..4 {
        round(&mut vegas, &mut w, BASE * 2);
    }
    assert_eq!(w.cwnd, 54);
}

/// Linux `tcp_vegas_cong_avoid`: fewer than three RTT samples may all come from delayed ACKs, so Vegas grows
/// like Reno.
#[test]
fn vegas_needs_three_rtt_samples() {
    let (mut vegas, mut w) = vegas(VegasConfig::default(), 2);
    w.ssthresh = 2;
    for _ in 0..2 {
        round(&mut vegas, &mut w, BASE * 3);
    }
    assert_eq!(
        w.cwnd, 3,
        "a queue of more than beta would have kept it at 2"
    );
}

/// Linux `tcp_vegas_cwnd_event`: the base RTT is measured anew after an idle time.
#[test]
fn vegas_resets_the_base_rtt_after_idle_time() {
    let shrinks = |idle: bool| {
        let (mut vegas, mut w) = vegas(VegasConfig::default(), 50);
        if idle {
            vegas.cwnd_event(&mut w, Event::TxStart);
        }
        for _ in 0..3 {
            round(&mut vegas, &mut w, BASE * 2);
        }
        w.cwnd < 50
    };
    assert!(shrinks(false));
    assert!(!shrinks(true));
}
