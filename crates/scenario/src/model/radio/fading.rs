//! Fast fading and the receiver under it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

use super::{Angle, Frequency, Length, Speed};
use config::{Quantity, Text};

/// Fast fading around the mean, with exactly one of speed and doppler.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fading {
    /// Delay profile: "flat", "EPA", "EVA", "ETU" (TS 36.101 annex B.2), or "HST", the single tap of a
    /// high-speed train (annex B.3); default "EVA".
    pub profile: Profile,
    /// Speed of the UE, from which and the carrier the largest Doppler shift follows.
    #[serde(with = "Text::<Option<Speed>>")]
    pub speed: Option<Speed>,
    /// Largest Doppler shift. 3GPP's "EVA70" means 70Hz, not 70km/h.
    #[serde(with = "Text::<Option<Frequency>>")]
    pub doppler: Option<Frequency>,
    /// Rician K factor of the first tap: direct over scattered power. Unset: no direct path, but with a
    /// train nothing but the direct path in that tap; 10dB in the tunnel of TS 36.104 table B.3-1.
    #[serde(with = "Text::<Option<Decibel>>")]
    pub k: Option<Decibel>,
    /// Angle between the movement and the direct path where k is set and there is no train; default
    /// 45deg, which is about the 0.7 of the largest shift of TR 38.901 clause 7.7.2.
    #[serde(with = "Text::<Angle>")]
    pub angle: Angle,
    /// Base stations beside a track, past which the UE travels, so that the shift of the direct path
    /// swings; unset: none, but with profile "HST" the defaults.
    pub train: Option<Train>,
    /// How the oscillator follows the shift of the direct path: "ideal", "fixed" (it stays on the
    /// carrier), or the time between corrections such as "100ms"; default "ideal".
    #[serde(with = "Text::<Tracking>")]
    pub tracking: Tracking,
    /// How the channel is known between reference symbols: "ideal", or interpolated over the "lte" spacing
    /// of 250us, over that of one per slot, "lte-slot", or over a time such as "500us"; default "ideal".
    #[serde(with = "Text::<Estimation>")]
    pub estimation: Estimation,
}

impl Default for Fading {
    fn default() -> Self {
        Self {
            profile: Profile::Eva,
            speed: None,
            doppler: None,
            k: None,
            angle: Angle::from_degrees(45.0),
            train: None,
            tracking: Tracking::Ideal,
            estimation: Estimation::Ideal,
        }
    }
}

impl Fading {
    /// The track, if the UE is on a train.
    pub fn track(&self) -> Option<Train> {
        let implied = (self.profile == Profile::Hst).then(Train::default);
        self.train.or(implied)
    }
}

/// Delays and powers of the taps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// One tap.
    #[serde(rename = "flat")]
    Flat,
    /// Extended Pedestrian A.
    #[serde(rename = "EPA")]
    Epa,
    /// Extended Vehicular A.
    #[serde(rename = "EVA")]
    Eva,
    /// Extended Typical Urban.
    #[serde(rename = "ETU")]
    Etu,
    /// One tap, seen from a train.
    #[serde(rename = "HST")]
    Hst,
}

/// Base stations beside a track (TS 36.101 table B.3-1).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Train {
    /// Way from one base station to the next, D_s; default 300m.
    #[serde(with = "Text::<Length>")]
    pub spacing: Length,
    /// Distance of the base stations from the track, D_min; default 2m.
    #[serde(with = "Text::<Length>")]
    pub distance: Length,
}

impl Default for Train {
    fn default() -> Self {
        Self {
            spacing: Length::from_metres(300.0),
            distance: Length::from_metres(2.0),
        }
    }
}

/// How the oscillator follows the Doppler shift of the direct path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracking {
    /// At once.
    Ideal,
    /// Not at all.
    Fixed,
    /// Once per period.
    Held(Duration),
}

impl Quantity for Tracking {
    const NAME: &'static str = "Tracking";
    const PATTERN: &'static str = r"^(ideal|fixed|\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*)$";

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "ideal" => Ok(Self::Ideal),
            "fixed" => Ok(Self::Fixed),
            period => period.parse().map(Self::Held).map_err(|_| {
                format!(
                    "{text:?} is not a way of tracking; allowed: \"ideal\", \"fixed\", a period such as \
                     \"100ms\""
                )
            }),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Ideal => "ideal".to_owned(),
            Self::Fixed => "fixed".to_owned(),
            Self::Held(period) => period.to_string(),
        }
    }
}

/// How the receiver knows the channel between reference symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimation {
    /// Exactly.
    Ideal,
    /// Interpolated between the reference symbols of LTE.
    Lte,
    /// Interpolated between estimates of whole slots of LTE.
    LteSlot,
    /// Interpolated over this time.
    Interpolated(Duration),
}

impl Quantity for Estimation {
    const NAME: &'static str = "Estimation";
    const PATTERN: &'static str =
        r"^(ideal|lte|lte-slot|\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*)$";

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "ideal" => Ok(Self::Ideal),
            "lte" => Ok(Self::Lte),
            "lte-slot" => Ok(Self::LteSlot),
            time => time.parse().map(Self::Interpolated).map_err(|_| {
                format!(
                    "{text:?} is not a way of estimation; allowed: \"ideal\", \"lte\", \"lte-slot\", a time \
                     such as \"500us\""
                )
            }),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Ideal => "ideal".to_owned(),
            Self::Lte => "lte".to_owned(),
            Self::LteSlot => "lte-slot".to_owned(),
            Self::Interpolated(time) => time.to_string(),
        }
    }
}
