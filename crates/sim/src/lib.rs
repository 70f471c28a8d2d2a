//! The native engine: hosts with our TCP on a path, in virtual time.

mod endpoints;
mod recorder;
mod settings;
mod simulation;

pub use simulation::{Capture, Options, SimError, Simulation, Tables};
