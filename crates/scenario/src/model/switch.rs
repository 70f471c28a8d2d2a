//! Congestion controls that change while a connection lives.

use config::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::CcaChoice;

table! {
    /// A change of the congestion control of all connections of a flow that are open then, and of those
    /// that open later.
    pub struct Switch {
        /// When, from the start of the run; compulsory.
        pub at: Duration,
        /// The congestion control that takes over; default "cubic".
        pub to: CcaChoice,
        /// Kind of takeover; default "context".
        pub how: Takeover,
    }
}

/// Kind of takeover: the window that the new congestion control starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Takeover {
    /// The window without the part of it that waits in queues (atxutegi2018 eq. 6.3).
    #[default]
    Context,
    /// The window as it is, as setsockopt(TCP_CONGESTION) does it.
    Kernel,
}
