//! Widths of NR carriers.

use super::Numerology;
use crate::phy::ConfigError;

/// Part of the spectrum that a carrier lies in (TS 38.101-1 table 5.1-1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrequencyRange {
    /// Range from 410 to 7125 MHz.
    Fr1,
    /// Range from 24.25 to 52.6 GHz.
    Fr2,
}

/// Widths in MHz and N_RB at 15 kHz in FR1 (TS 38.101-1 table 5.3.2-1).
const FR1_15_KHZ: &[(u32, u32)] = &[
    (5, 25),
    (10, 52),
    (15, 79),
    (20, 106),
    (25, 133),
    (30, 160),
    (35, 188),
    (40, 216),
    (45, 242),
    (50, 270),
];

/// Widths in MHz and N_RB at 30 kHz in FR1 (same table).
const FR1_30_KHZ: &[(u32, u32)] = &[
    (5, 11),
    (10, 24),
    (15, 38),
    (20, 51),
    (25, 65),
    (30, 78),
    (35, 92),
    (40, 106),
    (45, 119),
    (50, 133),
    (60, 162),
    (70, 189),
    (80, 217),
    (90, 245),
    (100, 273),
];

/// Widths in MHz and N_RB at 60 kHz in FR1 (same table).
const FR1_60_KHZ: &[(u32, u32)] = &[
    (10, 11),
    (15, 18),
    (20, 24),
    (25, 31),
    (30, 38),
    (35, 44),
    (40, 51),
    (45, 58),
    (50, 65),
    (60, 79),
    (70, 93),
    (80, 107),
    (90, 121),
    (100, 135),
];

/// Widths in MHz and N_RB at 60 kHz in FR2 (TS 38.101-2 table 5.3.2-1).
const FR2_60_KHZ: &[(u32, u32)] = &[(50, 66), (100, 132), (200, 264)];

/// Widths in MHz and N_RB at 120 kHz in FR2 (same table).
const FR2_120_KHZ: &[(u32, u32)] = &[(50, 32), (100, 66), (200, 132), (400, 264)];

impl FrequencyRange {
    /// Returns the widths in MHz at a subcarrier spacing in kHz, with their N_RB.
    pub(crate) const fn widths(self, spacing_khz: u32) -> &'static [(u32, u32)] {
        match (self, spacing_khz) {
            (Self::Fr1, 15) => FR1_15_KHZ,
            (Self::Fr1, 30) => FR1_30_KHZ,
            (Self::Fr1, 60) => FR1_60_KHZ,
            (Self::Fr2, 60) => FR2_60_KHZ,
            (Self::Fr2, 120) => FR2_120_KHZ,
            _ => &[],
        }
    }

    /// Returns the physical resource blocks, N_RB, of a carrier of `mhz` with that numerology.
    ///
    /// # Errors
    /// If TS 38.101 has no such carrier.
    pub fn prbs(self, numerology: Numerology, mhz: u32) -> Result<u32, ConfigError> {
        let (range, part) = match self {
            Self::Fr1 => ("FR1", 1),
            Self::Fr2 => ("FR2", 2),
        };
        let scs_khz = numerology.subcarrier_spacing_khz();
        let width = self
            .widths(scs_khz)
            .iter()
            .find(|&&(known, _)| known == mhz);
        let unknown = ConfigError::NrBandwidth {
            mhz,
            scs_khz,
            range,
            part,
        };
        width.map(|&(_, prbs)| prbs).ok_or(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prbs(range: FrequencyRange, mu: u32, mhz: u32) -> Result<u32, ConfigError> {
        range.prbs(Numerology::new(mu)?, mhz)
    }

    #[test]
    fn ts_38_101_table_5_3_2_1() {
        assert_eq!(prbs(FrequencyRange::Fr1, 0, 20), Ok(106));
        assert_eq!(prbs(FrequencyRange::Fr1, 0, 50), Ok(270));
        assert_eq!(prbs(FrequencyRange::Fr1, 1, 40), Ok(106));
        assert_eq!(prbs(FrequencyRange::Fr1, 1, 100), Ok(273));
        assert_eq!(prbs(FrequencyRange::Fr1, 2, 100), Ok(135));
        assert_eq!(prbs(FrequencyRange::Fr2, 2, 200), Ok(264));
        assert_eq!(prbs(FrequencyRange::Fr2, 3, 100), Ok(66));
        assert_eq!(prbs(FrequencyRange::Fr2, 3, 400), Ok(264));
    }

    #[test]
    fn blocks_leave_a_guard_band_on_either_side() {
        for range in [FrequencyRange::Fr1, FrequencyRange::Fr2] {
            for numerology in (0..4).map(|mu| Numerology::new(mu).expect("supported")) {
                for (mhz, _) in range.widths(numerology.subcarrier_spacing_khz()) {
                    let prbs = range.prbs(numerology, *mhz).expect("in the table");
                    let prb_hz = 12_000 * numerology.subcarrier_spacing_khz();
                    let used = f64::from(prbs * prb_hz) / (f64::from(*mhz) * 1e6);
                    assert!((0.79..0.99).contains(&used), "{range:?} {mhz}: {used}");
                }
            }
        }
    }

    #[test]
    fn undefined_carriers_are_rejected_by_name() {
        let error = prbs(FrequencyRange::Fr1, 3, 100).expect_err("no 120 kHz in FR1");
        assert_eq!(
            error.to_string(),
            "bandwidth = 100 MHz: not defined at 120 kHz in FR1 (TS 38.101-1 5.3.2)"
        );
    }
}
