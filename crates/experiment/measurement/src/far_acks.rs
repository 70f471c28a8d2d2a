//! Far acknowledgements of a connection: whether its server receives them, as its handshake shows.

use tcp::{FarAck, Flags, Segment};

/// Agreement of a server and a host in the middle on far acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FarAcks {
    /// Option kind of the server, and the negotiated kind.
    understood: Option<u8>,
    negotiated: Option<u8>,
}

impl FarAcks {
    /// Notes a segment of the server.
    pub(crate) fn sent(&mut self, segment: &Segment) {
        if let Some(option) = of_handshake(segment) {
            self.understood = Some(option.kind);
        }
    }

    /// Notes a segment that has arrived at the server.
    pub(crate) fn received(&mut self, segment: &Segment) {
        if let Some(option) = of_handshake(segment) {
            self.negotiated = (option.number == 1).then_some(option.kind);
        }
    }

    /// Returns whether the server receives far acknowledgements.
    pub(crate) fn is_negotiated(&self) -> bool {
        self.negotiated.is_some() && self.negotiated == self.understood
    }
}

fn of_handshake(segment: &Segment) -> Option<FarAck> {
    segment
        .far_ack
        .filter(|_| segment.flags.contains(Flags::SYN))
}
