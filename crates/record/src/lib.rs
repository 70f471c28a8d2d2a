//! Results: what is measured on the taps of a path, in which tables it is kept, and the metrics.
//!
//! Definitions for users are in `docs/definitions.md`; this crate is the only place where they are
//! computed.

mod delays;
mod meter;
mod metrics;
mod table;
mod tables;

pub use delays::Delays;
pub use meter::{Meter, SlotCounts};
pub use metrics::{Performance, SlotInput, Weights, jain};
pub use table::{Column, ColumnInfo};
pub use tables::{
    DecisionRow, Decisions, EstimateRow, Estimates, EventRow, Events, FlowRow, Flows, RunRow, Runs,
    SampleRow, Samples, SlotRow, Slots, TtiRow, Ttis,
};
