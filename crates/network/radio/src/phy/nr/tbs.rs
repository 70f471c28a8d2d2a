//! Transport block sizes by the steps of TS 38.214 5.1.3.2.

use crate::phy::CodingScheme;

/// Sizes up to 3824 bits (table 5.1.3.2-1).
const SMALL: [u32; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184,
    192, 208, 224, 240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528,
    552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928, 984, 1_032, 1_064, 1_128, 1_160,
    1_192, 1_224, 1_256, 1_288, 1_320, 1_352, 1_416, 1_480, 1_544, 1_608, 1_672, 1_736, 1_800,
    1_864, 1_928, 2_024, 2_088, 2_152, 2_216, 2_280, 2_408, 2_472, 2_536, 2_600, 2_664, 2_728,
    2_792, 2_856, 2_976, 3_104, 3_240, 3_368, 3_496, 3_624, 3_752, 3_824,
];

/// Returns the resource elements N_RE (step 1) of `prbs` resource blocks with `symbols` OFDM symbols each, of which
/// reference signals take `dmrs_elements` and higher layers `overhead_elements`; 156 per block at most.
pub(crate) fn elements_of_allocation(
    symbols: u32,
    dmrs_elements: u32,
    overhead_elements: u32,
    prbs: u32,
) -> u32 {
    (12 * symbols)
        .saturating_sub(dmrs_elements + overhead_elements)
        .min(156)
        * prbs
}

/// Returns the bits of a transport block (steps 2 to 4) on `elements` resource elements and `layers` layers.
pub(crate) fn transport_block_size(elements: u32, scheme: CodingScheme, layers: u32) -> u32 {
    // N_info in units of 1/2048, as exact as the code rate.
    const ONE: u64 = 2_048;
    let information = u64::from(elements)
        * u64::from(scheme.rate_2048)
        * u64::from(scheme.modulation.bits_per_symbol() * layers);
    if information <= 3_824 * ONE {
        small(information / ONE)
    } else {
        large(information, scheme.rate_2048)
    }
}

/// Returns the size by step 3, with N_info rounded down, which changes none of its results.
fn small(information: u64) -> u32 {
    let n = information
        .checked_ilog2()
        .unwrap_or(0)
        .saturating_sub(6)
        .max(3);
    let quantised = (information >> n << n).max(24) as u32;
    SMALL[SMALL.partition_point(|size| *size < quantised)]
}

/// Returns the size by step 4, with N_info in units of 1/2048.
fn large(information: u64, rate_2048: u16) -> u32 {
    const ONE: u64 = 2_048;
    let above = information - 24 * ONE;
    let n = (above / ONE).ilog2() - 5;
    let unit = ONE << n;
    // Ties are rounded to the next largest integer.
    let quantised = (((above + unit / 2) / unit) << n).max(3_840);
    let with_checksum = quantised + 24;
    let blocks = if 4 * u64::from(rate_2048) <= ONE {
        with_checksum.div_ceil(3_816)
    } else if quantised > 8_424 {
        with_checksum.div_ceil(8_424)
    } else {
        1
    };
    (8 * blocks * with_checksum.div_ceil(8 * blocks) - 24) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phy::nr::McsTable;
    use crate::phy::{CodeBlocks, Modulation};

    fn scheme(table: McsTable, mcs: u8) -> CodingScheme {
        table.scheme(mcs).expect("in the table")
    }

    #[test]
    fn step_1_counts_at_most_156_elements_per_block() {
        assert_eq!(elements_of_allocation(14, 12, 0, 1), 156);
        assert_eq!(elements_of_allocation(14, 6, 0, 10), 1_560);
        assert_eq!(elements_of_allocation(12, 18, 6, 3), 3 * 120);
    }

    #[test]
    fn step_3_quantises_down_and_takes_the_next_size_of_the_table() {
        // 1 PRB of 12 symbols with 12 elements of reference signals at MCS 5: N_info = 132 * 379/1024 * 2
        // = 97.7, n = max(3, 6 - 6) = 3, N'_info = 96, which the table has.
        assert_eq!(transport_block_size(132, scheme(McsTable::Qam64, 5), 1), 96);
        // 5 PRBs at MCS 10: N_info = 660 * 340/1024 * 4 = 876.6, n = 3, N'_info = 872, next size 888.
        assert_eq!(
            transport_block_size(660, scheme(McsTable::Qam64, 10), 1),
            888
        );
        // 20 PRBs at MCS 5: N_info = 2640 * 379/1024 * 2 = 1954.2, n = 4, N'_info = 1952, next 2024.
        assert_eq!(
            transport_block_size(2_640, scheme(McsTable::Qam64, 5), 1),
            2_024
        );
        // Even the smallest allocation makes the smallest block.
        assert_eq!(transport_block_size(1, scheme(McsTable::LowRate, 0), 1), 24);
    }

    #[test]
    fn step_4_up_to_8424_bits_is_one_code_block() {
        // 20 PRBs of 132 elements at MCS 17: N_info = 2640 * 438/1024 * 6 = 6775.3, n = 12 - 5 = 7,
        // N'_info = 128 * round(52.74) = 6784, TBS = 8 * ceil(6808 / 8) - 24 = 6784.
        assert_eq!(
            transport_block_size(2_640, scheme(McsTable::Qam64, 17), 1),
            6_784
        );
    }

    #[test]
    fn step_4_above_8424_bits_divides_evenly() {
        // 273 PRBs of 156 elements, 4 layers, MCS 27 of table 2: N_info = 42588 * 948/1024 * 8 * 4 =
        // 1261668.4, n = 20 - 5 = 15, N'_info = 32768 * round(38.50) = 32768 * 39 = 1277952 (38.502),
        // C = ceil(1277976 / 8424) = 152, TBS = 8 * 152 * ceil(1277976 / 1216) - 24 = 1277992.
        assert_eq!(
            transport_block_size(42_588, scheme(McsTable::Qam256, 27), 4),
            1_277_992
        );
    }

    #[test]
    fn step_4_at_a_quarter_rate_or_less_cuts_blocks_of_base_graph_2() {
        // 106 PRBs of 132 elements at MCS 3 of table 1, rate 251/1024: N_info = 13992 * 251/1024 * 2 =
        // 6859.4, n = 7, N'_info = 128 * round(53.40) = 6784, C = ceil(6808 / 3816) = 2, TBS = 16 *
        // ceil(6808 / 16) - 24 = 6792.
        assert_eq!(
            transport_block_size(13_992, scheme(McsTable::Qam64, 3), 1),
            6_792
        );
    }

    #[test]
    fn the_table_of_small_sizes_is_whole() {
        assert!(SMALL.is_sorted_by(|a, b| a < b));
        assert!(SMALL.iter().all(|size| size.is_multiple_of(8)));
        assert_eq!(
            (SMALL[0], SMALL[23], SMALL[46], SMALL[92]),
            (24, 224, 736, 3_824)
        );
    }

    proptest! {
        #[test]
        fn sizes_are_whole_bytes_near_what_the_elements_carry(
            prbs in 1_u32..=273, symbols in 3_u32..=14, layers in 1_u32..=4, mcs in 0_u8..28
        ) {
            let elements = elements_of_allocation(symbols, 12, 0, prbs);
            let scheme = scheme(McsTable::Qam256, mcs);
            let size = transport_block_size(elements, scheme, layers);
            prop_assert!(size.is_multiple_of(8));
            let nominal = f64::from(elements * layers) * scheme.efficiency();
            if nominal > 3_824.0 {
                prop_assert!((f64::from(size) / nominal - 1.0).abs() < 0.025, "{size} {nominal}");
            }
            // Larger blocks are chosen so that all code blocks are equally long.
            let blocks = CodeBlocks::nr(size, scheme.rate());
            prop_assert!(blocks.count == 1 || (size + 24).is_multiple_of(blocks.count));
        }

        #[test]
        fn more_room_never_makes_a_smaller_block(elements in 100_u32..42_000, mcs in 0_u8..28, layers in 1_u32..=4) {
            let scheme = scheme(McsTable::Qam256, mcs);
            let [less, more] = [elements, elements + 156].map(|e| transport_block_size(e, scheme, layers));
            prop_assert!(less <= more, "{less} {more}");
            prop_assert!(scheme.modulation >= Modulation::Qpsk);
        }
    }
}
