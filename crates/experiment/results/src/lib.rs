//! Results: measures on the taps of a path, the tables that hold them, and the metrics.
//!
//! Definitions for users are in `docs/reference/metrics.md`; only this crate computes them.

mod connection;
mod delays;
mod early_acks;
mod limits;
mod meter;
mod metrics;
mod rtt_increments;
mod table;
mod tables;

pub use connection::{BottleneckSlot, Connection, Identity, OtherTimeouts};
pub use meter::{Ack, Meter};
pub use metrics::{Weights, jain};
pub use table::{Column, ColumnInfo, Presence, TableInfo, Value};
pub use tables::{
    ControlRow, ControlTtis, DecisionRow, Decisions, EstimateRow, Estimates, EventRow, Events,
    FarLossRow, FarLosses, FateRow, Fates, FlowRow, Flows, LegRow, Legs, LimitRow, Limits,
    OutageRow, Recoveries, RecoveryRow, RunRow, Runs, SampleRow, Samples, SlotRow, Slots, Tables,
    TtiRow, Ttis, UplinkRow, Uplinks,
};
