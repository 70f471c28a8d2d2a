//! The physical layer: what a transport block carries and whether it arrives.
//!
//! Functions and structs without time, except where a report is delayed ([`CqiReporter`]). Tables are
//! 3GPP's, with the clause beside each; errors follow from information theory with the gap of published
//! link-level results ([`bler`]).

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
