//! Settings of propagation: the signals of cells that arrive at a place.

use config::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

use super::{Length, PathLoss};

table! {
    /// From positions to SINR: path loss, shadowing, noise and interference.
    pub struct Propagation {
        /// Path loss: "friis", "log-distance", "okumura-hata", "cost231-hata", "tr36942-urban",
        /// "tr36942-rural", "tr36814-macro", "tr36814-sighted", "tr38901-uma", "tr38901-rma", or a table of
        /// kind and parameters; default "friis".
        pub model: PathLoss = PathLoss::Friis,
        /// Whether base stations are in sight: "line" (always), "none", or "probable", with the probability
        /// of the model at the distance; default "line". Only for models that distinguish the two.
        pub los: LosModel = LosModel::Line,
        /// Shadowing by buildings and terrain; unset: none.
        pub shadowing: Option<Shadowing>,
        /// Noise figure of UEs; default 7dB.
        pub noise_figure: Decibel = Decibel::new(7.0),
        /// Noise figure of base stations; default 5dB (TR 36.942).
        pub enb_noise_figure: Decibel = Decibel::new(5.0),
        /// Height of UEs over ground; default 1.5m.
        pub ue_height: Length = Length::from_metres(1.5),
        /// Interference of other cells: "none"; "mean": with their mean power; "faded": with fast fading
        /// of their own; default "mean".
        pub interference: Interference = Interference::Mean,
        /// With interference "faded", cells this far below the noise interfere with their mean power; default 20dB.
        pub culling: Decibel = Decibel::new(20.0),
        /// Load of other cells, which transmit: "full": all the time on all resource blocks; "actual": when and where
        /// they do; default "full".
        pub load: Load = Load::Full,
        /// Time between updates of path loss and shadowing; default 10ms.
        pub update_period: Duration = Duration::from_millis(10),
    }
}

/// Whether base stations are in sight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LosModel {
    /// Always.
    Line,
    /// Never.
    None,
    /// With the probability that the model has at the distance.
    Probable,
}

table! {
    /// Shadowing by buildings and terrain, normal in dB.
    pub struct Shadowing {
        /// Standard deviation; default 8dB (TR 36.814 table A.2.1.1-1).
        pub deviation: Decibel = Decibel::new(8.0),
        /// Distance over which the correlation falls to 1/e (Gudmundson, Electronics Letters 27(23), 1991);
        /// default 50m (TR 36.814 table A.2.1.1-1).
        pub correlation_distance: Length = Length::from_metres(50.0),
        /// Correlation between sites; cells of one site share their shadow; default 0.5 (TR 36.814 table
        /// A.2.1.1-1).
        #[schemars(range(min = 0, max = 1))]
        pub site_correlation: f64 = 0.5,
    }
}

/// Interference of other cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interference {
    /// Not at all.
    None,
    /// With their mean power.
    Mean,
    /// With fast fading of their own.
    Faded,
}

/// Load of other cells: the times when they transmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// All the time on all resource blocks.
    Full,
    /// The share of the resource blocks that they use.
    Actual,
}
