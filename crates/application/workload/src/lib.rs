//! Workload: applications and the sessions that drive them, without sockets.
//!
//! An [`Application`] is one file: its configuration and its state machine, which sees both ends of its connection.
//! [`Sessions`] keep the account of bytes and connections for all applications of a run. An engine only carries out
//! their [`Action`]s.

mod abandoning;
mod application;
mod bulk;
mod chunked;
mod exchange;
mod frames;
mod jitter;
mod on_off;
mod page;
mod request_response;
mod sequence;
mod sessions;
mod streaming;
mod switches;
mod telemetry;
mod window_paced;
mod workload;

pub use abandoning::Abandoning;
pub use application::{Application, Command, ENDLESS, End, Opens};
pub use bulk::Bulk;
pub use chunked::Chunked;
pub use frames::{FrameKind, Frames};
pub use on_off::OnOff;
pub use page::Page;
pub use request_response::RequestResponse;
pub use sequence::Sequence;
pub use sessions::{Action, FlowPlan, Sessions};
pub use streaming::Video;
pub use switches::{Due, Switches};
pub use telemetry::Telemetry;
pub use window_paced::WindowPaced;
pub use workload::Workload;
