//! Models of path loss.

use config::{add_kind_words, table, word_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Length;

/// Loss over distance; each model has ranges of carriers and heights.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(deny_unknown_fields, transform = add_kind_words)]
pub enum PathLoss {
    /// Free space (Friis, Proc. IRE 34(5), 1946).
    Friis,
    /// Free space up to a distance, a power of the distance from there on.
    LogDistance(LogDistance),
    /// Hata's formulas, 150 to 1500 MHz (Hata, IEEE Trans. Veh. Tech. 29(3), 1980).
    OkumuraHata(Hata),
    /// Their extension by COST 231, 1500 to 2000 MHz (final report, clause 4.4.1).
    Cost231Hata(Hata),
    /// Macro cells in towns, TR 36.942 clause 4.5.2.
    #[serde(rename = "tr36942-urban")]
    Tr36942Urban(Roofs),
    /// Macro cells in the country, TR 36.942 clause 4.5.3.
    #[serde(rename = "tr36942-rural")]
    Tr36942Rural,
    /// Macro cells at 2 GHz, TR 36.814 table A.2.1.1-1.
    #[serde(rename = "tr36814-macro")]
    Tr36814Macro,
    /// Macro cells at 2 GHz with and without line of sight, TR 36.814 table A.2.1.1.2-3.
    #[serde(rename = "tr36814-sighted")]
    Tr36814Sighted,
    /// Urban macro cells, TR 38.901 table 7.4.1-1.
    #[serde(rename = "tr38901-uma")]
    Tr38901Uma,
    /// Rural macro cells, TR 38.901 table 7.4.1-1.
    #[serde(rename = "tr38901-rma")]
    Tr38901Rma(Streets),
}

word_or_table!(PathLoss {
    "friis" => Friis,
    "tr36942-rural" => Tr36942Rural,
    "tr36814-macro" => Tr36814Macro,
    "tr36814-sighted" => Tr36814Sighted,
    "tr38901-uma" => Tr38901Uma,
} {
    "log-distance" => LogDistance(LogDistance),
    "okumura-hata" => OkumuraHata(Hata),
    "cost231-hata" => Cost231Hata(Hata),
    "tr36942-urban" => Tr36942Urban(Roofs),
    "tr38901-rma" => Tr38901Rma(Streets),
});

impl PathLoss {
    /// Returns whether the loss depends on line of sight to the base station.
    pub(crate) fn has_los_model(&self) -> bool {
        matches!(
            self,
            Self::Tr36814Sighted | Self::Tr38901Uma | Self::Tr38901Rma(_)
        )
    }
}

table! {
    /// The parameters of a power of the distance.
    pub struct LogDistance {
        /// Power of the distance: 2 in free space, 3 to 4 in towns; default 3.5.
        pub exponent: f64 = 3.5,
        /// Distance at which free space ends; default 100m.
        pub reference: Length = Length::from_metres(100.0),
    }
}

table! {
    /// The parameter of Hata's formulas.
    pub struct Hata {
        /// Surroundings: "large-city", "medium-city", "suburban" or "open"; default "medium-city".
        pub environment: Environment,
    }
}

/// Surroundings of a base station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// A large city; for COST 231 a metropolitan centre.
    LargeCity,
    /// A small or medium city.
    #[default]
    MediumCity,
    /// Suburbs.
    Suburban,
    /// Open country, which COST 231 does not have.
    Open,
}

table! {
    /// The parameter of TR 36.942's towns.
    pub struct Roofs {
        /// Height of antennas above the average roof; default 15m.
        pub above_roofs: Length = Length::from_metres(15.0),
    }
}

table! {
    /// The parameters of TR 38.901's country.
    pub struct Streets {
        /// Average width of streets, W; default 20m.
        pub street_width: Length = Length::from_metres(20.0),
        /// Average height of buildings, h; default 5m.
        pub building_height: Length = Length::from_metres(5.0),
    }
}
