//! Radio link failure and what follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

use config::Text;

/// When a link counts as failed (TS 36.331 clause 5.3.11), and the way back (clause 5.3.7).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkFailure {
    /// Out of sync below this mean SINR of 200 ms; default -8dB: TS 36.133 clause 7.6 has no level in dB.
    #[serde(with = "Text::<Decibel>")]
    pub out_of_sync: Decibel,
    /// In sync above this mean SINR of 100 ms; default -6dB.
    #[serde(with = "Text::<Decibel>")]
    pub in_sync: Decibel,
    /// Out-of-sync indications in a row that start T310; default 1 (TS 36.331 clause 9.2.5).
    pub n310: u32,
    /// In-sync indications in a row that stop T310; default 1.
    pub n311: u32,
    /// Time until the link counts as failed, T310; default 1s.
    #[serde(with = "Text::<Duration>")]
    pub t310: Duration,
    /// Time to find and read a suitable cell; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub cell_selection: Duration,
    /// Time for cell selection before the UE goes idle, T311; default 1s.
    #[serde(with = "Text::<Duration>")]
    pub t311: Duration,
    /// Random access and messages of a re-establishment; default 50ms.
    #[serde(with = "Text::<Duration>")]
    pub reestablishment: Duration,
    /// Time for the re-establishment before the UE goes idle, T301; default 1s.
    #[serde(with = "Text::<Duration>")]
    pub t301: Duration,
    /// A new connection from idle, bearers included; default 100ms (TR 25.913).
    #[serde(with = "Text::<Duration>")]
    pub connection: Duration,
    /// Whether a cell that was not prepared fetches the UE's context, rather than have it connect anew;
    /// default false.
    pub context_fetch: bool,
}

impl Default for LinkFailure {
    fn default() -> Self {
        Self {
            out_of_sync: Decibel::new(-8.0),
            in_sync: Decibel::new(-6.0),
            n310: 1,
            n311: 1,
            t310: Duration::from_millis(1_000),
            cell_selection: Duration::from_millis(100),
            t311: Duration::from_millis(1_000),
            reestablishment: Duration::from_millis(50),
            t301: Duration::from_millis(1_000),
            connection: Duration::from_millis(100),
            context_fetch: false,
        }
    }
}
