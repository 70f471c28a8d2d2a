//! The physical layer.

pub mod bler;
pub mod capacity;
mod code;
mod modulation;

pub use code::{ChannelCode, CodeBlocks};
pub use modulation::Modulation;
