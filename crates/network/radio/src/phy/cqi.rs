//! Channel quality indicators (CQI): modulation and code rate of the values 1 to 15.

use super::Modulation;

/// Modulation and code rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodingScheme {
    /// Modulation.
    pub modulation: Modulation,
    /// Code rate in units of 1/2048, so that NR's halves of 1/1024 are exact.
    pub rate_2048: u16,
}

impl CodingScheme {
    /// Returns the code rate, below 1.
    pub fn rate(self) -> f64 {
        f64::from(self.rate_2048) / 2048.0
    }
}

/// Table of CQI values. LTE and NR share them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CqiTable {
    /// Up to 64QAM: TS 36.213 table 7.2.3-1, TS 38.214 table 5.2.2.1-2.
    Qam64,
    /// Up to 256QAM: TS 36.213 table 7.2.3-2, TS 38.214 table 5.2.2.1-3.
    Qam256,
    /// Up to 64QAM with rates for one error in 100,000: TS 38.214 table 5.2.2.1-4.
    LowRate,
}

use Modulation::{Qam16, Qam64, Qam256, Qpsk};

/// Returns a scheme with a rate in units of 1/1024, as the tables have it.
const fn scheme(modulation: Modulation, rate_1024: u16) -> CodingScheme {
    CodingScheme {
        modulation,
        rate_2048: 2 * rate_1024,
    }
}

const UP_TO_64QAM: [CodingScheme; 15] = [
    scheme(Qpsk, 78),
    scheme(Qpsk, 120),
    scheme(Qpsk, 193),
    scheme(Qpsk, 308),
    scheme(Qpsk, 449),
    scheme(Qpsk, 602),
    scheme(Qam16, 378),
    scheme(Qam16, 490),
    scheme(Qam16, 616),
    scheme(Qam64, 466),
    scheme(Qam64, 567),
    scheme(Qam64, 666),
    scheme(Qam64, 772),
    scheme(Qam64, 873),
    scheme(Qam64, 948),
];

const UP_TO_256QAM: [CodingScheme; 15] = [
    scheme(Qpsk, 78),
    scheme(Qpsk, 193),
    scheme(Qpsk, 449),
    scheme(Qam16, 378),
    scheme(Qam16, 490),
    scheme(Qam16, 616),
    scheme(Qam64, 466),
    scheme(Qam64, 567),
    scheme(Qam64, 666),
    scheme(Qam64, 772),
    scheme(Qam64, 873),
    scheme(Qam256, 711),
    scheme(Qam256, 797),
    scheme(Qam256, 885),
    scheme(Qam256, 948),
];

/// Two lower rates, and those of [`UP_TO_64QAM`] without the two highest.
const LOW_RATE: [CodingScheme; 15] = {
    let mut schemes = [scheme(Qpsk, 30); 15];
    schemes[1] = scheme(Qpsk, 50);
    let mut value = 2;
    while value < 15 {
        schemes[value] = UP_TO_64QAM[value - 2];
        value += 1;
    }
    schemes
};

impl CqiTable {
    /// Returns the schemes of the values 1 to 15. The value 0 means out of range.
    pub(crate) const fn schemes(self) -> &'static [CodingScheme; 15] {
        match self {
            Self::Qam64 => &UP_TO_64QAM,
            Self::Qam256 => &UP_TO_256QAM,
            Self::LowRate => &LOW_RATE,
        }
    }

    /// Returns the scheme of `cqi`; `None` for 0 and above 15.
    pub fn scheme(self, cqi: u8) -> Option<CodingScheme> {
        self.schemes()
            .get(usize::from(cqi).checked_sub(1)?)
            .copied()
    }

    /// Returns the maximum share of lost blocks for which a value is reported (TS 36.213 7.2.3, TS 38.214
    /// 5.2.2.1).
    pub(crate) const fn target_bler(self) -> f64 {
        match self {
            Self::Qam64 | Self::Qam256 => 0.1,
            Self::LowRate => 1e-5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl CodingScheme {
        /// Returns the information bits per symbol.
        pub(crate) fn efficiency(self) -> f64 {
            self.rate() * f64::from(self.modulation.bits_per_symbol())
        }
    }

    #[test]
    fn efficiencies_are_those_printed_in_the_tables() {
        // TS 36.213 table 7.2.3-1, last column.
        let printed = [
            0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223,
            3.9023, 4.5234, 5.1152, 5.5547,
        ];
        for (scheme, printed) in CqiTable::Qam64.schemes().iter().zip(printed) {
            assert!((scheme.efficiency() - printed).abs() < 6e-5, "{scheme:?}");
        }
        // TS 36.213 table 7.2.3-2.
        let printed = [
            0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152,
            5.5547, 6.2266, 6.9141, 7.4063,
        ];
        for (scheme, printed) in CqiTable::Qam256.schemes().iter().zip(printed) {
            assert!((scheme.efficiency() - printed).abs() < 6e-5, "{scheme:?}");
        }
        // TS 38.214 table 5.2.2.1-4.
        let printed = [
            0.0586, 0.0977, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063,
            2.7305, 3.3223, 3.9023, 4.5234,
        ];
        for (scheme, printed) in CqiTable::LowRate.schemes().iter().zip(printed) {
            assert!((scheme.efficiency() - printed).abs() < 6e-5, "{scheme:?}");
        }
    }

    #[test]
    fn every_table_rises_and_has_no_value_0_or_16() {
        for table in [CqiTable::Qam64, CqiTable::Qam256, CqiTable::LowRate] {
            assert!(
                table
                    .schemes()
                    .is_sorted_by(|a, b| a.efficiency() < b.efficiency())
            );
            assert_eq!((table.scheme(0), table.scheme(16)), (None, None));
        }
    }
}
