//! Analysis of captures: the history of the TCP connections in them.
//!
//! [`input`] reads pcap and pcapng files of any origin, packed or not. [`Analysis`] goes over a capture once, in
//! bounded memory, and fills the tables of [`tables`]. The private modules `order`, `clock` and `fragments` give packets
//! the order, the times and the lengths that they had in the network. How a connection is followed, and by which rules
//! losses get their kind, is in the private module `connection`. None of them does I/O.

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
