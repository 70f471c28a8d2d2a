//! The four modes and their gains (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3).

use super::bandwidth::Gain;

/// Phases of the gain cycle.
pub(super) const CYCLE: usize = 8;

/// What BBR is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mode {
    /// Doubling the rate every round to find the bandwidth.
    #[default]
    Startup,
    /// Draining the queue that start-up left.
    Drain,
    /// Cruising at the bandwidth, now and then above and below it.
    ProbeBandwidth,
    /// Four segments in flight, to see the RTT of an empty path.
    ProbeRtt,
}

impl Mode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::ProbeBandwidth => "probe_bw",
            Self::ProbeRtt => "probe_rtt",
        }
    }

    /// §4.3.4.1: 5/4, 3/4, then six phases at the estimate.
    pub(super) const fn pacing_gain(self, cycle_index: usize) -> Gain {
        match (self, cycle_index) {
            (Self::Startup, _) => Gain::HIGH,
            (Self::Drain, _) => Gain::DRAIN,
            (Self::ProbeBandwidth, 0) => Gain::UP,
            (Self::ProbeBandwidth, 1) => Gain::DOWN,
            _ => Gain::ONE,
        }
    }

    pub(super) const fn cwnd_gain(self) -> Gain {
        match self {
            Self::Startup | Self::Drain => Gain::HIGH,
            Self::ProbeBandwidth => Gain::CWND,
            Self::ProbeRtt => Gain::ONE,
        }
    }
}
