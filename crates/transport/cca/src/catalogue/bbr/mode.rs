//! The four modes and their gains (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3).

use strum::IntoStaticStr;

use super::config::BbrConfig;
use crate::bandwidth::Gain;

/// Mode of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Mode {
    /// Doubles the rate every round to find the bandwidth.
    #[default]
    Startup,
    /// Drains the queue that Startup left.
    Drain,
    /// Sends at the bandwidth, in phases also above and below it.
    #[strum(serialize = "probe_bw")]
    ProbeBandwidth,
    /// Keeps four segments in flight, to measure the RTT of an empty path.
    ProbeRtt,
}

impl Mode {
    /// Returns the pacing gain; in PROBE_BW 5/4, 3/4, then six phases of one (§4.3.4.1).
    pub(super) fn pacing_gain(self, config: &BbrConfig, phase: u32) -> Gain {
        match (self, phase) {
            (Self::Startup, _) => Gain::of(config.high_gain),
            (Self::Drain, _) => Gain::of(config.drain_gain),
            (Self::ProbeBandwidth, 0) => Gain::of(config.probe_up_gain),
            (Self::ProbeBandwidth, 1) => Gain::of(config.probe_down_gain),
            _ => Gain::ONE,
        }
    }

    pub(super) fn cwnd_gain(self, config: &BbrConfig) -> Gain {
        match self {
            Self::Startup | Self::Drain => Gain::of(config.high_gain),
            Self::ProbeBandwidth => Gain::of(config.cwnd_gain),
            Self::ProbeRtt => Gain::ONE,
        }
    }
}
