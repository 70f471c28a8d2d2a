//! The radio access network: cells, users and their bearers, joined from the parts of this crate.
//!
//! [`Ran`] is a state machine without I/O that works in TTIs. In each, in this order: what was decoded
//! reaches RLC and what RLC completes is reported; users measure, hand over, recover; cells choose what to
//! send down, and it is drawn what arrives; users ask, report and send; they measure the channel.

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
