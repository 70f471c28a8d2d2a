//! Fast fading and the receiver under it.

use config::{table, word_or_time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

use super::{Angle, Frequency, Length, Speed};

table! {
    /// Fast fading around the mean, with exactly one of speed and doppler.
    pub struct Fading {
        /// Delay profile: "flat", "EPA", "EVA", "ETU" (TS 36.101 annex B.2), or "HST", the single tap of a
        /// high-speed train (annex B.3); default "EVA".
        pub profile: Profile = Profile::Eva,
        /// Speed of the UE, from which and the carrier the largest Doppler shift follows.
        pub speed: Option<Speed>,
        /// Largest Doppler shift. 3GPP's "EVA70" means 70Hz, not 70km/h.
        pub doppler: Option<Frequency>,
        /// Rician K factor of the first tap: direct over scattered power. Unset: no direct path, but with a
        /// train nothing but the direct path in that tap; 10dB in the tunnel of TS 36.104 table B.3-1.
        pub k: Option<Decibel>,
        /// Angle between the movement and the direct path where k is set and there is no train; default
        /// 45deg, which is about the 0.7 of the largest shift of TR 38.901 clause 7.7.2.
        pub angle: Angle = Angle::from_degrees(45.0),
        /// Base stations along a track, past which the UE travels, so that the shift of the direct path
        /// swings; unset: none, but with profile "HST" the defaults.
        pub train: Option<Train>,
        /// Tracking of the shift of the direct path by the oscillator: "ideal", "fixed" (it stays on the
        /// carrier), or the time between corrections such as "100ms"; default "ideal".
        pub tracking: Tracking = Tracking::Ideal,
        /// Estimation of the channel between reference symbols: "ideal", or interpolated over the "lte" spacing
        /// of 250us, over that of one per slot, "lte-slot", or over a time such as "500us"; default "ideal".
        pub estimation: Estimation = Estimation::Ideal,
    }
}

impl Fading {
    /// Returns the track if the UE is on a train.
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

table! {
    /// Base stations along a track (TS 36.101 table B.3-1).
    #[derive(Copy)]
    pub struct Train {
        /// Way from one base station to the next, D_s; default 300m.
        pub spacing: Length = Length::from_metres(300.0),
        /// Distance of the base stations from the track, D_min; default 2m.
        pub distance: Length = Length::from_metres(2.0),
    }
}

/// Tracking: how the oscillator follows the Doppler shift of the direct path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracking {
    /// At once.
    Ideal,
    /// Not at all.
    Fixed,
    /// Once per period.
    Held(Duration),
}

word_or_time!(Tracking { "ideal" => Ideal, "fixed" => Fixed } Held, "a way of tracking", "a period such as \"100ms\"");

/// Estimation: how the receiver knows the channel between reference symbols.
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

word_or_time!(Estimation { "ideal" => Ideal, "lte" => Lte, "lte-slot" => LteSlot } Interpolated, "a way of estimation", "a time such as \"500us\"");
