//! Workload: the choice of a flow's application.

use config::{Distribution, Wrong, or_word, word_or_table, wrong};
use schemars::JsonSchema;
use serde::Serialize;
use units::Duration;
use units::random::Stream;

use crate::application::Application;
use crate::bulk::{Bulk, Transfer};
use crate::on_off::{OnOff, Source};
use crate::request_response::{RequestResponse, Requests};
use crate::sequence::{Downloads, Sequence};

/// Distribution of times with a mean of a second.
pub(crate) const SECOND: Distribution<Duration> = Distribution::Exponential {
    mean: Duration::from_secs(1),
};

/// Application of a flow.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(transform = or_word)]
pub enum Workload {
    /// Sends as much as it can.
    Bulk(Bulk),
    /// Short flows one after another, each on a connection of its own.
    Sequence(Sequence),
    /// Sends and pauses in turn, on one connection.
    OnOff(OnOff),
    /// The receiving node asks and the sending node answers, again and again on one connection.
    RequestResponse(RequestResponse),
}

word_or_table!(Workload {} {
    "bulk" => Bulk(Bulk),
    "sequence" => Sequence(Sequence),
    "on-off" => OnOff(OnOff),
    "request-response" => RequestResponse(RequestResponse),
});

impl Default for Workload {
    fn default() -> Self {
        Self::Bulk(Bulk::default())
    }
}

impl Workload {
    /// Checks that all fields are in their ranges.
    ///
    /// # Errors
    /// [`Wrong`] names the first that is not.
    pub fn check(&self) -> Result<(), Wrong> {
        match self {
            Self::Bulk(bulk) => bulk.check(),
            Self::Sequence(sequence) => sequence.check(),
            Self::OnOff(on_off) => on_off.check(),
            Self::RequestResponse(requests) => requests.check(),
        }
    }

    /// Returns whether the application draws random numbers.
    pub fn is_random(&self) -> bool {
        match self {
            Self::Bulk(_) => false,
            Self::Sequence(sequence) => sequence.is_random(),
            Self::OnOff(on_off) => on_off.is_random(),
            Self::RequestResponse(requests) => requests.is_random(),
        }
    }

    /// Returns the application.
    pub(crate) fn application(&self, draws: Stream) -> Box<dyn Application> {
        match self.clone() {
            Self::Bulk(bulk) => Box::new(Transfer::new(bulk)),
            Self::Sequence(sequence) => Box::new(Downloads::new(sequence, draws)),
            Self::OnOff(on_off) => Box::new(Source::new(on_off, draws)),
            Self::RequestResponse(requests) => Box::new(Requests::new(requests, draws)),
        }
    }
}

/// Checks that a number of repetitions, where one is given, is not zero.
pub(crate) fn at_least_one(field: &str, count: Option<u32>, allowed: &str) -> Result<(), Wrong> {
    match count {
        Some(0) => wrong(field, 0, allowed),
        _ => Ok(()),
    }
}
