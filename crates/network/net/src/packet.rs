//! Packet: a TCP segment or a unit of cross-traffic on its way, with the identities of nodes and links.

use tcp::Segment;
use units::Instant;

/// Identities from here on belong to packets that middleboxes create, and those from 2^63 on to cross-traffic.
pub const CREATED_FROM: u64 = 1 << 62;

/// A node of the topology, by its position in [`Topology::nodes`](crate::Topology::nodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct HostId(pub u32);

/// A directed link, by its position in [`Topology::links`](crate::Topology::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkId(pub u32);

/// Kind of traffic that a packet belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// A TCP segment between hosts.
    #[default]
    Tcp,
    /// Cross-traffic of one link: it enters there and leaves behind it.
    Cross,
}

/// One packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Packet {
    /// Unique in a run. Drivers of a network use numbers below [`CREATED_FROM`].
    pub id: u64,
    /// The connection it belongs to; the same in both directions.
    pub flow: u32,
    /// The host that sent it.
    pub source: HostId,
    /// The host that it is addressed to.
    pub destination: HostId,
    /// Bytes at the IP layer.
    pub size: u32,
    /// The segment that it carries, if [`Kind::Tcp`], and the ECN field of its IP header.
    pub segment: Segment,
    /// Time at which it was sent.
    pub sent_at: Instant,
    /// Kind of traffic.
    pub kind: Kind,
}
