//! NewReno (RFC 5681, RFC 6582): additive increase, halving on loss. The kernel calls it `reno`.

use super::slow_start::Method;
use super::{Cca, CongestionControl, Family, Window};

/// NewReno in the catalogue.
pub const ABOUT: Cca = Cca {
    name: "reno",
    aliases: &["newreno", "new-reno"],
    title: "NewReno",
    family: Family::Loss,
    reference: "RFC 5681; RFC 6582",
    year: 1999,
    linux: true,
    parameters: &[],
    slow_start: Some(Method::Standard),
    build: &|_| Box::new(Reno),
};

/// One segment more per round trip; half on loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }

    /// RFC 5681 §3.1 equation 4, on the window instead of the flight size, as Linux does.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    /// RFC 5681 §3.1 equation 3: one segment for every window of acknowledged ones.
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
    }
}
