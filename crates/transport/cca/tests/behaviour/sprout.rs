//! Forecast controller on a bottleneck, compared with NSDI 2013 where it follows it.

use cca::sprout::{Sprout, SproutConfig};
use cca::{CaState, CongestionControl, TransferState};
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::window;
use crate::path::{MSS, Path};

const RTT: Duration = Duration::from_millis(40);

fn path(mbps: f64) -> Path<Sprout> {
    Path::new(Sprout::new(Default::default()), mbps, RTT, 1)
}

/// Returns the goodput until `seconds`, Mbit/s, and the mean queueing delay at the samples, ms.
fn measure(path: &mut Path<Sprout>, seconds: f64) -> (f64, f64) {
    let (from, before) = (path.w.now, path.w.delivered);
    let (mut waits, mut samples) = (0.0, 0);
    while path.w.now.as_secs_f64() < seconds {
        path.step();
        waits += path.queueing().as_secs_f64() * 1e3;
        samples += 1;
    }
    let bits = (path.w.delivered - before) as f64 * f64::from(MSS) * 8.0;
    let goodput = bits / path.w.now.saturating_since(from).as_secs_f64() / 1e6;
    (goodput, waits / f64::from(samples))
}

/// On a steady link it uses the rate, and the queueing delay stays below the target of 100 ms.
#[test]
fn a_steady_link_is_used_with_a_delay_below_the_target() {
    for mbps in [1.0, 5.0, 20.0, 100.0] {
        let mut path = path(mbps);
        path.run_until(5.0);
        let (goodput, wait) = measure(&mut path, 15.0);
        assert!(goodput > 0.85 * mbps, "{mbps}: {goodput} Mbit/s");
        assert!(wait < 90.0, "{mbps}: {wait} ms");
        let expected = path.cca.expected_rate() * f64::from(MSS) * 8.0 / 1e6;
        assert!((expected / mbps - 1.0).abs() < 0.35, "{mbps}: {expected}");
    }
}

/// A rate that falls to a fifth is found within a few hundred milliseconds.
#[test]
fn the_window_follows_a_link_that_becomes_slow() {
    let mut path = path(20.0);
    path.run_until(5.0);
    let before = path.w.cwnd;
    path.rate = Rate::from_mbps(4.0);
    path.run_until(5.6);
    assert!(path.w.cwnd < before / 2, "{before}, then {}", path.w.cwnd);
    let (_, wait) = measure(&mut path, 12.0);
    assert!(wait < 100.0, "{wait} ms");
}

/// A rate that becomes five times as high is found.
#[test]
fn the_window_follows_a_link_that_becomes_fast() {
    let mut path = path(4.0);
    path.run_until(5.0);
    path.rate = Rate::from_mbps(20.0);
    path.run_until(7.0);
    let (goodput, _) = measure(&mut path, 10.0);
    assert!(goodput > 0.85 * 20.0, "{goodput} Mbit/s");
}

/// More confidence means less in flight.
#[test]
fn more_confidence_makes_the_window_smaller() {
    let mean_window = |confidence: f64| {
        let config = SproutConfig {
            confidence,
            ..SproutConfig::default()
        };
        let mut path = Path::new(Sprout::new(config), 10.0, RTT, 1);
        path.run_until(5.0);
        let (mut sum, mut count) = (0, 0);
        while path.w.now.as_secs_f64() < 10.0 {
            path.step();
            sum += u64::from(path.w.cwnd);
            count += 1;
        }
        sum / count
    };
    let (bold, cautious) = (mean_window(0.5), mean_window(0.95));
    assert!(cautious < bold * 9 / 10, "{cautious}, {bold}");
}

/// Neither an outage nor a time-out stalls the flow.
#[test]
fn the_window_has_a_lower_bound() {
    let mut path = path(10.0);
    path.run_until(3.0);
    path.outage(Duration::from_secs(4));
    path.run_until(8.0);
    assert!(path.w.cwnd >= 4, "{}", path.w.cwnd);
    path.w.cwnd = 1;
    path.enter(CaState::Loss);
    path.run_until(8.5);
    path.enter(CaState::Open);
    let (goodput, _) = measure(&mut path, 15.0);
    assert!(goodput > 0.85 * 10.0, "{goodput} Mbit/s");
}

/// An application that sends little does not lower the estimated rate.
#[test]
fn an_application_limit_does_not_lower_the_estimate() {
    let mut path = path(10.0);
    path.run_until(5.0);
    let before = path.cca.expected_rate();
    path.app_rate = Some(Rate::from_mbps(1.0));
    path.run_until(10.0);
    let after = path.cca.expected_rate();
    assert!(after > 0.5 * before, "{before}, then {after}");
}

/// Switch by context: the distribution starts at the transferred rate.
#[test]
fn a_switch_by_context_sets_the_belief() {
    let mut w = window(100);
    w.now = Instant::ZERO + Duration::from_secs(10);
    let per_second = Bytes::new(1000 * u64::from(MSS));
    let context = TransferState {
        cwnd: 100,
        ssthresh: 100,
        srtt: Duration::from_millis(150),
        min_rtt: Duration::from_millis(100),
        pacing_rate: Rate::of(per_second, Duration::from_secs(1)),
    };
    let mut sprout = Sprout::new(Default::default());
    sprout.init(&mut w);
    sprout.seed(&mut w, &context);
    let expected = sprout.expected_rate();
    assert!((expected / 1000.0 - 1.0).abs() < 0.05, "{expected}");
    // 200 ms at 1000 segments per second, less the margin of the confidence.
    assert!((120..200).contains(&w.cwnd), "{}", w.cwnd);
}
