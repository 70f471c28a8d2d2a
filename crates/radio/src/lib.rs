//! The radio link of a mobile network as TCP meets it.
//!
//! Pure state machines: time, measurements and random draws are arguments. One transmission time
//! interval (TTI) is a subframe of 1 ms in LTE and a slot in NR.

pub mod handover;
pub mod mac;
pub mod rlc;
