//! TCP without I/O: segments on the wire, and connections that behave like those of Linux.

mod card;
mod config;
mod connection;
mod receiver;
mod reset;
pub mod segment;
mod sender;
mod sequence;
mod settings;
mod wheel;

pub use card::NetworkCard;
pub use config::TcpConfig;
pub use connection::{Connection, Failure, Info, State};
pub use reset::reset_reply;
pub use segment::{Ecn, FarAck, Flags, SackBlocks, Segment};
pub use sender::Ending;
pub use sequence::Unwrapper;
pub use settings::{Tcp, Tso, WindowScale};
pub use wheel::Timers;
