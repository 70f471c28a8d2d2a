//! Scalable TCP (Kelly 2003): growth and reduction are proportional to the window, so the time between losses
//! does not depend on the rate.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{CcaInfo, CongestionControl, Family, Window};

parameters! {
    /// Parameters of Kelly 2003.
    pub struct ScalableConfig {
        /// Acknowledged segments per segment added to the window (1/a).
        ai_cnt: u32 = 100, in 1..=10_000, "segments", "Kelly 2003, a = 0.01; Linux TCP_SCALABLE_AI_CNT";
        /// Share of the window that a loss takes (b).
        md: f64 = 0.125, in 0.01..=0.99, "", "Kelly 2003; Linux TCP_SCALABLE_MD_SCALE";
        /// Maximum window at which it behaves like Reno (lwnd).
        legacy_window: u32 = 0, in 0..=1_000_000, "segments", "16 in Kelly 2003; none in Linux";
    }
}

/// Catalogue entry of Scalable TCP.
pub const INFO: CcaInfo = CcaInfo {
    name: "scalable",
    aliases: &["stcp", "scalable-tcp"],
    title: "Scalable TCP",
    family: Family::Loss,
    reference: "Kelly: Scalable TCP: improving performance in highspeed wide area networks, ACM SIGCOMM CCR 33(2)",
    year: 2003,
    linux: true,
    parameters: ScalableConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Scalable::new(ScalableConfig::with(settings))),
};

/// Scalable TCP: multiplicative increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable {
    config: ScalableConfig,
}

impl Scalable {
    /// Creates Scalable TCP with these parameters.
    pub fn new(config: ScalableConfig) -> Self {
        Self { config }
    }
}

impl CongestionControl for Scalable {
    /// Returns cwnd − b·cwnd (Kelly 2003).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let reduction = if window.cwnd <= self.config.legacy_window {
            window.cwnd.div_ceil(2)
        } else {
            (f64::from(window.cwnd) * self.config.md) as u32
        };
        (window.cwnd - reduction).max(2)
    }

    /// Adds a segment for every 1/a acknowledged ones, or for every window of them if that is less (Kelly
    /// 2003).
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        let legacy = window.cwnd <= self.config.legacy_window;
        let per_segments = if legacy {
            window.cwnd
        } else {
            window.cwnd.min(self.config.ai_cnt)
        };
        window.grow_additively(per_segments, acked);
    }
}
