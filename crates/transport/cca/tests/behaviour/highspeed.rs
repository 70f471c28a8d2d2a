//! HighSpeed TCP compared with RFC 3649.

use cca::CongestionControl;
use cca::highspeed::{HighSpeed, HighSpeedConfig};

use crate::lab::RTT;
use crate::rounds::{full_window, round};

/// Rows of RFC 3649 appendix B: window, a(w), b(w) in hundredths.
const APPENDIX_B: [(u32, u32, u32); 14] = [
    (38, 1, 50),
    (118, 2, 44),
    (221, 3, 41),
    (347, 4, 38),
    (495, 5, 37),
    (663, 6, 35),
    (1_058, 8, 33),
    (2_076, 12, 29),
    (5_036, 20, 25),
    (10_661, 30, 21),
    (18_955, 40, 18),
    (30_975, 50, 15),
    (51_258, 61, 13),
    (84_035, 71, 10),
];

/// Appendix B, to within half a percent of its windows.
#[test]
fn highspeed_has_the_table_of_the_rfc() {
    let config = HighSpeedConfig::default();
    for (window, growth, decrease) in APPENDIX_B {
        let end = config.row_end(growth);
        let away = f64::from(end.abs_diff(window)) / f64::from(window);
        assert!(away < 0.005, "row {growth} ends at {end} for {window}");
        let share = f64::from(config.row_decrease(growth)) / 2.56;
        assert!(
            (share - f64::from(decrease)).abs() <= 1.0,
            "{share} for {decrease}"
        );
        assert_eq!(config.row_at(end), growth);
        assert_eq!(config.row_at(end + 1), growth + 1);
    }
}

/// §5: up to 38 segments it is Standard TCP; at 83,000 it adds about 70 segments per round trip and reduces
/// by a tenth.
#[test]
fn highspeed_grows_faster_and_reduces_less_in_larger_windows() {
    let (mut highspeed, mut w) = (HighSpeed::new(Default::default()), full_window(20));
    highspeed.init(&mut w);
    round(&mut highspeed, &mut w, RTT);
    assert_eq!(w.cwnd, 21);
    assert_eq!(highspeed.ssthresh(&mut full_window(20)), 10);
    for (cwnd, added, share) in [
        (100, 2, 0.44),
        (1_000, 8, 0.33),
        (10_000, 30, 0.21),
        (83_000, 71, 0.1),
    ] {
        let mut w = full_window(cwnd);
        round(&mut highspeed, &mut w, RTT);
        assert!(
            (w.cwnd - cwnd).abs_diff(added) <= 1,
            "{} at {cwnd}",
            w.cwnd - cwnd
        );
        let taken = f64::from(w.cwnd - highspeed.ssthresh(&mut w)) / f64::from(w.cwnd);
        assert!((taken - share).abs() < 0.012, "{taken} at {cwnd}");
    }
}

/// Linux `hstcp_ssthresh`: before any congestion avoidance a loss halves the window, regardless of its size.
#[test]
fn highspeed_halves_after_slow_start() {
    let mut w = full_window(5_000);
    assert_eq!(HighSpeed::new(Default::default()).ssthresh(&mut w), 2_500);
}
