//! Telemetry session: a TCP connection opened by the server, a small packet down, a large one up.

/// Bytes of an IP and a TCP header without options.
const HEADERS: u64 = 40;

/// Bytes of the request (kim2016-thesis section 3.4).
const REQUEST: u64 = 50;

/// Bytes of the response (same section).
const RESPONSE: u64 = 1_000;

/// The packets of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Server: connection request.
    Syn,
    /// User: its answer.
    SynAck,
    /// Server: end of the handshake.
    HandshakeAck,
    /// Server: the request.
    Request,
    /// User: acknowledges the request at once.
    RequestAck,
    /// User: the telemetry.
    Response,
    /// Server: acknowledges the response and closes.
    Fin,
    /// User: closes too.
    FinAck,
    /// Server: the last one.
    LastAck,
}

impl Packet {
    /// Returns the size in bytes, including headers.
    pub const fn bytes(self) -> u64 {
        HEADERS
            + match self {
                Self::Request => REQUEST,
                Self::Response => RESPONSE,
                _ => 0,
            }
    }

    /// Returns the packets that a packet causes at its receiver, each with whether it takes time to think about.
    /// There are none at the end of the session.
    pub(super) const fn replies(self) -> &'static [(Self, bool)] {
        match self {
            Self::Syn => &[(Self::SynAck, false)],
            Self::SynAck => &[(Self::HandshakeAck, false), (Self::Request, false)],
            Self::Request => &[(Self::RequestAck, false), (Self::Response, true)],
            Self::Response => &[(Self::Fin, false)],
            Self::Fin => &[(Self::FinAck, false)],
            Self::FinAck => &[(Self::LastAck, false)],
            Self::HandshakeAck | Self::RequestAck | Self::LastAck => &[],
        }
    }
}
