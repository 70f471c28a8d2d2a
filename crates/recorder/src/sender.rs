//! What a sender tells of itself.

use cca::CaState;
use tcp::Info;
use units::{Duration, Instant, Rate};

/// The state of a sender, as TCP_INFO has it; what an engine cannot tell is `None`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderState {
    /// Loss-recovery state.
    pub ca_state: CaState,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Segments in flight.
    pub inflight: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Retransmission time-out.
    pub rto: Duration,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Pacing rate.
    pub pacing_rate: Rate,
    /// Retransmission time-outs.
    pub timeouts: Option<u64>,
    /// Tail loss probes.
    pub loss_probes: Option<u64>,
    /// Fast recoveries entered.
    pub recoveries: Option<u64>,
    /// Reductions of the window that were taken back.
    pub undone: Option<u64>,
    /// When slow start was left for the first time, and the window then.
    pub slow_start_exit: Option<(Instant, u32)>,
}

impl Default for SenderState {
    /// Of a sender that has told nothing yet.
    fn default() -> Self {
        Self {
            ca_state: CaState::Open,
            cwnd: 0,
            ssthresh: 0,
            inflight: 0,
            srtt: Duration::ZERO,
            rto: Duration::ZERO,
            delivery_rate: Rate::ZERO,
            pacing_rate: Rate::ZERO,
            timeouts: None,
            loss_probes: None,
            recoveries: None,
            undone: None,
            slow_start_exit: None,
        }
    }
}

impl From<Info> for SenderState {
    fn from(info: Info) -> Self {
        Self {
            ca_state: info.ca_state,
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            inflight: info.inflight,
            srtt: info.srtt,
            rto: info.rto,
            delivery_rate: info.delivery_rate,
            pacing_rate: info.pacing_rate,
            timeouts: Some(info.timeouts),
            loss_probes: Some(info.loss_probes),
            recoveries: Some(info.fast_recoveries),
            undone: Some(info.undone),
            slow_start_exit: info.slow_start_exit,
        }
    }
}
