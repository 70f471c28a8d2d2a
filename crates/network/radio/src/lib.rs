//! Radio: the link of a mobile network, with the effects that TCP notices.
//!
//! These are a capacity that changes with fading and distance, retransmissions, deep buffers, grants and handovers.
//!
//! Everything is a function of time, or a state machine that is called with the time; randomness comes from
//! streams of [`units::random`]. What the channel does never depends on the traffic. One transmission
//! time interval (TTI) is a subframe of 1 ms in LTE and a slot in NR.

pub mod channel;
pub mod handover;
pub mod mac;
pub mod phy;
pub mod ran;
pub mod rlc;
pub mod settings;
