//! Operating bands and the widths of their carriers.

use super::{Frequency, Technology};

/// Operating band, described by its downlink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Band {
    /// Number of the band.
    pub number: u32,
    /// Edges of the downlink.
    low_mhz: f64,
    high_mhz: f64,
    /// Whether both directions share the band.
    pub is_tdd: bool,
}

const fn fdd(number: u32, low_mhz: f64, high_mhz: f64) -> Band {
    Band {
        number,
        low_mhz,
        high_mhz,
        is_tdd: false,
    }
}

const fn tdd(number: u32, low_mhz: f64, high_mhz: f64) -> Band {
    Band {
        is_tdd: true,
        ..fdd(number, low_mhz, high_mhz)
    }
}

/// E-UTRA in FDD: TS 36.101 table 5.5-1, downlink.
const LTE: [Band; 30] = [
    fdd(1, 2110.0, 2170.0),
    fdd(2, 1930.0, 1990.0),
    fdd(3, 1805.0, 1880.0),
    fdd(4, 2110.0, 2155.0),
    fdd(5, 869.0, 894.0),
    fdd(7, 2620.0, 2690.0),
    fdd(8, 925.0, 960.0),
    fdd(9, 1844.9, 1879.9),
    fdd(10, 2110.0, 2170.0),
    fdd(11, 1475.9, 1495.9),
    fdd(12, 729.0, 746.0),
    fdd(13, 746.0, 756.0),
    fdd(14, 758.0, 768.0),
    fdd(17, 734.0, 746.0),
    fdd(18, 860.0, 875.0),
    fdd(19, 875.0, 890.0),
    fdd(20, 791.0, 821.0),
    fdd(21, 1495.9, 1510.9),
    fdd(22, 3510.0, 3590.0),
    fdd(24, 1525.0, 1559.0),
    fdd(25, 1930.0, 1995.0),
    fdd(26, 859.0, 894.0),
    fdd(27, 852.0, 869.0),
    fdd(28, 758.0, 803.0),
    fdd(30, 2350.0, 2360.0),
    fdd(65, 2110.0, 2200.0),
    fdd(66, 2110.0, 2200.0),
    fdd(70, 1995.0, 2020.0),
    fdd(71, 617.0, 652.0),
    fdd(74, 1475.0, 1518.0),
];

/// NR: TS 38.101-1 table 5.2-1 and TS 38.101-2 table 5.2-1, downlink of bands that have both directions.
const NR: [Band; 36] = [
    fdd(1, 2110.0, 2170.0),
    fdd(2, 1930.0, 1990.0),
    fdd(3, 1805.0, 1880.0),
    fdd(5, 869.0, 894.0),
    fdd(7, 2620.0, 2690.0),
    fdd(8, 925.0, 960.0),
    fdd(12, 729.0, 746.0),
    fdd(13, 746.0, 756.0),
    fdd(14, 758.0, 768.0),
    fdd(18, 860.0, 875.0),
    fdd(20, 791.0, 821.0),
    fdd(25, 1930.0, 1995.0),
    fdd(26, 859.0, 894.0),
    fdd(28, 758.0, 803.0),
    fdd(30, 2350.0, 2360.0),
    tdd(34, 2010.0, 2025.0),
    tdd(38, 2570.0, 2620.0),
    tdd(39, 1880.0, 1920.0),
    tdd(40, 2300.0, 2400.0),
    tdd(41, 2496.0, 2690.0),
    tdd(48, 3550.0, 3700.0),
    tdd(50, 1432.0, 1517.0),
    tdd(53, 2483.5, 2495.0),
    fdd(65, 2110.0, 2200.0),
    fdd(66, 2110.0, 2200.0),
    fdd(70, 1995.0, 2020.0),
    fdd(71, 617.0, 652.0),
    fdd(74, 1475.0, 1518.0),
    tdd(77, 3300.0, 4200.0),
    tdd(78, 3300.0, 3800.0),
    tdd(79, 4400.0, 5000.0),
    tdd(257, 26500.0, 29500.0),
    tdd(258, 24250.0, 27500.0),
    tdd(259, 39500.0, 43500.0),
    tdd(260, 37000.0, 40000.0),
    tdd(261, 27500.0, 28350.0),
];

impl Band {
    /// Returns the bands of a technology that are supported.
    pub const fn all(technology: Technology) -> &'static [Self] {
        match technology {
            Technology::Lte => &LTE,
            Technology::Nr => &NR,
        }
    }

    /// Returns the centre of the downlink.
    pub(crate) const fn centre(&self) -> Frequency {
        Frequency::from_hertz((self.low_mhz + self.high_mhz) / 2.0 * 1e6)
    }

    /// Returns the width of the downlink.
    pub const fn width(&self) -> Frequency {
        Frequency::from_hertz((self.high_mhz - self.low_mhz) * 1e6)
    }
}

/// The part of the spectrum below 7.125 GHz, FR1, and the one above 24.25 GHz, FR2, in MHz (TS 38.101-1
/// table 5.1-1).
pub(crate) const NR_RANGES_MHZ: [(f64, f64); 2] = [(410.0, 7_125.0), (24_250.0, 52_600.0)];

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.101 table 5.7.3-1: F_DL = F_DL_low + 0.1 (N_DL - N_Offs-DL). Band 7 begins at EARFCN 2750, and
    /// EARFCN 3100 is its middle; band 13 reaches from 5180 to 5280.
    #[test]
    fn the_centre_of_a_band_is_that_of_its_channel_numbers() {
        let centre_hz = |number: u32| {
            let band = LTE.iter().find(|band| band.number == number).unwrap();
            band.centre().hertz()
        };
        assert_eq!(centre_hz(7), 2620e6 + 1e5 * f64::from(3100 - 2750));
        assert_eq!(centre_hz(13), 746e6 + 1e5 * f64::from(5230 - 5180));
    }

    /// Bands of both technologies with the same number are the same part of the spectrum (TS 38.101-1
    /// clause 5.2).
    #[test]
    fn an_nr_band_is_where_the_lte_band_of_its_number_is() {
        for band in NR.iter().filter(|band| !band.is_tdd) {
            let same = LTE.iter().find(|lte| lte.number == band.number);
            assert_eq!(same, Some(band));
        }
    }

    #[test]
    fn every_nr_band_lies_in_a_frequency_range_and_bands_are_in_order() {
        for band in NR {
            let within = |(low, high): &(f64, f64)| *low <= band.low_mhz && band.high_mhz <= *high;
            assert!(NR_RANGES_MHZ.iter().any(within), "{band:?}");
        }
        for bands in [&LTE[..], &NR[..]] {
            assert!(bands.is_sorted_by_key(|band| band.number));
            assert!(bands.iter().all(|band| band.low_mhz < band.high_mhz));
        }
    }
}
