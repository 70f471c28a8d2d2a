//! Public state of a connection: the RFC 9293 state and the sender's fields of `TCP_INFO`.

use cca::SenderInfo;
use units::Instant;

use super::Connection;

/// State of a connection (RFC 9293 §3.3.2), with its number in Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Waits for a SYN.
    Listen = 10,
    /// A SYN was sent.
    SynSent = 2,
    /// A SYN was received and answered.
    SynReceived = 3,
    /// The connection is open.
    Established = 1,
    /// This end has closed; its FIN is not acknowledged.
    FinWait1 = 4,
    /// This end has closed; its FIN is acknowledged.
    FinWait2 = 5,
    /// The peer has closed.
    CloseWait = 8,
    /// Both ends have closed at the same time.
    Closing = 11,
    /// The peer closed first; our FIN is not acknowledged.
    LastAck = 9,
    /// Waits until stray segments have left the network.
    TimeWait = 6,
    /// There is no connection.
    Closed = 7,
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
