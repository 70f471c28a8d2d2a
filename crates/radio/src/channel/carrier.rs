//! Carrier frequency, speed, and the Doppler shift that follows from the two.

use super::ParameterError;

/// Speed of light, m/s.
pub(crate) const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// The centre frequency of a downlink.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Carrier(f64);

impl Carrier {
    /// Returns a carrier of `hz` hertz, from 100 MHz to 100 GHz.
    pub fn from_hz(hz: f64) -> Result<Self, ParameterError> {
        ParameterError::range("carrier frequency in Hz", hz, 1e8, 1e11).map(Self)
    }

    /// Returns a carrier of `mhz` megahertz, from 100 MHz to 100 GHz.
    pub fn from_mhz(mhz: f64) -> Result<Self, ParameterError> {
        Self::from_hz(mhz * 1e6)
    }

    /// Returns the frequency in hertz.
    pub fn hz(self) -> f64 {
        self.0
    }

    /// Returns the frequency in megahertz.
    pub fn mhz(self) -> f64 {
        self.0 * 1e-6
    }

    /// Returns the frequency in gigahertz.
    pub(crate) fn ghz(self) -> f64 {
        self.0 * 1e-9
    }

    /// Returns the wavelength in metres.
    pub fn wavelength_m(self) -> f64 {
        LIGHT_M_PER_S / self.0
    }
}

/// Speed of a receiver.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Speed(f64);

impl Speed {
    /// Returns a speed in kilometres per hour, from 0 to 1000.
    pub fn from_km_per_h(speed: f64) -> Result<Self, ParameterError> {
        ParameterError::range("speed in km/h", speed, 0.0, 1e3).map(|speed| Self(speed / 3.6))
    }

    /// Returns a speed in metres per second, from 0 to 300.
    pub fn from_m_per_s(speed: f64) -> Result<Self, ParameterError> {
        ParameterError::range("speed in m/s", speed, 0.0, 300.0).map(Self)
    }

    /// Returns the speed in metres per second.
    pub(crate) fn m_per_s(self) -> f64 {
        self.0
    }
}

/// Largest Doppler shift of a fading channel, given as a frequency or as a speed.
///
/// "EVA60" of a testbed means 60 km/h while "EVA70" of 3GPP means 70 Hz. Here every number has its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Doppler {
    /// Shift in hertz, as 3GPP names its profiles: TS 36.101 table B.2.2-1 (EPA 5 Hz, EVA 5 Hz, EVA 70 Hz, ETU 70 Hz,
    /// ETU 300 Hz).
    Hertz(f64),
    /// Shift that a receiver of this speed sees on this carrier, v f / c.
    Moving(Speed, Carrier),
}

impl Doppler {
    /// Returns a shift of `hz` hertz, from 0 to 10 kHz.
    pub fn from_hz(hz: f64) -> Result<Self, ParameterError> {
        ParameterError::range("Doppler shift in Hz", hz, 0.0, 1e4).map(Self::Hertz)
    }

    /// Returns the shift in hertz.
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
