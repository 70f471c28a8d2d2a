//! Modulation and coding schemes of the uplink shared channel, one antenna per UE.
//!
//! The uplink is single-carrier: a discrete Fourier transform spreads every symbol over the whole allocation (TS
//! 36.211 5.3.3). Errors are computed as in the downlink, by mutual information at the effective SINR, and a UE sends
//! with the same power on all of its blocks.
//!
//! # Limits
//!
//! On a channel that fades over the allocation the errors are underestimated: a linear equaliser leaves interference
//! between symbols where the SINR of the blocks differs.

use super::{Bandwidth, transport_block_size};
use crate::phy::{CodeBlocks, CqiTable, LinkAdaptation, Modulation, TransportFormat};

/// Resource elements for data in one resource block over a subframe: 12 subcarriers and 12 of 14 symbols, because one
/// symbol in each slot is a reference signal (TS 36.211 5.5.2.1).
pub(crate) const DATA_ELEMENTS: u32 = 144;

/// Number of schemes that carry new data.
pub(crate) const SCHEMES: u8 = 29;

/// Highest modulation that a UE sends (TS 36.306 table 4.1-2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Capability {
    /// 16QAM: categories 1 to 4 and many others.
    Qam16,
    /// 64QAM: categories 5 and 8, or as a feature of its own.
    Qam64,
}

impl Capability {
    /// Returns the modulation and the transport block size index I_TBS of scheme `mcs` (TS 36.213 table 8.6.1-1);
    /// `None` for values that stand for a redundancy version. A UE without 64QAM sends the same sizes as 16QAM (TS
    /// 36.213 8.6.1).
    pub(crate) const fn modulation_and_tbs_index(self, mcs: u8) -> Option<(Modulation, u8)> {
        Some(match (mcs, self) {
            (0..=10, _) => (Modulation::Qpsk, mcs),
            (11..=20, _) => (Modulation::Qam16, mcs - 1),
            (21..=28, Self::Qam16) => (Modulation::Qam16, mcs - 2),
            (21..=28, Self::Qam64) => (Modulation::Qam64, mcs - 2),
            _ => return None,
        })
    }
}

/// Returns whether a UE can be given that many resource blocks: they have no prime factor other than 2, 3 and 5, so
/// that the transform is a fast one (TS 36.211 5.3.3).
pub(crate) fn is_allocation(prbs: u32) -> bool {
    let mut rest = prbs;
    for factor in [2, 3, 5] {
        while rest > 0 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1
}

/// Returns the largest allocation of at most `prbs` resource blocks; 0 if `prbs` is 0.
pub(crate) fn largest_allocation(prbs: u32) -> u32 {
    let allocation = (1..=prbs).rev().find(|&prbs| is_allocation(prbs));
    allocation.unwrap_or(0)
}

/// Returns the transport block of scheme `mcs` on `prbs` resource blocks; `None` if the tables have no such entry or
/// no UE can be given that many blocks.
pub fn format(capability: Capability, mcs: u8, prbs: u32) -> Option<TransportFormat> {
    let (modulation, tbs_index) = capability.modulation_and_tbs_index(mcs)?;
    if !is_allocation(prbs) {
        return None;
    }
    let bits = transport_block_size(tbs_index, prbs, 1)?;
    Some(TransportFormat {
        bits,
        modulation,
        coded_bits: prbs * DATA_ELEMENTS * modulation.bits_per_symbol(),
        blocks: CodeBlocks::lte(bits),
    })
}

/// Returns the link adaptation of a base station that measures the UE itself. If no UE can be given that many blocks,
/// no scheme is good enough.
///
/// Its CQI values are those of the downlink on the whole carrier. UEs report none in the uplink, but a base station
/// can calculate with them.
pub fn link_adaptation(capability: Capability, bandwidth: Bandwidth) -> LinkAdaptation {
    LinkAdaptation::new(
        CqiTable::Qam64,
        DATA_ELEMENTS * bandwidth.prbs(),
        |bits, _| CodeBlocks::lte(bits),
        SCHEMES,
        bandwidth.prbs(),
        |mcs, prbs| format(capability, mcs, prbs),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_8_6_1_1_changes_modulation_at_11_and_21() {
        let at = |mcs| Capability::Qam64.modulation_and_tbs_index(mcs);
        assert_eq!(at(0), Some((Modulation::Qpsk, 0)));
        assert_eq!(at(10), Some((Modulation::Qpsk, 10)));
        assert_eq!(at(11), Some((Modulation::Qam16, 10)));
        assert_eq!(at(20), Some((Modulation::Qam16, 19)));
        assert_eq!(at(21), Some((Modulation::Qam64, 19)));
        assert_eq!(at(28), Some((Modulation::Qam64, 26)));
        assert_eq!(at(29), None);
    }

    #[test]
    fn clause_8_6_1_a_ue_without_64qam_sends_the_same_sizes_as_16qam() {
        for mcs in 0..SCHEMES {
            let [without, with] = [Capability::Qam16, Capability::Qam64]
                .map(|capability| format(capability, mcs, 50).expect("in the tables"));
            assert_eq!(without.bits, with.bits);
            assert_eq!(without.modulation, with.modulation.min(Modulation::Qam16));
        }
        // 36696 bits on 28800: such a block cannot be decoded from one transmission.
        let block = format(Capability::Qam16, 28, 50).expect("in the tables");
        assert!(block.code_rate() > 1.0 && block.sinr_db_at_bler(0.1) == f64::INFINITY);
    }

    #[test]
    fn ts_36_104_table_a_13_1_prints_16qam_at_half_rate() {
        for (prbs, bits, blocks, coded_bits) in [
            (6, 1_736, 1, 3_456),
            (15, 4_264, 1, 8_640),
            (25, 7_224, 2, 14_400),
            (50, 14_112, 3, 28_800),
            (75, 21_384, 4, 43_200),
            (100, 28_336, 5, 57_600),
        ] {
            let format = format(Capability::Qam16, 15, prbs).expect("in the tables");
            assert_eq!(format.modulation, Modulation::Qam16);
            let result = (format.bits, format.blocks.count, format.coded_bits);
            assert_eq!(result, (bits, blocks, coded_bits), "{prbs} PRB");
        }
    }

    #[test]
    fn ts_36_104_table_a_1_1_prints_qpsk_at_a_third_of_the_rate() {
        for (prbs, bits, coded_bits) in [
            (3, 256, 864),
            (6, 600, 1_728),
            (9, 936, 2_592),
            (12, 1_224, 3_456),
            (15, 1_544, 4_320),
            (24, 2_088, 6_912),
            (25, 2_216, 7_200),
        ] {
            let mut formats = (0..SCHEMES).filter_map(|mcs| format(Capability::Qam16, mcs, prbs));
            let format = formats.find(|format| format.bits == bits).expect("a size");
            assert_eq!(format.modulation, Modulation::Qpsk);
            assert_eq!(format.coded_bits, coded_bits, "{prbs} PRB");
        }
    }

    #[test]
    fn ts_36_211_5_3_3_allocations_have_no_other_factor_than_2_3_and_5() {
        let allocations: Vec<u32> = (0..=50).filter(|prbs| is_allocation(*prbs)).collect();
        assert_eq!(
            allocations,
            [
                1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30, 32, 36, 40, 45, 48,
                50
            ]
        );
        assert_eq!(
            [0, 7, 11, 99, 100].map(largest_allocation),
            [0, 6, 10, 96, 100]
        );
        assert_eq!(format(Capability::Qam64, 10, 7), None);
    }

    #[test]
    fn link_adaptation_finds_a_scheme_for_every_allocation_and_none_for_others() {
        let bandwidth = Bandwidth::from_prbs(25).expect("a carrier");
        for capability in [Capability::Qam16, Capability::Qam64] {
            let adaptation = link_adaptation(capability, bandwidth);
            for prbs in 1..=25 {
                let mcs = adaptation.mcs(12.0, prbs);
                assert_eq!(mcs.is_some(), is_allocation(prbs), "{prbs} PRB");
                if let Some(mcs) = mcs {
                    let block = format(capability, mcs, prbs).expect("in the tables");
                    assert!(block.bler(12.0) <= 0.1);
                }
            }
        }
    }

    #[test]
    fn ts_36_306_table_4_1_2_peaks_are_those_of_categories_4_and_5() {
        let bandwidth = Bandwidth::from_prbs(100).expect("a carrier");
        let peak = |capability| {
            let mcs = link_adaptation(capability, bandwidth).mcs(40.0, 100);
            let block = format(capability, mcs.expect("a scheme"), 100);
            block.expect("in the tables").bits
        };
        assert_eq!(
            [Capability::Qam16, Capability::Qam64].map(peak),
            [51_024, 75_376]
        );
    }
}
