//! The radio access network: cells, users and their bearers, joined from the parts of this crate.
//!
//! [`Ran`] is a state machine without I/O that works in TTIs. The steps of a TTI are:
//!
//! 1. Decoded blocks reach RLC, and RLC reports complete packets.
//! 2. Users measure, hand over and recover.
//! 3. Cells schedule the downlink, and decoding is drawn.
//! 4. Users send scheduling requests, buffer status reports and uplink blocks.
//! 5. Users measure the channel.

mod air_interface;
mod bearer;
mod cell;
mod config;
mod connection;
mod downlink;
mod log_records;
mod network;
mod power;
mod radio_info;
mod uplink;
mod uplink_power;
mod user;

pub use air_interface::{AirError, AirInterface, Carrier, LteCarrier, NrCarrier};
pub use bearer::PacketOutcome;
pub use config::{Channel, Direction, RanConfig, User, UserId};
pub use log_records::{BlockRecord, ConnectionEvent, ControlRecord, TtiRecord, UplinkSignals};
pub use network::{Outcome, Ran};
pub use radio_info::RadioHints;
