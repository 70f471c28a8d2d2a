//! Units: integer time, sizes, rates, decibels and other quantities, their texts, and random streams.
//!
//! Every other crate speaks in these types; none of them reads a clock or a global generator.

pub mod deadlines;
mod decibel;
mod parse;
mod quantity;
pub mod random;
mod rate;
mod size;
pub mod text;
mod time;

pub use deadlines::Deadlines;
pub use decibel::Decibel;
pub use quantity::{Angle, Frequency, Gain, Length, Power, Speed};
pub use rate::Rate;
pub use size::Bytes;
pub use text::{Measure, Quantity};
pub use time::{Duration, Instant};

/// Crates that the macros expand to.
#[doc(hidden)]
pub use {schemars, serde};
