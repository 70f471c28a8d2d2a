//! Cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Decibel;

use super::{Angle, Gain, Length, Power};
use config::Text;
use config::{or_word, word_or_table};

/// One cell; all are on the same carrier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cell {
    /// Name in results; default "cell-1", "cell-2" and so on.
    pub name: String,
    /// Towards the east; default 0m.
    #[serde(with = "Text::<Length>")]
    pub x: Length,
    /// Towards the north; default 0m.
    #[serde(with = "Text::<Length>")]
    pub y: Length,
    /// Height of the antenna over ground; default 30m.
    #[serde(with = "Text::<Length>")]
    pub height: Length,
    /// Power over the whole carrier; default 46dBm (TR 36.814 table A.2.1.1-2).
    #[serde(with = "Text::<Power>")]
    pub power: Power,
    /// Antenna: "omni", "sector", or a table of kind and parameters; default "omni".
    pub antenna: Antenna,
    /// Name of the site: cells of one site share their shadow; unset: a site of its own.
    pub site: Option<String>,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            name: String::new(),
            x: Length::from_metres(0.0),
            y: Length::from_metres(0.0),
            height: Length::from_metres(30.0),
            power: Power::from_dbm(46.0),
            antenna: Antenna::Omni(Omni::default()),
            site: None,
        }
    }
}

/// Antenna of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(transform = or_word)]
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

/// The same gain in all directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Omni {
    /// Gain; default 0dBi.
    #[serde(with = "Text::<Gain>")]
    pub gain: Gain,
}

impl Default for Omni {
    fn default() -> Self {
        Self {
            gain: Gain::from_dbi(0.0),
        }
    }
}

/// One sector.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sector {
    /// Main direction, clockwise from the north; default 0deg.
    #[serde(with = "Text::<Angle>")]
    pub azimuth: Angle,
    /// Width within which the gain falls by less than 3 dB; default 65deg.
    #[serde(with = "Text::<Angle>")]
    pub width: Angle,
    /// Largest attenuation; default 20dB.
    #[serde(with = "Text::<Decibel>")]
    pub front_to_back: Decibel,
    /// Gain in the main direction; default 15dBi.
    #[serde(with = "Text::<Gain>")]
    pub gain: Gain,
    /// Downward tilt, together with vertical_width; unset: no vertical pattern.
    #[serde(with = "Text::<Option<Angle>>")]
    pub tilt: Option<Angle>,
    /// Vertical width within which the gain falls by less than 3 dB; unset, as must tilt be: no vertical
    /// pattern.
    #[serde(with = "Text::<Option<Angle>>")]
    pub vertical_width: Option<Angle>,
}

impl Default for Sector {
    fn default() -> Self {
        Self {
            azimuth: Angle::from_degrees(0.0),
            width: Angle::from_degrees(65.0),
            front_to_back: Decibel::new(20.0),
            gain: Gain::from_dbi(15.0),
            tilt: None,
            vertical_width: None,
        }
    }
}
