//! Limits: how much work and memory a run may take.

use config::table;
use units::Bytes;

table! {
    /// Bounds of the work of a run. Both are compared with estimates before the run starts, so that a mistyped value
    /// is an error at once, not a run of years. They change nothing in a run that starts.
    #[derive(Copy)]
    pub struct Limits {
        /// Maximum number of events: packets at links, intervals of the radio, wake-ups of applications; default 1e11,
        /// with which a run takes days.
        pub events: f64 = 1e11,
        /// Maximum memory for connections and for the rows of tables; default 8GiB.
        pub memory: Bytes = Bytes::new(8 << 30),
    }
}

impl Limits {
    /// Returns whether all limits are the defaults, which [`Scenario::to_toml`](crate::Scenario::to_toml) omits.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
