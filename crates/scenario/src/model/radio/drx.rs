//! Discontinuous reception.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use config::Text;

/// Discontinuous reception of all UEs (TS 36.321 clause 5.7); times are whole TTIs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Drx {
    /// How long a UE listens at the start of each cycle, onDurationTimer; default 10ms.
    #[serde(with = "Text::<Duration>")]
    pub on_duration: Duration,
    /// How long it goes on listening after new data, drx-InactivityTimer; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub inactivity: Duration,
    /// How long it waits for a retransmission from one HARQ round trip after a failed attempt,
    /// drx-RetransmissionTimer; default 8ms.
    #[serde(with = "Text::<Duration>")]
    pub retransmission: Duration,
    /// Length of a cycle, longDRX-Cycle; default 320ms.
    #[serde(with = "Text::<Duration>")]
    pub long_cycle: Duration,
    /// Start of the cycle, drxStartOffset; default 0s.
    #[serde(with = "Text::<Duration>")]
    pub offset: Duration,
    /// Length of the cycles that follow activity, shortDRX-Cycle, of which a long one is a multiple;
    /// unset: none.
    #[serde(with = "Text::<Option<Duration>>")]
    pub short_cycle: Option<Duration>,
    /// How many short cycles, drxShortCycleTimer; default 4.
    pub short_cycles: u32,
}

impl Default for Drx {
    fn default() -> Self {
        Self {
            on_duration: Duration::from_millis(10),
            inactivity: Duration::from_millis(100),
            retransmission: Duration::from_millis(8),
            long_cycle: Duration::from_millis(320),
            offset: Duration::ZERO,
            short_cycle: None,
            short_cycles: 4,
        }
    }
}
