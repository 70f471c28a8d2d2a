//! State of a TCP sender in the terms of TCP_INFO.

use serde::{Deserialize, Serialize};
use units::{Duration, Instant, Rate};

use crate::{CaState, LimitTimes};

/// State of a TCP sender at one moment, in the terms of TCP_INFO.
///
/// Every endpoint fills the same struct: our TCP, a Linux socket by TCP_INFO, a test by its own model. A field that
/// the endpoint does not know, or that has no value yet, is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SenderInfo {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Loss-recovery state.
    pub ca_state: CaState,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Segments sent and not acknowledged cumulatively.
    pub packets_out: u32,
    /// Segments in flight: sent, less delivered and lost, plus retransmitted.
    pub inflight: u32,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Lowest RTT of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Retransmission time-out.
    pub rto: Duration,
    /// Segments delivered so far, by ACK or SACK.
    pub delivered: u64,
    /// Segments retransmitted so far.
    pub retransmissions: u64,
    /// Latest delivery-rate sample.
    pub delivery_rate: Option<Rate>,
    /// Whether the application, and not the network, limited that sample.
    pub app_limited: bool,
    /// Pacing rate; `None` without pacing.
    pub pacing_rate: Option<Rate>,
    /// Window that the receiver offers, bytes.
    pub send_window: Option<u64>,
    /// Whether the congestion window grows as in slow start.
    pub slow_start: bool,
    /// Time of the first exit from slow start, and the congestion window at that time.
    pub slow_start_exit: Option<(Instant, u32)>,
    /// Retransmission time-outs so far.
    pub timeouts: Option<u64>,
    /// Tail loss probes so far.
    pub loss_probes: Option<u64>,
    /// Fast recoveries so far.
    pub fast_recoveries: Option<u64>,
    /// Reductions of the congestion window that were undone so far.
    pub undone: Option<u64>,
    /// Time in which the application had nothing to send.
    pub application_limited: Option<Duration>,
    /// Time in which the window that the receiver offers held back data.
    pub receive_window_limited: Option<Duration>,
    /// Time in which the application waited for room in the send buffer, and all that it holds was sent.
    pub send_buffer_limited: Option<Duration>,
    /// Time with data to send (`tcpi_busy_time`).
    pub busy: Option<Duration>,
    /// Times under each limit until now.
    pub limits: Option<LimitTimes>,
    /// Segments that the receiver got twice, as D-SACK has reported so far (`tcpi_dsack_dups`).
    pub duplicates_reported: Option<u64>,
}

impl SenderInfo {
    /// Returns whether the application, and not the network, decides how much is sent.
    ///
    /// In a pause nothing is in flight; Linux marks the rate samples as limited by the application only when it
    /// writes again (`tcp_rate_check_app_limited`).
    pub fn is_app_limited(&self) -> bool {
        self.app_limited || self.inflight == 0
    }
}
