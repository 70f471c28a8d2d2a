//! LTE: carriers, control overhead, transport blocks of both directions.

mod bandwidth;
mod mcs;
mod overhead;
mod tbs;
pub mod uplink;

pub use bandwidth::Bandwidth;
pub(crate) use bandwidth::CARRIERS;
pub use mcs::{McsTable, format, link_adaptation};
pub use overhead::Overhead;
pub(crate) use tbs::transport_block_size;
