//! State and statistics of a connection.

use units::{Duration, Instant, Rate};

use super::Connection;
use cca::CaState;

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Waits for a connection request.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// The connection is open.
    Established,
    /// This end has closed; its FIN is not acknowledged.
    FinWait1,
    /// This end has closed; its FIN is acknowledged.
    FinWait2,
    /// The other end has closed.
    CloseWait,
    /// Both ends have closed at the same time.
    Closing,
    /// The other end closed first; our FIN is not acknowledged.
    LastAck,
    /// Waits until stray segments have left the network.
    TimeWait,
    /// There is no connection.
    Closed,
}

/// Statistics of a connection, those that `ss -ti` shows.
#[derive(Clone, Copy, Debug)]
pub struct Info {
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
    /// Lowest RTT of the last five minutes; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Retransmission time-out.
    pub rto: Duration,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Pacing rate.
    pub pacing_rate: Rate,
    /// Segments delivered, by ACK or SACK.
    pub delivered: u64,
    /// Segments sent, including retransmissions.
    pub segments_sent: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Tail loss probes.
    pub loss_probes: u64,
    /// Fast recoveries entered.
    pub fast_recoveries: u64,
    /// Reductions of the window that were undone.
    pub undone: u64,
    /// Window that the other end offers, bytes.
    pub send_window: u64,
    /// Whether the application limits the connection at present.
    pub app_limited: bool,
    /// Whether the connection is in slow start.
    pub slow_start: bool,
    /// Time of the first slow-start exit, and the window at that time.
    pub slow_start_exit: Option<(Instant, u32)>,
}

impl Connection {
    /// Returns the statistics.
    pub fn info(&self) -> Info {
        let w = &self.sender.congestion.window;
        let counts = self.sender.counts;
        Info {
            ca_state: w.state,
            cwnd: w.cwnd,
            ssthresh: w.ssthresh,
            inflight: self.sender.in_flight(),
            srtt: self.sender.srtt(),
            min_rtt: self.sender.min_rtt(),
            rto: self.sender.rto(),
            delivery_rate: self.sender.latest_rate,
            pacing_rate: w.pacing_rate,
            delivered: self.sender.delivered(),
            segments_sent: counts.segments,
            retransmissions: counts.retransmissions,
            timeouts: counts.timeouts,
            loss_probes: counts.loss_probes,
            fast_recoveries: counts.fast_recoveries,
            undone: counts.undone,
            send_window: self.sender.snd_wnd(),
            app_limited: w.app_limited,
            slow_start: w.in_slow_start(),
            slow_start_exit: self.sender.congestion.slow_start_exit(),
        }
    }
}
