//! Workload: applications and the sessions that drive them, without sockets; selection of congestion controls.

mod application;
mod bulk;
mod exchange;
mod on_off;
mod request_response;
mod selection;
mod sequence;
mod sessions;
mod switches;

pub use application::{Application, Command, ENDLESS, End};
pub use selection::{Selection, SelectionError, decision_row, takeover_after};
pub use sessions::{Action, Sessions};
pub use switches::{Due, Switches};
