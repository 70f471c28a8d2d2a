//! Congestion controls that change while a connection lives.

use cca::Takeover;
use config::table;
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
        /// What it is handed; default "context".
        pub how: Takeover,
    }
}
