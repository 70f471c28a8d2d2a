//! Initial window of short flows: segments that they may send before the first ACK of data.

use config::{FieldError, check_number, invalid_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::not_empty;
use super::rules::check_kinds;
use crate::destination_cache::DestinationEntry;
use crate::requirement::Requirement;

/// Window that every connection starts with (RFC 6928), segments.
const DEFAULT_WINDOW: u32 = 10;
/// Largest window to start with, segments. A window of 64 full segments is about the receive window of a new connection
/// of Linux.
const MAX_WINDOW: u32 = 64;

/// Payload of a full segment on most paths, bits.
const SEGMENT_BITS: f64 = 1_448.0 * 8.0;

/// Maximum share of retransmitted segments of the last connection; after a higher one, the next has the default window.
const MAX_RETRANSMITTED: f64 = 0.02;

/// Initial window of flows that are known to be small.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialWindow {
    /// The window, segments; from 10 (RFC 6928) to 64. A larger one that the scenario sets remains.
    pub segments: u32,
    /// Size of the largest flow that gets it, MB. A flow whose size is unknown gets it for `fct` only.
    pub largest_flow: f64,
    /// Requirements whose flows get it, by the names that `rules` uses.
    pub requirements: Vec<String>,
}

impl InitialWindow {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_number(
            "initial_window.segments",
            self.segments,
            DEFAULT_WINDOW,
            MAX_WINDOW,
        )?;
        if !(self.largest_flow.is_finite() && self.largest_flow > 0.0) {
            return invalid_value("initial_window.largest_flow", self.largest_flow, "above 0");
        }
        let field = "initial_window.requirements";
        not_empty(field, &self.requirements, "requirement")?;
        check_kinds(field, &self.requirements)
    }

    /// Returns the window of a flow of `size` bytes; `None` if it gets the default.
    ///
    /// Known values of the destination limit it (RFC 9040, sharing between connections): twice the BDP, and the buffer of
    /// the bottleneck, where the window arrives as one burst. After a connection with many retransmissions it is `None`.
    pub(crate) fn window(
        &self,
        requirement: Requirement,
        size: Option<u64>,
        destination: Option<&DestinationEntry>,
    ) -> Option<u32> {
        let kind = requirement.kind();
        let is_small = match size {
            Some(bytes) => bytes as f64 <= self.largest_flow * 1e6,
            None => requirement == Requirement::Completion,
        };
        if !is_small || !self.requirements.iter().any(|each| each == kind) {
            return None;
        }
        let limit = destination.map_or(f64::INFINITY, max_window);
        let segments = f64::from(self.segments).min(limit) as u32;
        (segments > DEFAULT_WINDOW).then_some(segments)
    }
}

/// Returns the largest window that suits a destination, segments.
fn max_window(destination: &DestinationEntry) -> f64 {
    if destination.retransmitted > MAX_RETRANSMITTED {
        return f64::from(DEFAULT_WINDOW);
    }
    let bdp = destination.max_rate_mbps * destination.min_rtt_ms * 1e3 / SEGMENT_BITS;
    let limits = [2.0 * bdp, destination.buffer_segments];
    let known = limits.into_iter().filter(|limit| *limit > 0.0);
    known.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(destination: &DestinationEntry) -> Option<u32> {
        let window = InitialWindow {
            segments: 24,
            largest_flow: 5.0,
            requirements: vec!["fct".to_owned()],
        };
        window.window(Requirement::Completion, None, Some(destination))
    }

    #[test]
    fn what_is_known_of_the_destination_limits_the_window() {
        let path = |max_rate_mbps: f64, buffer_segments: f64| DestinationEntry {
            connections: 1,
            min_rtt_ms: 20.0,
            max_rate_mbps,
            buffer_segments,
            ..DestinationEntry::default()
        };
        assert_eq!(window(&path(50.0, 0.0)), Some(24), "86 segments in flight");
        assert_eq!(window(&path(5.0, 0.0)), Some(17), "twice 8.6 segments");
        assert_eq!(window(&path(2.0, 0.0)), None, "less than the default");
        assert_eq!(window(&path(50.0, 12.0)), Some(12), "the buffer");
        let lossy = DestinationEntry {
            retransmitted: 0.03,
            ..path(50.0, 0.0)
        };
        assert_eq!(window(&lossy), None);
        assert_eq!(
            window(&DestinationEntry::default()),
            Some(24),
            "nothing is known"
        );
    }
}
