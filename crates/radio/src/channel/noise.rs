//! Thermal noise of a receiver.

use super::ParameterError;

/// Boltzmann's constant, J/K (exact in SI since 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// Temperature that noise figures refer to, in kelvin: -174 dBm/Hz.
const TEMPERATURE_K: f64 = 290.0;

/// Noise that a receiver adds to thermal noise, in dB: 9 dB for a UE and 5 dB for a base station in TR 36.942.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct NoiseFigure(f64);

impl NoiseFigure {
    /// Returns a noise figure of `db`, from 0 to 30 dB.
    pub fn new(db: f64) -> Result<Self, ParameterError> {
        ParameterError::range("noise figure in dB", db, 0.0, 30.0).map(Self)
    }

    /// Returns the noise figure in dB.
    pub fn db(self) -> f64 {
        self.0
    }
}

/// Returns the noise power kTB with the noise figure, in dBm.
pub(crate) fn thermal_noise_dbm(bandwidth_hz: f64, figure: NoiseFigure) -> f64 {
    let milliwatts = BOLTZMANN * TEMPERATURE_K * bandwidth_hz * 1e3;
    10.0 * libm::log10(milliwatts) + figure.db()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prb_with_a_noise_figure_of_7_db_has_minus_114_dbm() {
        let noise = thermal_noise_dbm(180e3, NoiseFigure::new(7.0).unwrap());
        assert!((noise - (-173.975 + 52.553 + 7.0)).abs() < 2e-3, "{noise}");
    }
}
