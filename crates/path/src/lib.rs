//! From a scenario and a seed to the path that it describes.
//!
//! Every engine builds its path here, so that a run of the native TCP and one of the Linux kernel meet
//! the same links, queues and draws.

mod files;
mod middleboxes;
mod plan;
mod radio;
mod traces;

pub use files::Files;
pub use plan::{Access, Middlebox, Plan, PlanError};
pub use traces::{ReadTrace, Traces};
