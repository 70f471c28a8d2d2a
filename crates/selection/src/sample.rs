//! Input of a selector: samples of a sender, and hints of the radio.

use cca::SenderInfo;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// Time between the samples of a sender, in every engine. It is shorter than an RTT of a mobile network, and long enough
/// for a call of TCP_INFO per socket.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// Sample: the state of a sender at a time, once it has an RTT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) at: Instant,
    pub(crate) srtt: Duration,
    pub(crate) min_rtt: Duration,
    pub(crate) sender: &'a SenderInfo,
}

impl<'a> Sample<'a> {
    /// Returns the sample that `sender` gives, `None` before its first RTT sample.
    pub(crate) fn of(at: Instant, sender: &'a SenderInfo) -> Option<Self> {
        Some(Self {
            at,
            srtt: sender.srtt?,
            min_rtt: sender.min_rtt?,
            sender,
        })
    }
}

/// Hints of the radio. A field that the radio does not report is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Hints {
    /// SINR averaged over fading, dB.
    pub sinr_db: Option<f64>,

    /// Speed of the terminal, m/s.
    pub speed_mps: Option<f64>,
    /// Change of the mean SINR, dB/s.
    pub sinr_trend: Option<f64>,
}
