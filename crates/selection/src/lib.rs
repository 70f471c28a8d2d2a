//! Selection: estimates the state of the path, and selects the CCA of a connection by these estimates.
//!
//! - A [`PathEstimators`] turns the [`SenderInfo`]s of a sender into estimates, the [`PathEstimates`].
//! - A [`Policy`], parsed from the text of a file, chooses the CCA for estimates and a [`Requirement`].
//! - A [`Selector`] belongs to a connection, asks its policy and returns [`Decision`]s.
//! - A [`DestinationCache`] stores results of earlier connections, per destination.
//!
//! Nothing here reads a clock, a socket or a file, so the same code runs with the native TCP and in the guest of the
//! kernel engine.

mod auto;
mod cca_choice;
mod destination_cache;
mod estimate;
pub mod estimators;
mod features;
mod file_text;
mod performance;
pub mod policy;
mod requirement;
mod sample;
mod selector;
mod selectors;
mod table_rows;

pub use auto::{Auto, Files};
pub use cca::SenderInfo;
pub use cca_choice::CcaChoice;
pub use destination_cache::{CcaStats, ConnectionResult, DestinationCache, DestinationEntry};
pub use estimate::{Estimate, Latency, Movement, Phase, Speed};
pub use estimators::{PathEstimates, PathEstimators};
pub use features::{FEATURES, Feature, Features};
pub use policy::Policy;
pub use requirement::{Performance, Requirement};
pub use sample::{Hints, SAMPLE_INTERVAL};
pub use selector::{Cause, Decision, Selector, Start};
pub use selectors::{Endpoint, SelectionError, Selectors};
pub use table_rows::decision_row;

/// CCA of a sender about which nothing is known (the default of Linux).
pub const DEFAULT_CCA: &str = "cubic";
