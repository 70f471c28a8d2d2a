//! NewReno against RFC 5681.

use cca::CongestionControl;
use cca::reno::Reno;

use crate::lab::{round, window};

/// RFC 5681 §3.1: one segment per round trip, half on loss, never below two.
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
