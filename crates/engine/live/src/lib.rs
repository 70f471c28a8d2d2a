//! Live engine: the path of a scenario in real time, between programs in network namespaces.
//!
//! [`Session`] is the path as a state machine without I/O: packets of hosts go in, and leave at planned times. [`LiveRun`]
//! sets up the hosts and drives a session by the clock of the machine. [`Lateness`] measures how late packets were.

mod background_file;
mod capture;
mod changes;
mod congestion_mark;
mod connections;
mod device;
mod host;
mod lateness;
mod log;
mod merge_queue;
mod offload;
mod outside;
mod phones;
mod real_time;
mod replay;
mod run;
mod sender_watch;
mod session;
mod traffic;
mod tun;
mod user_namespace;
mod veth;

pub use host::RESOLVER;
pub use lateness::Lateness;
pub use log::{LogHeader, LoggedChange, LoggedScenario};
pub use outside::GATEWAY_ADDRESSES;
pub use real_time::Progress;
pub use replay::{Replay, replay, replay_from};
pub use run::{LiveOptions, LiveRun, machine_cca};
pub use session::{AccessState, Arrival, Departure, Session};
pub use traffic::Traffic;
pub use user_namespace::{enter_user_namespace, pass_on_rights};
