//! The radio link of a cell, as TCP meets it.
//!
//! Everything is a function of time, or a state machine that is told the time: nothing here reads a
//! clock or draws from a global generator. What the channel does never depends on the traffic.

pub mod channel;
