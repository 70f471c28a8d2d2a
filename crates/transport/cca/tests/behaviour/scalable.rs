//! Scalable TCP compared with Kelly 2003.

use cca::CongestionControl;
use cca::scalable::{Scalable, ScalableConfig};

use crate::lab::RTT;
use crate::rounds::{full_window, round};

/// Kelly 2003: 0.01 of a segment for each acknowledged one, which is 1 % of the window per round trip for any
/// window; a loss takes an eighth.
#[test]
fn scalable_grows_by_a_percent_and_reduces_by_an_eighth() {
    for cwnd in [200, 1_000, 5_000] {
        let (mut scalable, mut w) = (Scalable::default(), full_window(cwnd));
        for _ in 0..10 {
            round(&mut scalable, &mut w, RTT);
        }
        let grown = f64::from(w.cwnd) / f64::from(cwnd);
        assert!((grown - 1.01_f64.powi(10)).abs() < 0.01, "{grown}");
        w.cwnd = cwnd;
        assert_eq!(scalable.ssthresh(&mut w), cwnd - cwnd / 8);
    }
}

/// The round trips to recover from a loss do not depend on the window: log(1 − b) / log(1 + a), which is
/// 13.4.
#[test]
fn scalable_recovers_within_fourteen_round_trips() {
    for cwnd in [400, 4_000] {
        let (mut scalable, mut w) = (Scalable::default(), full_window(cwnd));
        w.cwnd = scalable.ssthresh(&mut w);
        w.ssthresh = w.cwnd;
        let mut rounds = 0;
        while w.cwnd < cwnd {
            round(&mut scalable, &mut w, RTT);
            rounds += 1;
        }
        assert_eq!(rounds, 14, "from {cwnd}");
    }
}

/// Linux `tcp_scalable_cong_avoid`: up to a hundred segments one more per round trip, like Reno. With the
/// lwnd of Kelly 2003 a loss there takes half.
#[test]
fn scalable_is_reno_where_the_window_is_small() {
    let (mut scalable, mut w) = (Scalable::default(), full_window(50));
    round(&mut scalable, &mut w, RTT);
    assert_eq!(w.cwnd, 51);
    assert_eq!(scalable.ssthresh(&mut full_window(16)), 14);
    let mut as_published = Scalable::new(ScalableConfig {
        legacy_window: 16,
        ..ScalableConfig::default()
    });
    assert_eq!(as_published.ssthresh(&mut full_window(16)), 8);
    assert_eq!(as_published.ssthresh(&mut full_window(17)), 15);
}
