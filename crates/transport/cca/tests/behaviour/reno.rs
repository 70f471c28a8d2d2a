//! NewReno compared with RFC 5681.

use cca::CongestionControl;
use cca::reno::Reno;

use crate::lab::{round, window};

/// RFC 5681 §3.1: one segment more per round trip; half of the window after a loss, but never below two
/// segments.
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
