//! Doppler shift, as a frequency or as the speed that causes it.

use units::{Frequency, Speed};

/// Speed of light, m/s.
const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// Returns the wavelength of a carrier in metres.
pub fn wavelength_m(carrier: Frequency) -> f64 {
    LIGHT_M_PER_S / carrier.hertz()
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
    Moving(Speed, Frequency),
}

impl Doppler {
    /// Returns the shift in hertz.
    pub fn hz(self) -> f64 {
        match self {
            Self::Hertz(hz) => hz,
            Self::Moving(speed, carrier) => speed.metres_per_second() / wavelength_m(carrier),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_km_per_h_in_band_7_is_147_hz() {
        let doppler = Doppler::Moving(
            Speed::from_metres_per_second(60.0 / 3.6),
            Frequency::from_hertz(2650e6),
        );
        assert!((doppler.hz() - 147.3).abs() < 0.05, "{}", doppler.hz());
    }
}
