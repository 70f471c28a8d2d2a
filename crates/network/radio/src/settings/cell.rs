//! Cells.

use config::{add_kind_words, table, word_or_table};
use schemars::JsonSchema;
use serde::Serialize;
use units::Decibel;

use super::{Angle, Gain, Length, Power};

table! {
    /// One cell; all are on the same carrier.
    pub struct Cell {
        /// Name in results; default "cell-1", "cell-2" and so on.
        pub name: String,
        /// Towards the east; default 0m.
        pub x: Length = Length::from_metres(0.0),
        /// Towards the north; default 0m.
        pub y: Length = Length::from_metres(0.0),
        /// Height of the antenna over ground; default 30m.
        pub height: Length = Length::from_metres(30.0),
        /// Power over the whole carrier; default 46dBm (TR 36.814 table A.2.1.1-2).
        pub power: Power = Power::from_dbm(46.0),
        /// Antenna: "omni", "sector", or a table of kind and parameters; default "omni".
        pub antenna: Antenna = Antenna::Omni(Omni::default()),
        /// Name of the site: cells of one site share their shadow; unset: a site of its own.
        pub site: Option<String>,
    }
}

/// Antenna of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(transform = add_kind_words)]
pub enum Antenna {
    /// The same gain in all directions.
    Omni(Omni),
    /// One sector (TR 36.942 clause 4.2.1, TR 36.814 table A.2.1.1-2).
    Sector(Sector),
}

word_or_table!(Antenna {} {
    "omni" => Omni(Omni),
    "sector" => Sector(Sector),
});

table! {
    /// The same gain in all directions.
    pub struct Omni {
        /// Gain; default 0dBi.
        pub gain: Gain = Gain::from_dbi(0.0),
    }
}

table! {
    /// One sector.
    pub struct Sector {
        /// Main direction, clockwise from the north; default 0deg.
        pub azimuth: Angle = Angle::from_degrees(0.0),
        /// Width within which the gain falls by less than 3 dB; default 65deg.
        pub width: Angle = Angle::from_degrees(65.0),
        /// Largest attenuation; default 20dB.
        pub front_to_back: Decibel = Decibel::new(20.0),
        /// Gain in the main direction; default 15dBi.
        pub gain: Gain = Gain::from_dbi(15.0),
        /// Downward tilt, together with vertical_width; unset: no vertical pattern.
        pub tilt: Option<Angle>,
        /// Vertical width within which the gain falls by less than 3 dB; unset, as must tilt be: no vertical
        /// pattern.
        pub vertical_width: Option<Angle>,
    }
}
