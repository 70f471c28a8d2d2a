//! Selection: estimates what the network is doing, and chooses and changes the CCA of a connection by them.
//!
//! - A [`Watch`] turns the [`SenderView`]s of a sender into estimates, the [`View`].
//! - A [`Policy`], which is a file, chooses the CCA for a view and a [`Requirement`].
//! - A [`Selector`] stands beside one connection, asks its policy and returns [`Decision`]s.
//! - A [`Memory`] keeps results of earlier connections, per destination.
//!
//! Nothing here reads a clock, a socket or a file, so the same code runs beside the native TCP and in the guest of the
//! kernel engine.

mod auto;
mod estimate;
pub mod estimators;
mod features;
mod memory;
mod outcome;
pub mod policy;
mod requirement;
mod rows;
mod sample;
mod selector;
mod selectors;

pub use auto::{Auto, AutoError, Files};
pub use cca::SenderView;
pub use estimate::{Estimate, Latency, Movement, Phase, Speed};
pub use estimators::{View, Watch};
pub use features::{FEATURES, Feature, Features};
pub use memory::{Ending, Memory, Remembered, Tried};
pub use policy::{Advice, Policy, PolicyError, Situation};
pub use requirement::{Performance, Requirement};
pub use rows::decision_row;
pub use sample::{Hints, SAMPLE_INTERVAL};
pub use selector::{Cause, Decision, Selector, Start};
pub use selectors::{Endpoint, SelectionError, Selectors};

/// CCA of a sender about which nothing is known (the default of Linux).
pub const DEFAULT_CCA: &str = "cubic";
