//! NR: numerologies, carriers, schemes, transport blocks, TDD patterns.

mod carrier;
mod mcs;
mod numerology;
mod tbs;
mod tdd;

pub use carrier::FrequencyRange;
pub use mcs::{Allocation, McsTable, format, link_adaptation};
pub use numerology::Numerology;
pub(crate) use tbs::{elements_of_allocation, transport_block_size};
pub use tdd::{Slot, TddPattern};
