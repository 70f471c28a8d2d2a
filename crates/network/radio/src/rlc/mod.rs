//! Radio link control (TS 36.322) and the parts of PDCP (TS 36.323) that preserve order over a handover.
//!
//! SDUs have an id, which the caller chooses, and a length; no bytes are carried. A [`Block`] is the part of one
//! logical channel in one transport block; its memory is reused.

pub mod am;
mod assembler;
mod buffer;
pub mod pdcp;
mod pdu;
pub mod um;

pub use crate::settings::Forwarding;
pub use pdu::{Block, DataPdu, LengthIndicator, Nack, Part, Sdu, Segment, StatusPdu};
