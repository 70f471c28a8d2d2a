//! The native engine: hosts with our TCP on a path, in virtual time.

mod endpoints;
mod settings;
mod simulation;

pub use simulation::{SimError, Simulation};
