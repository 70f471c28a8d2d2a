//! Workload: applications and the sessions that drive them, without sockets.
//!
//! An [`Application`] is one file: its configuration and its state machine, which sees both ends of its connection.
//! [`Sessions`] count bytes and connections of all applications of a run. An engine only carries out
//! their [`Action`]s.

mod aborting_client;
mod application;
mod bulk;
mod byte_account;
mod cca_switches;
mod chunked;
mod frames;
mod jitter;
mod m2m;
mod on_off;
mod page;
mod request_response;
mod sessions;
mod short_downloads;
mod streaming;
mod window_paced;
mod workload;

pub use aborting_client::AbortingClient;
pub use application::{Application, Command, End, OpenedBy, UNLIMITED};
pub use bulk::Bulk;
pub use cca_switches::{ScheduledSwitch, SwitchSchedule};
pub use chunked::Chunked;
pub use frames::{FrameKind, Frames};
pub use m2m::Telemetry;
pub use on_off::OnOff;
pub use page::Page;
pub use request_response::RequestResponse;
pub use sessions::{Action, FlowPlan, Sessions};
pub use short_downloads::ShortDownloads;
pub use streaming::Video;
pub use window_paced::WindowPaced;
pub use workload::Workload;
