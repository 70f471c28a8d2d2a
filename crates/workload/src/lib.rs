//! Workload: applications and the sessions that drive them, without sockets; scheduled switches.

mod application;
mod bulk;
mod exchange;
mod on_off;
mod request_response;
mod sequence;
mod sessions;
mod switches;

pub use application::{Application, Command, ENDLESS, End};
pub use sessions::{Action, Sessions};
pub use switches::{Due, Switches};
