//! Messages between the three processes of the kernel engine: engine, network and guest.
//!
//! - The guest, which plays the workloads on the kernel's sockets, writes a [`Message`] to
//!   `/dev/celltcp` and reads an [`Reply`] where the message is a question.
//! - The path, which is loaded into the kernel's process, gets those, and writes [`Report`]s to a pipe.
//! - The engine, which has started the kernel, gives the path its [`Job`] and reads the reports.
//!
//! Everything is encoded by postcard: compact, and the same on both sides since they are built
//! together. A stream is made of frames: a length of four bytes, little-endian, and the bytes.

mod frame;
mod guest;
mod job;
mod run;

pub use frame::{FrameReader, decode, encode, write_frame};
pub use guest::{Message, Reply};
pub use job::{GuestFlow, GuestJob, GuestSwitch, KeepAlive, KernelSettings, LinuxQueue};
pub use run::{Job, Report};

/// Version of the messages. It is raised whenever a message changes, so that parties of different builds notice.
pub const PROTOCOL: u32 = 8;

/// Environment variable that names the shared object of the path.
pub const PATH_VARIABLE: &str = "CELLTCP_PATH";
/// Environment variable with the seed of everything random in the kernel.
pub const SEED_VARIABLE: &str = "CELLTCP_SEED";
/// Environment variable that names the file of the [`Job`].
pub const JOB_VARIABLE: &str = "CELLTCP_JOB";
/// Environment variable that names the pipe for [`Report`]s.
pub const REPORT_VARIABLE: &str = "CELLTCP_REPORT";
/// The device through which the guest talks to the path.
pub const DEVICE: &str = "/dev/celltcp";
