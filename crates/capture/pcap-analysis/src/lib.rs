//! Analysis of captures: the history of the TCP connections in them.
//!
//! [`input`] reads pcap and pcapng files, compressed or not. [`Analysis`] goes over a capture once, in bounded memory, and
//! fills the tables of [`tables`]. The private modules `order`, `clock` and `fragments` restore the order, the times and
//! the lengths that packets had in the network. The private module `connection` follows each connection, and has the
//! rules for the kinds of losses. Only [`input`] does I/O.

mod analysis;
mod clock;
mod connection;
mod connections;
mod ends;
mod fragments;
pub mod input;
mod order;
mod sequence;
pub mod tables;

pub use analysis::{Analysis, Summary};
pub use connection::LOSS_KINDS;
