//! Violation: an invariant that a run breaks.

use units::Instant;

use crate::HostId;

/// An impossible event, which the checker has found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// A link carried more than its capacity in some time up to `until`.
    #[error("link {link:?} is above its rate: {excess} bytes too many until {until:?}")]
    Rate {
        /// The link.
        link: String,
        /// End of the time.
        until: Instant,
        /// Bytes above the capacity, rounded up.
        excess: u64,
    },
    /// More waited than the queue may hold.
    #[error("the queue of link {link:?} holds {held} {unit} at {at:?}, its limit is {limit}")]
    Buffer {
        /// The link.
        link: String,
        /// Time of the event.
        at: Instant,
        /// The amount that waited.
        held: u64,
        /// The amount that may wait.
        limit: u64,
        /// Unit of both.
        unit: &'static str,
    },
    /// A queue reported another backlog than the packets that went in and out leave.
    #[error("queue of link {link:?}: reported {reported} bytes at {at:?}, actual {held}")]
    Backlog {
        /// The link.
        link: String,
        /// Time of the event.
        at: Instant,
        /// Bytes that it reported.
        reported: u64,
        /// Bytes that it holds.
        held: u64,
    },
    /// A TTI of the radio is impossible.
    #[error("user {user} of the radio at {at:?}: {what} is {actual}, at most {max} is possible")]
    Radio {
        /// The user.
        user: u32,
        /// Start of the TTI.
        at: Instant,
        /// The quantity that is too large.
        what: &'static str,
        /// Its value.
        actual: u64,
        /// Its largest possible value.
        max: u64,
    },
    /// A packet was seen before it could be there.
    #[error("packet {packet} is early: seen at {at:?}, possible from {earliest:?}")]
    TooEarly {
        /// The packet.
        packet: u64,
        /// Time at which it was seen.
        at: Instant,
        /// Earliest time at which it could have been there.
        earliest: Instant,
    },
    /// A packet overtook another one.
    #[error("packet {packet} overtakes packet {before} at link {link:?} at {at:?}")]
    Order {
        /// The link.
        link: String,
        /// The one that overtakes.
        packet: u64,
        /// The one that should have come first.
        before: u64,
        /// Time of the event.
        at: Instant,
    },
    /// A packet went on without having been transmitted.
    #[error("packet {packet} leaves the queue of link {link:?} at {at:?} without transmission")]
    NotTransmitted {
        /// The packet.
        packet: u64,
        /// The link.
        link: String,
        /// Time of the event.
        at: Instant,
    },
    /// A packet was seen that nobody sent or created, or again after its end.
    #[error("packet {packet} is seen at {at:?}, and was never sent, sent twice, or gone before")]
    Duplicate {
        /// The packet.
        packet: u64,
        /// Time of the event.
        at: Instant,
    },
    /// Packet at a node that is not on its route.
    #[error("packet {packet} is seen at {node:?} at {at:?}, expected at {actual:?}")]
    WrongNode {
        /// The packet.
        packet: u64,
        /// The node where it was seen.
        node: HostId,
        /// The node where it must be.
        actual: HostId,
        /// Time of the event.
        at: Instant,
    },
    /// A packet reached a host that it was not for.
    #[error("packet {packet} is delivered to {host:?} at {at:?}, which is not its destination")]
    WrongDestination {
        /// The packet.
        packet: u64,
        /// The host.
        host: HostId,
        /// Time of the event.
        at: Instant,
    },
    /// The number of packets in the network is another one than the events leave.
    #[error("{seen} packets should be under way, {inside} are")]
    CountMismatch {
        /// Sent or created, and neither delivered, absorbed nor dropped.
        seen: usize,
        /// In the network.
        inside: usize,
    },
}
