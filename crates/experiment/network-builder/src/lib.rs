//! Network builder: builds the network of a run from a scenario and a seed.
//!
//! Every engine builds its path here, so that a run of the native TCP and one of the Linux kernel meet
//! the same links, queues and draws.

mod files;
mod middleboxes;
mod plan;
mod planner;
mod radio;
mod traces;

pub use files::{Files, LogReader};
pub use plan::{Access, Middlebox, Plan, PlanError};
pub use traces::{LoadedTrace, Traces};

/// Host of the server, which is the first node of every path.
pub const SERVER: net::HostId = net::HostId(0);
