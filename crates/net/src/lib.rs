//! The path between hosts: links with a capacity, a delay and a queue, joined to a tree.
//!
//! [`Network`] is a state machine without I/O. Its driver owns the clock: it injects packets, asks
//! for the time of the next event, and advances to it, which may deliver packets to hosts. What
//! happens on the way is told to an [`Observer`]: the [`Checker`] that verifies a run, or whatever a driver
//! wants to measure.
//!
//! A link is a wire, or one direction of a user of the radio access network, which all such links
//! share. Capacity of a wire is a function of time alone, and random draws are addressed by the number of the packet
//! on its link (see [`Network::new`]), so that another congestion control meets the same channel.

mod capacity;
mod checker;
mod cross;
mod delay_line;
mod jitter;
mod link;
mod loss;
mod network;
mod observer;
mod packet;
mod queue;
mod radio_link;
mod routing;
mod service;
mod store;
mod topology;
mod validate;

pub use checker::{Checker, Violation};
pub use network::{Delivery, Network};
pub use observer::{Backlog, DropReason, Observer};
pub use packet::{HostId, Kind, LinkId, Packet};
pub use topology::{
    Capacity, CodelConfig, CrossTraffic, DisciplineConfig, FqCodelConfig, Jitter,
    JitterDistribution, Limit, LinkConfig, Loss, Pattern, PieConfig, QueueConfig, Times, Topology,
};
pub use validate::TopologyError;
