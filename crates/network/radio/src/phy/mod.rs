//! Physical layer: the bits that a transport block carries, and the chance that it is received.
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
