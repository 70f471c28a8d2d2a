//! Linux TCP sockets: state of a sender, socket options, counters, routes and module parameters.
//!
//! The guest of the kernel engine and the live engine share this crate. It knows no scenario and no engine. Its only
//! `unsafe` code is in [`options`].

mod counters;
mod hold;
mod netlink;
pub mod options;
mod tcp_info;
mod tunables;

pub use counters::Counters;
pub use hold::Hold;
pub use netlink::Netlink;
pub use netlink_packet_route::route::RouteMetric;
pub use tcp_info::sender_view;
pub use tunables::{set_module_parameter, sysctl_file};
