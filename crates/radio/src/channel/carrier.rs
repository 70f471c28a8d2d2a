//! Carrier frequency, speed, and the Doppler shift that the two make.

use super::ParameterError;

/// Speed of light, m/s.
pub(crate) const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// The centre frequency of a downlink.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Carrier(f64);

impl Carrier {
    /// A carrier of `hz` hertz, from 100 MHz to 100 GHz.
    pub fn from_hz(hz: f64) -> Result<Self, ParameterError> {
        ParameterError::range("carrier frequency in Hz", hz, 1e8, 1e11).map(Self)
    }

    /// A carrier of `mhz` megahertz, from 100 MHz to 100 GHz.
    pub fn from_mhz(mhz: f64) -> Result<Self, ParameterError> {
        Self::from_hz(mhz * 1e6)
    }

    /// Hertz.
    pub fn hz(self) -> f64 {
        self.0
    }

    /// Megahertz.
    pub fn mhz(self) -> f64 {
        self.0 * 1e-6
    }

    /// Gigahertz.
    pub(crate) fn ghz(self) -> f64 {
        self.0 * 1e-9
    }

    /// Metres.
    pub fn wavelength_m(self) -> f64 {
        LIGHT_M_PER_S / self.0
    }
}

/// How fast a receiver moves.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Speed(f64);

impl Speed {
    /// Kilometres per hour, from 0 to 1000.
    pub fn from_km_per_h(speed: f64) -> Result<Self, ParameterError> {
        ParameterError::range("speed in km/h", speed, 0.0, 1e3).map(|speed| Self(speed / 3.6))
    }

    /// Metres per second, from 0 to 300.
    pub fn from_m_per_s(speed: f64) -> Result<Self, ParameterError> {
        ParameterError::range("speed in m/s", speed, 0.0, 300.0).map(Self)
    }

    /// Metres per second.
    pub(crate) fn m_per_s(self) -> f64 {
        self.0
    }
}

/// The largest Doppler shift of a fading channel, and which way it was said.
///
/// "EVA60" of a testbed means 60 km/h while 3GPP's "EVA70" means 70 Hz; here a number never goes
/// without its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Doppler {
    /// As 3GPP names its profiles: TS 36.101 table B.2.2-1 (EPA 5 Hz, EVA 5 Hz, EVA 70 Hz, ETU 70 Hz,
    /// ETU 300 Hz).
    Hertz(f64),
    /// The shift that a receiver of this speed sees on this carrier, v f / c.
    Moving(Speed, Carrier),
}

impl Doppler {
    /// A shift of `hz` hertz, from 0 to 10 kHz.
    pub fn from_hz(hz: f64) -> Result<Self, ParameterError> {
        ParameterError::range("Doppler shift in Hz", hz, 0.0, 1e4).map(Self::Hertz)
    }

    /// Hertz.
    pub fn hz(self) -> f64 {
        match self {
            Self::Hertz(hz) => hz,
            Self::Moving(speed, carrier) => speed.m_per_s() / carrier.wavelength_m(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_km_per_h_in_band_7_is_147_hz() {
        let doppler = Doppler::Moving(
            Speed::from_km_per_h(60.0).unwrap(),
            Carrier::from_mhz(2650.0).unwrap(),
        );
        assert!((doppler.hz() - 147.3).abs() < 0.05, "{}", doppler.hz());
    }

    #[test]
    fn a_megahertz_taken_for_a_hertz_is_refused_with_what_is_allowed() {
        let error = Carrier::from_hz(2650.0).unwrap_err().to_string();
        assert_eq!(
            error,
            "carrier frequency in Hz = 2650 must be from 100000000 to 100000000000"
        );
        assert!(Speed::from_km_per_h(f64::NAN).is_err());
    }
}
