//! TCP without I/O: segments on the wire, and connections that behave like those of Linux.

mod config;
mod connection;
mod receiver;
pub mod segment;
mod sender;
mod sequence;

pub use config::TcpConfig;
pub use connection::{Connection, State};
pub use segment::{Ecn, Flags, SackBlocks, Segment};
pub use sequence::Unwrapper;
