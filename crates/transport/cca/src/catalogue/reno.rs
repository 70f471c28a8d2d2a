//! NewReno (RFC 5681, RFC 6582): additive increase, halving on loss. The kernel calls it `reno`.

use crate::slow_start::Method;
use crate::{CcaInfo, CongestionControl, Family, Window};

/// Catalogue entry of NewReno.
pub const INFO: CcaInfo = CcaInfo {
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

/// NewReno: one segment more per round trip; half of the window after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl CongestionControl for Reno {
    /// Halves the window (RFC 5681 §3.1 equation 4), rather than the flight size, like Linux.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    /// Adds one segment for every window of acknowledged ones (RFC 5681 §3.1 equation 3).
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
    }
}
