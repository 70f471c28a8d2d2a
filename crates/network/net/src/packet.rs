//! Packet: a TCP segment, any other IP packet or a unit of cross-traffic on its way, with the identities of nodes and
//! links.

use tcp::{Ecn, Segment};
use units::Instant;

/// Identities from here on belong to packets that middleboxes create, and those from 2^63 on to cross-traffic.
pub const CREATED_FROM: u64 = 1 << 62;

/// A node of the topology, by its position in [`Topology::nodes`](crate::Topology::nodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct HostId(pub u32);

/// A directed link, by its position in [`Topology::links`](crate::Topology::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkId(pub u32);

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// A TCP segment of a connection of the run, whose ECN field is that of the IP header.
    Tcp(Segment),
    /// Cross-traffic of one link: it enters there and leaves behind it.
    Cross,
    /// Any other IP packet between hosts, such as UDP, ICMP or ESP. Links treat it as a TCP segment of its size;
    /// middleboxes pass it on, and no table has it.
    Other {
        /// ECN field of the IP header.
        ecn: Ecn,
    },
}

impl Default for Payload {
    fn default() -> Self {
        Self::Tcp(Segment::default())
    }
}

impl From<Segment> for Payload {
    fn from(segment: Segment) -> Self {
        Self::Tcp(segment)
    }
}

/// One packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Packet {
    /// Unique in a run. Drivers of a network use numbers below [`CREATED_FROM`].
    pub id: u64,
    /// The connection it belongs to; the same in both directions. Of other packets any number that those of one flow
    /// share, by which queues distinguish flows.
    pub flow: u32,
    /// The host that sent it.
    pub source: HostId,
    /// The host that it is addressed to.
    pub destination: HostId,
    /// Bytes at the IP layer.
    pub size: u32,
    /// Its payload.
    pub payload: Payload,
    /// Time at which it was sent.
    pub sent_at: Instant,
}

impl Packet {
    /// Returns the TCP segment, if it is one of a connection of the run.
    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.payload {
            Payload::Tcp(segment) => Some(segment),
            Payload::Cross | Payload::Other { .. } => None,
        }
    }

    /// Returns whether it is a unit of cross-traffic.
    #[inline]
    pub fn is_cross(&self) -> bool {
        matches!(self.payload, Payload::Cross)
    }

    /// Returns the ECN field of the IP header.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Tcp(segment) => segment.ecn,
            Payload::Other { ecn } => *ecn,
            Payload::Cross => Ecn::NotEct,
        }
    }

    /// Marks the packet if its sender understands marks (RFC 3168 section 5); returns whether it is marked.
    pub(crate) fn mark(&mut self) -> bool {
        let ecn = match &mut self.payload {
            Payload::Tcp(segment) => &mut segment.ecn,
            Payload::Other { ecn } => ecn,
            Payload::Cross => return false,
        };
        if *ecn == Ecn::NotEct {
            return false;
        }
        *ecn = Ecn::Ce;
        true
    }
}
