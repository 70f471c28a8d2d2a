//! Far ACKs of a connection: whether its server accepts them, as its handshake shows.

use tcp::{FarAck, Flags, Segment};

/// Agreement of a server and a middlebox on far ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FarAcks {
    /// Option kind that the server offers.
    offered: Option<u8>,
    /// Option kind that the middlebox accepts.
    accepted: Option<u8>,
}

impl FarAcks {
    /// Processes a segment of the server.
    pub(crate) fn on_sent(&mut self, segment: &Segment) {
        if let Some(option) = handshake_option(segment) {
            self.offered = Some(option.kind);
        }
    }

    /// Processes a segment that has arrived at the server.
    pub(crate) fn on_received(&mut self, segment: &Segment) {
        if let Some(option) = handshake_option(segment) {
            self.accepted = (option.number == 1).then_some(option.kind);
        }
    }

    /// Returns whether the server gets far ACKs.
    pub(crate) fn is_negotiated(&self) -> bool {
        self.accepted.is_some() && self.accepted == self.offered
    }
}

fn handshake_option(segment: &Segment) -> Option<FarAck> {
    segment
        .far_ack
        .filter(|_| segment.flags.contains(Flags::SYN))
}
