//! What travels.

use tcp::Segment;
use units::Instant;

/// A node of the topology, by its position in [`Topology::nodes`](crate::Topology::nodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct HostId(pub u32);

/// A directed link, by its position in [`Topology::links`](crate::Topology::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkId(pub u32);

/// What a packet carries.
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
    /// Unique in a run; numbers from 2^63 on belong to cross-traffic.
    pub id: u64,
    /// The connection it belongs to; the same in both directions.
    pub flow: u32,
    /// Where it was sent.
    pub source: HostId,
    /// Where it goes.
    pub destination: HostId,
    /// Bytes at the IP layer.
    pub size: u32,
    /// What it carries, if [`Kind::Tcp`], and the ECN field of its IP header.
    pub segment: Segment,
    /// When it was sent.
    pub sent_at: Instant,
    /// What kind of traffic it is.
    pub kind: Kind,
}
