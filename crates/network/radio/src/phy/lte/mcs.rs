//! Modulation and coding schemes of the downlink shared channel.

use super::{Bandwidth, Overhead, transport_block_size};
use crate::phy::{CodeBlocks, CqiTable, LinkAdaptation, Modulation, TransportFormat};

/// Table of the schemes that a carrier uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum McsTable {
    /// TS 36.213 table 7.1.7.1-1, schemes 0 to 28.
    Qam64,
    /// TS 36.213 table 7.1.7.1-1A, schemes 0 to 27.
    Qam256,
}

impl McsTable {
    /// Returns the number of schemes that carry new data.
    pub(crate) const fn schemes(self) -> u8 {
        match self {
            Self::Qam64 => 29,
            Self::Qam256 => 28,
        }
    }

    /// Returns the CQI table with the same modulations.
    pub(crate) const fn cqi_table(self) -> CqiTable {
        match self {
            Self::Qam64 => CqiTable::Qam64,
            Self::Qam256 => CqiTable::Qam256,
        }
    }

    /// Returns the modulation and the transport block size index I_TBS of scheme `mcs`; `None` for reserved values.
    pub(crate) const fn modulation_and_tbs_index(self, mcs: u8) -> Option<(Modulation, u8)> {
        Some(match (self, mcs) {
            (Self::Qam64, 0..=9) => (Modulation::Qpsk, mcs),
            (Self::Qam64, 10..=16) => (Modulation::Qam16, mcs - 1),
            (Self::Qam64, 17..=28) => (Modulation::Qam64, mcs - 2),
            (Self::Qam256, 0..=4) => (Modulation::Qpsk, 2 * mcs),
            (Self::Qam256, 5..=10) => (Modulation::Qam16, mcs + 5),
            (Self::Qam256, 11..=19) => (Modulation::Qam64, mcs + 5),
            (Self::Qam256, 20) => (Modulation::Qam256, 25),
            (Self::Qam256, 21..=27) => (Modulation::Qam256, mcs + 6),
            _ => return None,
        })
    }
}

/// Returns the transport block of scheme `mcs` on `prbs` blocks of `elements` resource elements for data each, over
/// `layers` spatial layers of one codeword; `None` if the tables have no such entry.
///
/// Spatial multiplexing with two antennas sends two codewords of one layer each (TS 36.211 table 6.3.3.2-1): two such
/// blocks, not one block of two layers.
pub fn format(
    table: McsTable,
    mcs: u8,
    prbs: u32,
    layers: u32,
    elements: u32,
) -> Option<TransportFormat> {
    let (modulation, tbs_index) = table.modulation_and_tbs_index(mcs)?;
    let bits = transport_block_size(tbs_index, prbs, layers)?;
    Some(TransportFormat {
        bits,
        modulation,
        coded_bits: prbs * elements * layers * modulation.bits_per_symbol(),
        blocks: CodeBlocks::lte(bits),
    })
}

/// Returns the link adaptation of a carrier with one layer per codeword.
pub fn link_adaptation(
    table: McsTable,
    bandwidth: Bandwidth,
    overhead: Overhead,
) -> LinkAdaptation {
    let reference = overhead.reference().data_elements(bandwidth) * bandwidth.prbs();
    let elements = overhead.data_elements(bandwidth);
    LinkAdaptation::new(
        table.cqi_table(),
        reference,
        |bits, _| CodeBlocks::lte(bits),
        table.schemes(),
        bandwidth.prbs(),
        |mcs, prbs| format(table, mcs, prbs, 1, elements),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_7_1_7_1_1_changes_modulation_at_10_and_17() {
        let at = |mcs| McsTable::Qam64.modulation_and_tbs_index(mcs);
        assert_eq!(at(9), Some((Modulation::Qpsk, 9)));
        assert_eq!(at(10), Some((Modulation::Qam16, 9)));
        assert_eq!(at(16), Some((Modulation::Qam16, 15)));
        assert_eq!(at(17), Some((Modulation::Qam64, 15)));
        assert_eq!(at(28), Some((Modulation::Qam64, 26)));
        assert_eq!(at(29), None);
    }

    #[test]
    fn table_7_1_7_1_1a_changes_modulation_at_5_11_and_20() {
        let at = |mcs| McsTable::Qam256.modulation_and_tbs_index(mcs);
        assert_eq!(at(4), Some((Modulation::Qpsk, 8)));
        assert_eq!(at(5), Some((Modulation::Qam16, 10)));
        assert_eq!(at(10), Some((Modulation::Qam16, 15)));
        assert_eq!(at(11), Some((Modulation::Qam64, 16)));
        assert_eq!(at(19), Some((Modulation::Qam64, 24)));
        assert_eq!(at(20), Some((Modulation::Qam256, 25)));
        assert_eq!(at(21), Some((Modulation::Qam256, 27)));
        assert_eq!(at(27), Some((Modulation::Qam256, 33)));
        assert_eq!(at(28), None);
    }

    #[test]
    fn ts_36_101_table_a_3_9_1_1_prints_the_code_rate() {
        // R.31-4: 75376 bits on 86400 at a code rate of 0.88; R.31-3A: 36696 on 43200 at 0.85.
        let rate = |mcs, prbs| {
            let format = format(McsTable::Qam64, mcs, prbs, 1, 144).expect("in the tables");
            (
                format.bits,
                format.coded_bits,
                (100.0 * format.code_rate()).round(),
            )
        };
        assert_eq!(rate(28, 100), (75_376, 86_400, 88.0));
        assert_eq!(rate(28, 50), (36_696, 43_200, 85.0));
    }

    #[test]
    fn ts_36_306_table_4_1_1_two_codewords_are_the_bits_of_a_category_4_ue() {
        // Two antenna ports leave 144 of 150 elements, on which the largest blocks still have protection.
        let bandwidth = Bandwidth::from_prbs(100).expect("a carrier");
        let elements = [1, 2].map(|ports| {
            let overhead = Overhead::new(1, ports).expect("a configuration");
            overhead.data_elements(bandwidth)
        });
        assert_eq!(elements, [150, 144]);
        let codeword = format(McsTable::Qam64, 28, 100, 1, elements[1]).expect("in the tables");
        assert_eq!(2 * codeword.bits, 150_752);
        assert!(codeword.sinr_db_at_bler(0.1) < 25.0);
    }

    #[test]
    fn sizes_follow_the_efficiencies_of_the_cqi_tables_on_120_elements() {
        // The sizes were derived for 120 elements per block; the schemes at which CQI values were placed
        // therefore come out at their efficiency, within the spacing of the sizes.
        for (table, mcs, cqi) in [
            (McsTable::Qam64, 4, 4),
            (McsTable::Qam64, 8, 6),
            (McsTable::Qam64, 11, 7),
            (McsTable::Qam64, 15, 9),
            (McsTable::Qam64, 20, 11),
            (McsTable::Qam64, 26, 14),
            (McsTable::Qam256, 15, 9),
            (McsTable::Qam256, 21, 12),
            (McsTable::Qam256, 23, 13),
        ] {
            let format = format(table, mcs, 100, 1, 120).expect("in the tables");
            let efficiency = f64::from(format.bits) / (100.0 * 120.0);
            let nominal = table
                .cqi_table()
                .scheme(cqi)
                .expect("in the table")
                .efficiency();
            assert!(
                (efficiency / nominal - 1.0).abs() < 0.03,
                "{mcs}: {efficiency} {nominal}"
            );
        }
    }
}
