//! Linux TCP sockets: state of a sender, socket options, counters, routes and module parameters.
//!
//! The guest of the kernel engine and the live engine share this crate. It knows no scenario and no engine. Its only
//! `unsafe` code is in [`options`].

mod counters;
mod netlink;
pub mod options;
mod pacing_cap;
mod sock_diag;
mod sysctl;
mod tcp_info;

pub use counters::Counters;
pub use netlink::{Netlink, route_metrics};
pub use netlink_packet_route::route::RouteMetric;
pub use pacing_cap::PacingCap;
pub use sock_diag::{SockDiag, SocketState};
pub use sysctl::{set_module_parameter, sysctl_file};
pub use tcp_info::read_sender;
