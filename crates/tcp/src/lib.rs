//! TCP without I/O: segments on the wire, connections as Linux keeps them, congestion controls.

pub mod cca;
pub mod segment;

pub use segment::{Ecn, Flags, SackBlocks, Segment};
