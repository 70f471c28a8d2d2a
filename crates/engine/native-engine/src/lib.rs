//! Native engine: hosts with our TCP on a path, in virtual time.

mod endpoints;
mod error;
mod settings;
mod simulation;

pub use error::{RequestError, SimError};
pub use simulation::Simulation;
