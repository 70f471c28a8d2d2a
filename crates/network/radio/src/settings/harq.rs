//! Hybrid ARQ.

use config::table;
use units::Duration;

table! {
    /// Hybrid ARQ of both directions.
    pub struct Harq {
        /// Attempts per block, the first one included; default 4.
        pub transmissions: u32 = 4,
        /// Parallel processes per UE; unset: 8 in LTE (TS 36.213 clause 7), 16 in NR (TS 38.214 clause 5.1).
        pub processes: Option<u32>,
        /// Time from an attempt to the next one of the same process, whole TTIs; unset: 8 TTIs.
        pub round_trip: Option<Duration>,
        /// Time from an attempt until its data are with RLC on the other side, whole TTIs; unset: 4 TTIs
        /// (TS 36.213 clause 7.3).
        pub decoding: Option<Duration>,
    }
}
