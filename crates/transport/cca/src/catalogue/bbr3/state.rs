//! States with their pacing and window gains (draft-ietf-ccwg-bbr-06 §5.6.1, the table).

use strum::IntoStaticStr;

use super::config::Bbr3Config;
use crate::bandwidth::Gain;

/// State of BBRv3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum State {
    /// Doubles the rate every round.
    #[default]
    Startup,
    /// Drains the queue that Startup left.
    Drain,
    /// Sends below the bandwidth, until no queue is left and there is headroom.
    #[strum(serialize = "probe_bw_down")]
    Down,
    /// Sends at the bandwidth.
    #[strum(serialize = "probe_bw_cruise")]
    Cruise,
    /// Sends at the bandwidth without the short-term bounds, so that the path is full when probing begins.
    #[strum(serialize = "probe_bw_refill")]
    Refill,
    /// Sends above the bandwidth.
    #[strum(serialize = "probe_bw_up")]
    Up,
    /// Keeps `probe_rtt_cwnd_gain` of the BDP in flight, to measure the RTT of an empty path.
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    pub(super) const fn is_probe_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`: a loss now shows how much the path holds.
    pub(super) const fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    pub(super) fn pacing_gain(self, config: &Bbr3Config) -> Gain {
        match self {
            Self::Startup => Gain::of(config.startup_pacing_gain),
            Self::Drain => Gain::of(config.drain_pacing_gain),
            Self::Down => Gain::of(config.down_pacing_gain),
            Self::Up => Gain::of(config.up_pacing_gain),
            Self::Cruise | Self::Refill | Self::ProbeRtt => Gain::ONE,
        }
    }

    pub(super) fn cwnd_gain(self, config: &Bbr3Config) -> Gain {
        match self {
            Self::Up => Gain::of(config.up_cwnd_gain),
            Self::ProbeRtt => Gain::of(config.probe_rtt_cwnd_gain),
            _ => Gain::of(config.cwnd_gain),
        }
    }
}
