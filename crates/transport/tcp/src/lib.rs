//! TCP without I/O: segments on the wire, and connections that behave like those of Linux.

mod config;
mod connection;
mod net_device;
mod receiver;
mod reset;
pub mod segment;
mod sender;
mod sequence;
mod settings;
mod timer_wheel;

pub use config::TcpConfig;
pub use connection::{Connection, Failure, Info, State};
pub use net_device::NetDevice;
pub use reset::reset_reply;
pub use segment::{Ecn, FarAck, Flags, SackBlocks, Segment};
pub use sender::SendFlags;
pub use sequence::SeqUnwrapper;
pub use settings::{HostTcp, Tcp, Tso, WindowScale};
pub use timer_wheel::TimerExpiry;
