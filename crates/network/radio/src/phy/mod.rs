//! Physical layer: the bits that a transport block carries, and the probability that it is received.
//!
//! Functions and structs have no time, except where a report is delayed ([`CqiReporter`]). Tables are those of 3GPP,
//! each with its clause. Error rates follow from information theory and the gap to it in published link-level
//! results ([`bler`]).

mod adaptation;
pub mod bler;
pub mod capacity;
mod code;
mod cqi;
mod error;
mod format;
pub mod lte;
mod modulation;
pub mod nr;
mod outer_loop;
mod report;
mod soft_buffer;

pub use adaptation::LinkAdaptation;
pub use bler::effective_sinr_mi;
pub use code::{ChannelCode, CodeBlocks};
pub use cqi::{CodingScheme, CqiTable};
pub use error::ConfigError;
pub use format::TransportFormat;
pub use modulation::Modulation;
pub use outer_loop::OuterLoop;
pub use report::{CqiReport, CqiReporter, ReportConfig};
pub use soft_buffer::SoftBuffer;

/// OFDM symbols of a slot of NR (TS 38.211 table 4.3.2-1), or of a subframe of LTE, with the normal cyclic prefix.
pub(crate) const SYMBOLS_PER_SLOT: u32 = 14;

/// Subcarriers of a resource block (TS 36.211 table 6.2.3-1, TS 38.211 clause 4.4.4.1).
pub(crate) const SUBCARRIERS_PER_PRB: u32 = 12;
