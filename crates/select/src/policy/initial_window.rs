//! Initial window: what connections that will send little may send before the first ACK of data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::check_kinds;
use super::{Wrong, not_empty};
use crate::requirement::Requirement;

/// Window that every connection starts with (RFC 6928), segments.
const USUAL: u32 = 10;
/// Largest window to start with, segments. A window of 64 full segments is about the receive window of a new connection
/// of Linux.
const LARGEST: u32 = 64;

/// Initial window of flows that are known to be small.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialWindow {
    /// The window, segments; from 10 (RFC 6928) to 64. A larger one that the scenario sets remains.
    pub segments: u32,
    /// Size of the largest flow that gets it, MB. A flow whose size is unknown gets it for `fct` only.
    pub largest_flow: f64,
    /// Requirements for which flows get it; those of rules.
    pub requirements: Vec<String>,
}

impl InitialWindow {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        if !(USUAL..=LARGEST).contains(&self.segments) {
            let reason = format!(
                "{} is not allowed; allowed: from {USUAL} to {LARGEST}",
                self.segments
            );
            return Err(("initial_window.segments".to_owned(), reason));
        }
        if !(self.largest_flow.is_finite() && self.largest_flow > 0.0) {
            let reason = format!("{} is not allowed; allowed: above 0", self.largest_flow);
            return Err(("initial_window.largest_flow".to_owned(), reason));
        }
        let field = "initial_window.requirements";
        not_empty(field, &self.requirements, "requirement")?;
        check_kinds(field, &self.requirements)
    }

    /// Returns the window of a flow of `size` bytes; `None` if it gets the usual one.
    pub(crate) fn of(&self, requirement: Requirement, size: Option<u64>) -> Option<u32> {
        let kind = requirement.kind();
        let small = match size {
            Some(bytes) => bytes as f64 <= self.largest_flow * 1e6,
            None => requirement == Requirement::Completion,
        };
        (small && self.requirements.iter().any(|each| each == kind)).then_some(self.segments)
    }
}
