//! What a sender sees.

use serde::{Deserialize, Serialize};
use units::{Duration, Instant, Rate};

/// Time between the samples of a sender, in every engine: often enough to see each RTT of a mobile network, and
/// seldom enough to ask sockets for TCP_INFO.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// A sender at one moment, as TCP_INFO tells it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Segments in flight.
    pub inflight: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Lowest RTT; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Segments delivered so far.
    pub delivered: u64,
    /// Segments sent again so far.
    pub retransmissions: u64,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Whether that was limited by the application, not by the network.
    pub app_limited: bool,
    /// Window that the receiver offers, bytes.
    pub send_window: u64,
    /// Whether the window grows as in slow start.
    pub slow_start: bool,
}

impl Sample {
    /// Whether the application, and not the network, decides how much is sent. In a pause nothing is in
    /// flight; Linux marks the rates as limited by the application only when it writes again
    /// (`tcp_rate_check_app_limited`).
    pub(crate) fn awaits_application(&self) -> bool {
        self.app_limited || self.inflight == 0
    }
}

/// What the radio side tells, where there is one that does.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Hints {
    /// SINR, dB, the mean over fading.
    pub sinr_db: Option<f64>,
    /// CQI, from 0 to 15.
    pub cqi: Option<f64>,
    /// Speed, m/s.
    pub speed_mps: Option<f64>,
    /// Change of the mean SINR, dB/s.
    pub sinr_trend: Option<f64>,
}
