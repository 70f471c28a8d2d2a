//! LEDBAT compared with RFC 6817.

use cca::ledbat::{Ledbat, LedbatConfig};
use cca::slow_start::Standard;
use cca::{AckSample, CongestionControl, INFINITE_SSTHRESH, Window};
use units::Duration;

use crate::rounds::{full_window, round};

const MS: Duration = Duration::from_millis(1);
const BASE: Duration = Duration::from_millis(100);

/// Returns a LEDBAT that knows the base delay, with `cwnd` segments in flight.
fn ledbat(config: LedbatConfig, cwnd: u32) -> (Ledbat, Window) {
    let (mut ledbat, mut w) = (Ledbat::new(config), full_window(cwnd));
    w.delivered = 1;
    ledbat.init(&mut w);
    round(&mut ledbat, &mut w, BASE);
    w.cwnd = cwnd;
    (ledbat, w)
}

/// §2.4.2: cwnd += GAIN · off_target · bytes_newly_acked · MSS / cwnd. That is a segment per round trip with
/// an empty queue, half of one at half the target, none at the target, minus one at twice the target.
#[test]
fn ledbat_moves_by_its_distance_from_the_target() {
    for (queueing, change) in [(0, 10.0), (50, 5.0), (100, 0.0), (200, -10.0)] {
        let (mut ledbat, mut w) = ledbat(LedbatConfig::default(), 100);
        let rtt = BASE + MS * queueing;
        // The current delay is the lowest of four.
        for _ in 0..4 {
            round(&mut ledbat, &mut w, rtt);
        }
        w.cwnd = 100;
        for _ in 0..10 {
            round(&mut ledbat, &mut w, rtt);
        }
        let moved = f64::from(w.cwnd) - 100.0;
        assert!((moved - change).abs() <= 1.5, "{queueing} ms: {moved}");
    }
}

/// §2.5: GAIN scales the reaction, TARGET is the delay at which its sign changes.
#[test]
fn gain_and_target_of_ledbat_take_effect() {
    let moved = |gain, target, queueing| {
        let config = LedbatConfig {
            gain,
            target,
            ..LedbatConfig::default()
        };
        let (mut ledbat, mut w) = ledbat(config, 100);
        for _ in 0..10 {
            round(&mut ledbat, &mut w, BASE + MS * queueing);
        }
        i64::from(w.cwnd) - 100
    };
    assert!((9..=10).contains(&moved(1.0, MS * 100, 0)));
    assert!((4..=5).contains(&moved(0.5, MS * 100, 0)));
    assert!(moved(1.0, MS * 25, 50) < -5);
    assert!(moved(1.0, MS * 60, 50) > 0);
}

/// On a link of 50 segments per base RTT the queueing delay settles at the target.
#[test]
fn ledbat_settles_at_the_target() {
    for start in [20, 200] {
        let (mut ledbat, mut w) = ledbat(LedbatConfig::default(), start);
        for _ in 0..400 {
            let rtt = BASE.scaled(u64::from(w.cwnd.max(50)), 50);
            round(&mut ledbat, &mut w, rtt);
        }
        // 100 segments: 50 on the path, 50 in a queue of 100 ms.
        assert!((98..=102).contains(&w.cwnd), "from {start}: {}", w.cwnd);
    }
}

/// §2.4.2: with timestamps, delay on the return path does not count; without them the RTT stands for the
/// delay.
#[test]
fn ledbat_measures_one_way_delays_with_timestamps() {
    let queueing = |timestamps: bool| {
        let (mut ledbat, mut w) = (Ledbat::new(Default::default()), full_window(40));
        ledbat.init(&mut w);
        for rtt in [100, 100, 100, 100, 250, 250, 250, 250] {
            let now = w.clock_ms();
            // 50 ms on the forward path, the rest on the return path.
            w.timestamps = timestamps
                .then(|| (now - rtt + 50 + 7_777, now - rtt))
                .into();
            let sample = AckSample {
                acked: 1,
                rtt: Some(MS * u64::from(rtt)),
                in_flight: 40,
            };
            ledbat.pkts_acked(&mut w, &sample);
            w.now += MS * 10;
        }
        ledbat.queueing_delay()
    };
    assert_eq!(queueing(true), 0);
    assert_eq!(queueing(false), 150_000);
}

/// §2.4.2: a loss halves the window, but not below MIN_CWND.
#[test]
fn ledbat_halves_at_a_loss() {
    let (mut ledbat, mut w) = ledbat(LedbatConfig::default(), 40);
    assert_eq!(ledbat.ssthresh(&mut w), 20);
    w.cwnd = 3;
    assert_eq!(ledbat.ssthresh(&mut w), 2);
}

/// §2.4.2: the window exceeds the segments in flight by at most ALLOWED_INCREASE.
#[test]
fn ledbat_reduces_an_unused_window() {
    let (mut ledbat, mut w) = ledbat(LedbatConfig::default(), 40);
    w.inflight = 9;
    ledbat.grow(&mut w, &mut Standard, 1);
    assert_eq!(w.cwnd, 11);
}

/// §2.5: a new connection starts with INIT_CWND segments and without slow start; that of LEDBAT++ ends at
/// three quarters of the target.
#[test]
fn ledbat_has_slow_start_only_if_configured() {
    let started = |slow_start_share: f64| {
        let config = LedbatConfig {
            slow_start_share,
            ..LedbatConfig::default()
        };
        let (mut ledbat, mut w) = (Ledbat::new(config), full_window(10));
        w.ssthresh = INFINITE_SSTHRESH;
        ledbat.init(&mut w);
        assert_eq!(w.cwnd, 2);
        let mut most = 0;
        for _ in 0..30 {
            let rtt = BASE.scaled(u64::from(w.cwnd.max(50)), 50);
            round(&mut ledbat, &mut w, rtt);
            most = most.max(w.cwnd);
        }
        (w.in_slow_start(), most)
    };
    let (starting, most) = started(0.0);
    assert!(!starting);
    assert!((28..=34).contains(&most), "{most}");
    let (starting, most) = started(0.75);
    assert!(!starting);
    assert!((88..=200).contains(&most), "{most}");
}
