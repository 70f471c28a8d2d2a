//! Network: links with a capacity, a delay and a queue, joined by nodes to a tree between hosts.
//!
//! [`Network`] is a state machine without I/O. Its driver owns the clock: it injects packets, asks for the time of the
//! next event, and advances to it, which may deliver packets to hosts. An [`Observer`] is notified of every event: the
//! [`Checker`], which verifies a run, or the observers of the driver, which measure it.
//!
//! A link is a wire, or one direction of a user of the radio access network, which all such links share. The capacity
//! of a wire is a function of time alone. Random draws are addressed by the position of the packet on its link (see
//! [`Network::new`]). So another congestion control meets the same channel.
//!
//! A node routes packets and delivers those addressed to it. A middlebox, which implements [`Node`], decides instead:
//! it forwards, delays and absorbs packets, and creates new ones.

mod blackout;
mod capacity;
mod checker;
mod contents;
mod cross_traffic;
mod delay_line;
mod jitter;
mod link;
mod links;
mod loss;
mod middlebox_api;
mod middleboxes;
mod network;
mod observer;
mod outage_watch;
mod outages;
mod packet;
mod packet_pool;
mod policer;
mod queue;
mod radio_link;
mod routing;
mod topology;
mod transmitter;
mod validate;

pub use blackout::Blackout;
pub use capacity::LinkCapacity;
pub use checker::Checker;
pub use contents::Contents;
pub use jitter::{Jitter, JitterDistribution};
pub use loss::{GilbertElliott, GilbertElliottTime, Loss, LossStep, LossTrace, PacketList};
pub use middlebox_api::{Actions, ConnectionState, LinkChange, LinkSubscription, Node};
pub use network::{Delivery, Network};
pub use observer::{Backlog, DropReason, Observer};
pub use outages::{OutageCause, PathOutage, PathOutages};
pub use packet::{CREATED_FROM, HostId, LinkId, Packet, Payload};
pub use policer::Policer;
pub use queue::{Codel, Estimator, FqCodel, Pie, Queue, Red, Threshold};
pub use topology::{Limit, LinkConfig, QueueConfig, Topology};
