//! Fuzz: tries a parser with mutated inputs, within limits of time and memory.
//!
//! [`fuzz`] mutates inputs that a parser accepts and hands each mutant to it. A parser may reject a mutant, but it must
//! not panic, nor take more than [`MAX_TIME`] or [`MAX_MEMORY`]. The targets are the tests of this crate; it is a part of
//! no program.

mod limits;
mod mutation;
mod search;

pub use limits::{MAX_MEMORY, MAX_TIME};
pub use mutation::{Mutation, mutated};
pub use search::{Failure, Options, fuzz, search};
