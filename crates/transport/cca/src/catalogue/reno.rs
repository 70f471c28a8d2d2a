//! NewReno (RFC 5681, RFC 6582): additive increase, halving on loss. The kernel calls it `reno`.

use crate::slow_start::Method;
use crate::{CcaInfo, CongestionControl, Family};

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

/// NewReno: the defaults of [`CongestionControl`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl CongestionControl for Reno {}
