//! Hybrid ARQ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use config::Text;

/// Hybrid ARQ of both directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Harq {
    /// Attempts per block, the first one included; default 4.
    pub transmissions: u32,
    /// Parallel processes per UE; unset: 8 in LTE (TS 36.213 clause 7), 16 in NR (TS 38.214 clause 5.1).
    pub processes: Option<u32>,
    /// Time from an attempt to the next one of the same process, whole TTIs; unset: 8 TTIs.
    #[serde(with = "Text::<Option<Duration>>")]
    pub round_trip: Option<Duration>,
    /// Time from an attempt until its data are with RLC on the other side, whole TTIs; unset: 4 TTIs
    /// (TS 36.213 clause 7.3).
    #[serde(with = "Text::<Option<Duration>>")]
    pub decoding: Option<Duration>,
}

impl Default for Harq {
    fn default() -> Self {
        Self {
            transmissions: 4,
            processes: None,
            round_trip: None,
            decoding: None,
        }
    }
}
