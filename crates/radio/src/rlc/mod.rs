//! Radio link control (TS 36.322) and the parts of PDCP (TS 36.323) that keep order over a handover.
//!
//! The caller names SDUs by a number; no bytes are carried, only lengths. A [`Block`] is the part of one logical
//! channel in one transport block; its memory is reused.

pub mod am;
mod assembler;
mod buffer;
pub mod pdcp;
mod pdu;
pub mod um;

pub use buffer::{Dropped, Limit};
pub use pdu::{Block, DataPdu, LengthIndicator, Nack, Part, Sdu, Segment, StatusPdu};

/// SDUs that a source cell hands to the target (TS 36.300 clause 10.1.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarding {
    /// The source hands over all SDUs that the receiver has not confirmed (bearers on RLC AM).
    Lossless,
    /// The source hands over only SDUs of which nothing has been sent (bearers on RLC UM).
    Seamless,
    /// The source discards its buffer.
    Discard,
}
