//! Switch: a scheduled change of the CCA.

use cca::SwitchMode;
use config::table;
use units::Duration;

use super::CcaChoice;

table! {
    /// Change of the CCA of all connections of a flow that are open at that time, and of those that open later.
    pub struct Switch {
        /// Time of the change, from the start of the run; compulsory.
        pub at: Duration,
        /// CCA that takes over; default "cubic".
        pub to: CcaChoice,
        /// Mode of the switch: "context" transfers the estimates of the connection, "kernel" does what Linux does;
        /// default "context".
        pub mode: SwitchMode,
    }
}
