//! Thermal noise of a receiver.

use units::Decibel;

/// Boltzmann's constant, J/K (exact in SI since 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// Temperature that noise figures refer to, in kelvin: -174 dBm/Hz.
const TEMPERATURE_K: f64 = 290.0;

/// Returns the noise power kTB in dBm. The noise figure is what the receiver adds to thermal noise: 9 dB for a UE and
/// 5 dB for a base station in TR 36.942.
pub(crate) fn thermal_noise_dbm(bandwidth_hz: f64, figure: Decibel) -> f64 {
    let milliwatts = BOLTZMANN * TEMPERATURE_K * bandwidth_hz * 1e3;
    10.0 * libm::log10(milliwatts) + figure.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prb_with_a_noise_figure_of_7_db_has_minus_114_dbm() {
        let noise = thermal_noise_dbm(180e3, Decibel::new(7.0));
        assert!((noise - (-173.975 + 52.553 + 7.0)).abs() < 2e-3, "{noise}");
    }
}
