//! Integer time, sizes, rates, decibels and random streams.
//!
//! Every other crate speaks in these types; none of them reads a clock or a global generator.

pub mod deadlines;
mod decibel;
pub mod parse;
pub mod random;
mod rate;
mod size;
mod time;

pub use deadlines::Deadlines;
pub use decibel::Decibel;
pub use parse::ParseQuantityError;
pub use rate::Rate;
pub use size::Bytes;
pub use time::{Duration, Instant};
