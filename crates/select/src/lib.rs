//! Which congestion control fits a connection: what the network is doing, what to do about it, and when.
//!
//! - [`SenderView`]s of a sender go into a [`Watch`], whose estimators make a [`View`] of them.
//! - A [`Policy`] says which congestion control suits a view and a [`Requirement`]; policies are files.
//! - A [`Selector`] lives beside one connection, asks its policy and answers [`Decision`]s.
//! - A [`Memory`] keeps what past connections have found, per destination.
//!
//! Nothing here reads a clock, a socket or a file: the same code runs beside the native TCP and in the guest
//! of the kernel engine.

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
pub use requirement::Requirement;
pub use rows::decision_row;
pub use sample::{Hints, SAMPLE_INTERVAL};
pub use selector::{Cause, Decision, Selector, Start};
pub use selectors::{Endpoint, SelectionError, Selectors};

/// The congestion control of a sender of which nothing is known (Linux' default).
pub const DEFAULT_CCA: &str = "cubic";
