//! Public state of a connection: the RFC 9293 state and the state of the sender.

use cca::SenderInfo;
use units::{Duration, Instant, Rate};

use super::Connection;
use crate::sender::Limit;

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
    /// The peer has closed.
    CloseWait,
    /// Both ends have closed at the same time.
    Closing,
    /// The peer closed first; our FIN is not acknowledged.
    LastAck,
    /// Waits until stray segments have left the network.
    TimeWait,
    /// There is no connection.
    Closed,
}

impl Connection {
    /// Returns the state of the sender like [`Self::view`], with its times under each limit until `now`.
    pub fn view_at(&self, now: Instant) -> SenderInfo {
        let limits = self.sender.limit_times(now);
        SenderInfo {
            busy: Some(limits.busy()),
            limits: Some(limits),
            ..self.view()
        }
    }

    /// Returns the mode of the congestion control.
    pub fn mode(&self) -> &'static str {
        self.sender.congestion.mode()
    }

    /// Returns the state of the sender, as `ss -ti` would show it. Inlined, because engines look at few of its fields
    /// after each segment.
    #[inline]
    pub fn view(&self) -> SenderInfo {
        let w = &self.sender.congestion.window;
        let counts = self.sender.counts;
        let limited = |by| Some(self.sender.time_limited(by));
        let (srtt, min_rtt) = (self.sender.srtt(), self.sender.min_rtt());
        let positive = |rate: Rate| (rate > Rate::ZERO).then_some(rate);
        SenderInfo {
            mss: w.mss,
            ca_state: w.state,
            cwnd: w.cwnd,
            ssthresh: w.ssthresh,
            packets_out: self.sender.packets_out(),
            inflight: self.sender.in_flight(),
            srtt: (!srtt.is_zero()).then_some(srtt),
            min_rtt: (min_rtt < Duration::MAX).then_some(min_rtt),
            rto: self.sender.rto(),
            delivered: self.sender.delivered(),
            retransmissions: counts.retransmissions,
            delivery_rate: positive(self.sender.latest_rate()),
            app_limited: w.app_limited,
            pacing_rate: positive(w.pacing_rate),
            send_window: Some(self.sender.snd_wnd()),
            slow_start: w.in_slow_start(),
            slow_start_exit: self.sender.congestion.slow_start_exit(),
            timeouts: Some(counts.timeouts),
            loss_probes: Some(counts.loss_probes),
            fast_recoveries: Some(counts.fast_recoveries),
            undone: Some(counts.undone),
            application_limited: limited(Limit::Application),
            receive_window_limited: limited(Limit::ReceiveWindow),
            send_buffer_limited: limited(Limit::SendBuffer),
            busy: None,
            limits: None,
            duplicates_reported: Some(self.sender.duplicates_reported()),
        }
    }
}
