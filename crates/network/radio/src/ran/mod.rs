//! The radio access network: cells, users and their bearers, joined from the parts of this crate.
//!
//! [`Ran`] is a state machine without I/O that works in TTIs. In each, in this order: what was decoded
//! reaches RLC and what RLC completes is told; users measure, hand over, recover; cells choose what to
//! send down, and it is drawn what arrives; users ask, report and send; they measure the channel.

mod air;
mod bearer;
mod cell;
mod config;
mod connection;
mod downlink;
mod hints;
mod network;
mod power;
mod report;
mod uplink;
mod uplink_power;
mod user;

pub use air::{AirError, AirInterface, Carrier, LteCarrier, NrCarrier};
pub use bearer::Fate;
pub use config::{Channel, Direction, RanConfig, User, UserId};
pub use hints::RadioHints;
pub use network::{Outcome, Ran};
pub use report::{BlockRecord, ConnectionEvent, ControlRecord, TtiRecord, UplinkSignals};
