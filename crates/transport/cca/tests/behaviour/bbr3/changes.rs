//! Tests on paths that are tiny, that change or that have a policer.

use cca::bbr3::Bbr3;
use units::{Bytes, Duration, Rate};

use super::{found, goodput_until, path};
use crate::path::{MSS, Path, Policer};

/// Appendix A.14, §5.6.4.3: four segments are in flight even if the BDP is less than one.
#[test]
fn four_segments_are_in_flight_on_a_tiny_path() {
    let mut path = Path::new(
        Bbr3::new(Default::default()),
        0.3,
        Duration::from_millis(10),
        1,
    );
    path.run_until(20.0);
    let goodput = goodput_until(&mut path, 24.0);
    assert!(path.w.cwnd >= 4, "{}", path.w.cwnd);
    assert!(goodput > 0.9 * 0.3, "{goodput}");
    let rate = path.w.pacing_rate.as_mbps();
    assert!((0.2..0.5).contains(&rate), "{rate}");
}

/// Appendix A.15, §5.3.3.5: ten times the bandwidth is found within the rounds of two probes.
#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut path = path(10.0);
    path.run_until(6.0);
    path.rate = Rate::from_mbps(100.0);
    path.run_while_not(12, |p| found(p) > 95.0);
}

/// Appendix A.16: a tenth of the bandwidth appears at once in the short-term bounds, and after two cycles in
/// the maximum.
#[test]
fn a_tenth_of_the_bandwidth_is_found_within_two_cycles() {
    let mut path = path(100.0);
    path.buffer = u64::from(path.bdp());
    path.run_until(6.0);
    assert!(found(&path) > 95.0, "{}", found(&path));
    path.rate = Rate::from_mbps(10.0);
    path.run_while_not(2, |p| {
        let bound = p.cca.bandwidth_shortterm(MSS);
        bound.is_some_and(|rate| rate.as_mbps() < 75.0)
    });
    path.run_while_not(10, |p| found(p) < 10.5);
}

/// Appendix A.17: behind a token bucket the flow comes to send at the rate of the bucket.
#[test]
fn the_rate_of_a_policer_is_found() {
    let mut path = path(100.0);
    path.policer = Some(Policer::new(Rate::from_mbps(10.0), Bytes::new(200_000)));
    let mut bounded = false;
    while path.w.now.as_secs_f64() < 10.0 {
        path.step();
        bounded |= path.cca.inflight_shortterm().is_some();
    }
    assert!(bounded);
    let (lost, sent) = (path.w.lost, path.sent);
    let goodput = goodput_until(&mut path, 40.0);
    let share = (path.w.lost - lost) as f64 / (path.sent - sent) as f64;
    assert!(share < 0.1, "{share} lost");
    assert!(goodput > 0.75 * 10.0, "{goodput} Mbit/s");
}
