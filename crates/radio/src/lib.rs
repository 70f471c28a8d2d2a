//! LTE and NR radio links as TCP meets them: capacity that changes with the channel, retransmissions,
//! deep buffers, grants and handovers.
//!
//! State machines and functions without I/O: time is an argument, randomness comes from streams of
//! [`units::random`].

pub mod phy;
