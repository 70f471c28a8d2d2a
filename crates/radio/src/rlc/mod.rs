//! Radio link control (TS 36.322) and the parts of PDCP (TS 36.323) that keep order over a handover.
//!
//! SDUs are named by a number the caller chooses; no bytes are carried, only lengths. A [`Block`]
//! is what one logical channel puts into one transport block; its memory is reused.

pub mod am;
mod assembler;
mod buffer;
pub mod pdcp;
mod pdu;
pub mod um;

pub use buffer::{Dropped, Limit};
pub use pdu::{Block, DataPdu, LengthIndicator, Nack, Part, Sdu, Segment, StatusPdu};

/// Which SDUs a source cell hands to the target (TS 36.300 clause 10.1.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarding {
    /// All that the receiver has not confirmed (bearers on RLC AM).
    Lossless,
    /// Only those of which nothing has been sent (bearers on RLC UM).
    Seamless,
    /// None: the buffer of the source is discarded.
    Discard,
}
