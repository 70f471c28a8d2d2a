//! Middleboxes: hosts in the middle of a path that work on TCP, as nodes of a network.
//!
//! A split host has two connections of our TCP for each connection that passes, back to back. It answers in the names
//! of both ends, with their sequence numbers. A policy decides when it acknowledges data that has not reached the far
//! end yet. A snooping middlebox leaves the connection whole, and repairs losses of the wireless link. The settings of
//! middleboxes in scenarios are [`Middlebox`].

mod choice;
mod due;
mod policies;
mod settings;
mod snoop;
mod split;
mod text;

pub use choice::CcaText;
pub use settings::{Kind, Middlebox, Promise};
pub use snoop::Snoop;
pub use split::{Environment, SplitHost};
