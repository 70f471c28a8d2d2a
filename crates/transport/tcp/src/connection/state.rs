//! Public state of a connection: the RFC 9293 state and the sender's fields of `TCP_INFO`.

use cca::SenderInfo;
use units::Instant;

use super::Connection;

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Waits for a SYN.
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
    /// Returns [`Self::view`] with the times under each limit until `now`.
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

    /// Returns the state of the sender, as `ss -ti` would show it. It is inlined, because engines read few of its fields
    /// after each segment.
    #[inline]
    pub fn view(&self) -> SenderInfo {
        self.sender.view()
    }
}
