//! Modulation and coding schemes of NR's shared channels.

use super::{elements_of_allocation, transport_block_size};
use crate::phy::{CodeBlocks, CodingScheme, CqiTable, LinkAdaptation, Modulation, TransportFormat};

/// Table of the schemes that a carrier uses (TS 38.214 5.1.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum McsTable {
    /// Table 5.1.3.1-1, up to 64QAM.
    Qam64,
    /// Table 5.1.3.1-2, up to 256QAM.
    Qam256,
    /// Table 5.1.3.1-3, up to 64QAM with low rates.
    LowRate,
}

use Modulation::{Qam16, Qam64, Qam256, Qpsk};

/// Rates of a table in units of 1/2048, by modulation.
struct Rates {
    qpsk: &'static [u16],
    qam16: &'static [u16],
    qam64: &'static [u16],
    qam256: &'static [u16],
}

/// Doubles rates in units of 1/1024, as the tables write them.
const fn doubled<const N: usize>(mut rates: [u16; N]) -> [u16; N] {
    let mut index = 0;
    while index < N {
        rates[index] *= 2;
        index += 1;
    }
    rates
}

const TABLE_1: Rates = Rates {
    qpsk: &doubled([120, 157, 193, 251, 308, 379, 449, 526, 602, 679]),
    qam16: &doubled([340, 378, 434, 490, 553, 616, 658]),
    qam64: &doubled([438, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948]),
    qam256: &[],
};

const TABLE_2: Rates = Rates {
    qpsk: &doubled([120, 193, 308, 449, 602]),
    qam16: &doubled([378, 434, 490, 553, 616, 658]),
    qam64: &doubled([466, 517, 567, 616, 666, 719, 772, 822, 873]),
    // In units of 1/1024 two of them are 682.5 and 916.5.
    qam256: &[1_365, 1_422, 1_508, 1_594, 1_682, 1_770, 1_833, 1_896],
};

const TABLE_3: Rates = Rates {
    qpsk: &doubled([
        30, 40, 50, 64, 78, 99, 120, 157, 193, 251, 308, 379, 449, 526, 602,
    ]),
    qam16: &doubled([340, 378, 434, 490, 553, 616]),
    qam64: &doubled([438, 466, 517, 567, 616, 666, 719, 772]),
    qam256: &[],
};

impl McsTable {
    const fn rates(self) -> &'static Rates {
        match self {
            Self::Qam64 => &TABLE_1,
            Self::Qam256 => &TABLE_2,
            Self::LowRate => &TABLE_3,
        }
    }

    /// Returns the number of schemes that carry new data.
    pub(crate) const fn schemes(self) -> u8 {
        let rates = self.rates();
        (rates.qpsk.len() + rates.qam16.len() + rates.qam64.len() + rates.qam256.len()) as u8
    }

    /// Returns the CQI table with the same modulations.
    pub(crate) const fn cqi_table(self) -> CqiTable {
        match self {
            Self::Qam64 => CqiTable::Qam64,
            Self::Qam256 => CqiTable::Qam256,
            Self::LowRate => CqiTable::LowRate,
        }
    }

    /// Returns the modulation and the target code rate of scheme `mcs`; `None` for reserved values.
    pub fn scheme(self, mcs: u8) -> Option<CodingScheme> {
        let rates = self.rates();
        let mut index = usize::from(mcs);
        for (modulation, rates) in [
            (Qpsk, rates.qpsk),
            (Qam16, rates.qam16),
            (Qam64, rates.qam64),
            (Qam256, rates.qam256),
        ] {
            if let Some(rate_2048) = rates.get(index) {
                return Some(CodingScheme {
                    modulation,
                    rate_2048: *rate_2048,
                });
            }
            index -= rates.len();
        }
        None
    }
}

/// Resource elements of a slot's allocation (TS 38.214 5.1.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// OFDM symbols of the allocation, at most 14.
    pub symbols: u32,
    /// Resource elements of demodulation reference signals per resource block, including those of CDM groups without
    /// data: 12 or 24 with one symbol of reference signals, 24 or 48 with two.
    pub dmrs_elements: u32,
    /// Overhead set by higher layers, 0, 6, 12 or 18 resource elements per resource block.
    pub overhead_elements: u32,
    /// Spatial layers, 1 to 4.
    pub layers: u32,
}

/// Returns the transport block of scheme `mcs` on `prbs` resource blocks of an allocation; `None` for a reserved
/// scheme.
pub fn format(
    table: McsTable,
    mcs: u8,
    prbs: u32,
    allocation: Allocation,
) -> Option<TransportFormat> {
    let scheme = table.scheme(mcs)?;
    let Allocation {
        symbols,
        dmrs_elements,
        overhead_elements,
        layers,
    } = allocation;
    let elements = elements_of_allocation(symbols, dmrs_elements, overhead_elements, prbs);
    let bits = transport_block_size(elements, scheme, layers);
    Some(TransportFormat {
        bits,
        modulation: scheme.modulation,
        coded_bits: elements * layers * scheme.modulation.bits_per_symbol(),
        blocks: CodeBlocks::nr(bits, scheme.rate()),
    })
}

/// Returns the link adaptation for `prbs` resource blocks, in slots that are all allocated like `allocation`.
pub fn link_adaptation(table: McsTable, prbs: u32, allocation: Allocation) -> LinkAdaptation {
    // The CSI reference resource: 12 symbols for data and their reference signals, no other overhead, the
    // rank that is reported (TS 38.214 5.2.2.5).
    const REFERENCE_SYMBOLS: u32 = 12;
    let per_block = 12 * REFERENCE_SYMBOLS - allocation.dmrs_elements;
    LinkAdaptation::new(
        table.cqi_table(),
        per_block * prbs * allocation.layers,
        CodeBlocks::nr,
        table.schemes(),
        prbs,
        |mcs, prbs| format(table, mcs, prbs, allocation),
    )
    .with_schemes_of_cqis(|cqi| {
        let scheme = table.cqi_table().scheme(cqi);
        (0..table.schemes()).find(|mcs| table.scheme(*mcs) == scheme)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate_1024(table: McsTable, mcs: u8) -> (Modulation, f64) {
        let scheme = table.scheme(mcs).expect("in the table");
        (scheme.modulation, scheme.rate() * 1024.0)
    }

    /// TS 38.214 5.2.2.1: on the whole carrier the base station picks at least the scheme of the reported CQI, and keeps
    /// the error target; a higher CQI never carries less.
    fn assert_picks_the_reported_scheme(carriers: &[u32]) {
        for table in [McsTable::Qam64, McsTable::Qam256, McsTable::LowRate] {
            let cqis = table.cqi_table();
            for (symbols, layers) in [(12, 1), (13, 1), (13, 2), (11, 4)] {
                let allocation = Allocation {
                    symbols,
                    dmrs_elements: 12,
                    overhead_elements: 0,
                    layers,
                };
                for &prbs in carriers {
                    let adaptation = link_adaptation(table, prbs, allocation);
                    let mut before = 0;
                    for cqi in 1..=15 {
                        let case = format!("{table:?} {symbols} {layers} {prbs} {cqi}");
                        let sinr_db = adaptation.sinr_db_of_cqi(cqi);
                        let mcs = adaptation.mcs_of_cqi(cqi, prbs, 0.0).expect("a scheme");
                        let block = format(table, mcs, prbs, allocation).expect("in the table");
                        // CQI 1 of 64QAM has less than the lowest scheme.
                        let lowest = mcs == 0 && block.bler(sinr_db) > cqis.target_bler();
                        let errors = block.bler(sinr_db) / cqis.target_bler();
                        assert!(errors <= 1.05 || lowest, "{case}: {errors}");
                        assert!(block.bits >= before, "{case}");
                        before = block.bits;
                        let nominal = cqis.scheme(cqi);
                        let own = (0..table.schemes()).find(|mcs| table.scheme(*mcs) == nominal);
                        let possible = own.filter(|own| {
                            format(table, *own, prbs, allocation).is_some_and(|block| {
                                block.sinr_db_at_bler(cqis.target_bler()).is_finite()
                            })
                        });
                        assert!(
                            possible.is_none_or(|own| mcs >= own),
                            "{case}: {mcs} {own:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_scheme_of_the_reported_cqi_is_picked_on_narrow_and_wide_carriers() {
        assert_picks_the_reported_scheme(&[11, 51, 106, 273]);
    }

    #[test]
    #[ignore = "slow, make test-all"]
    fn the_scheme_of_the_reported_cqi_is_picked_on_every_carrier() {
        assert_picks_the_reported_scheme(&[
            18, 24, 25, 31, 38, 52, 65, 66, 78, 79, 132, 133, 135, 160, 162, 217, 245, 264, 270,
            272,
        ]);
    }

    #[test]
    fn tables_5_1_3_1_1_to_3() {
        assert_eq!(
            [McsTable::Qam64, McsTable::Qam256, McsTable::LowRate].map(McsTable::schemes),
            [29, 28, 29]
        );
        assert_eq!(rate_1024(McsTable::Qam64, 0), (Qpsk, 120.0));
        assert_eq!(rate_1024(McsTable::Qam64, 10), (Qam16, 340.0));
        assert_eq!(rate_1024(McsTable::Qam64, 17), (Qam64, 438.0));
        assert_eq!(rate_1024(McsTable::Qam64, 28), (Qam64, 948.0));
        assert_eq!(rate_1024(McsTable::Qam256, 4), (Qpsk, 602.0));
        assert_eq!(rate_1024(McsTable::Qam256, 20), (Qam256, 682.5));
        assert_eq!(rate_1024(McsTable::Qam256, 26), (Qam256, 916.5));
        assert_eq!(rate_1024(McsTable::Qam256, 27), (Qam256, 948.0));
        assert_eq!(rate_1024(McsTable::LowRate, 0), (Qpsk, 30.0));
        assert_eq!(rate_1024(McsTable::LowRate, 15), (Qam16, 340.0));
        assert_eq!(rate_1024(McsTable::LowRate, 28), (Qam64, 772.0));
        assert_eq!(McsTable::Qam256.scheme(28), None);
    }

    #[test]
    fn efficiencies_are_those_printed_in_tables_5_1_3_1_1_and_2() {
        let table_1 = [
            0.2344, 0.3066, 0.3770, 0.4902, 0.6016, 0.7402, 0.8770, 1.0273, 1.1758, 1.3262, 1.3281,
            1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703, 2.5664, 2.7305, 3.0293, 3.3223, 3.6094,
            3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547,
        ];
        let table_2 = [
            0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703,
            2.7305, 3.0293, 3.3223, 3.6094, 3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547,
            5.8906, 6.2266, 6.5703, 6.9141, 7.1602, 7.4063,
        ];
        for (table, printed) in [
            (McsTable::Qam64, &table_1[..]),
            (McsTable::Qam256, &table_2[..]),
        ] {
            assert_eq!(usize::from(table.schemes()), printed.len());
            for (mcs, printed) in (0..).zip(printed) {
                let efficiency = table.scheme(mcs).expect("in the table").efficiency();
                assert!(
                    (efficiency - printed).abs() < 6e-5,
                    "{table:?} {mcs}: {efficiency}"
                );
            }
        }
    }

    #[test]
    fn spectral_efficiency_rises_but_where_table_1_changes_to_64qam() {
        // Table 5.1.3.1-1 prints 2.5703 for scheme 16 and 2.5664 for 17.
        for table in [McsTable::Qam64, McsTable::Qam256, McsTable::LowRate] {
            for mcs in 1..table.schemes() {
                let [below, here] =
                    [mcs - 1, mcs].map(|mcs| table.scheme(mcs).expect("in the table").efficiency());
                assert!(
                    here > below || (table, mcs) == (McsTable::Qam64, 17),
                    "{table:?} {mcs}"
                );
            }
        }
    }
}
