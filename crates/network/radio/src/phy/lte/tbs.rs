//! Transport block sizes of TS 36.213 7.1.7.2.

/// Rows of table 7.1.7.2.1-1, I_TBS 0 to 33.
pub(crate) const TBS_INDICES: usize = 34;
/// Columns, N_PRB 1 to 110.
const MAX_PRBS: usize = 110;
/// Rows of table 7.1.7.2.2-1.
const TWO_LAYER_SIZES: usize = 120;

/// Table 7.1.7.2.1-1, one line per I_TBS.
static ONE_LAYER: [[u32; MAX_PRBS]; TBS_INDICES] = {
    let mut table = [[0; MAX_PRBS]; TBS_INDICES];
    let mut numbers = Numbers::new(include_str!("../tables/lte_tbs.txt"));
    let mut row = 0;
    while row < TBS_INDICES {
        let mut column = 0;
        while column < MAX_PRBS {
            table[row][column] = numbers.next();
            column += 1;
        }
        row += 1;
    }
    numbers.finish();
    table
};

/// Table 7.1.7.2.2-1: size on one layer and on two, by rising size.
static TWO_LAYERS: [(u32, u32); TWO_LAYER_SIZES] = {
    let mut table = [(0, 0); TWO_LAYER_SIZES];
    let mut numbers = Numbers::new(include_str!("../tables/lte_two_layers.txt"));
    let mut row = 0;
    while row < TWO_LAYER_SIZES {
        table[row] = (numbers.next(), numbers.next());
        row += 1;
    }
    numbers.finish();
    table
};

/// Reader of the decimal numbers of a text, at compile time.
struct Numbers {
    text: &'static [u8],
    at: usize,
}

impl Numbers {
    const fn new(text: &'static str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
        }
    }

    const fn next(&mut self) -> u32 {
        self.skip_blanks();
        let mut number = 0;
        while self.at < self.text.len() && self.text[self.at].is_ascii_digit() {
            number = 10 * number + (self.text[self.at] - b'0') as u32;
            self.at += 1;
        }
        number
    }

    const fn skip_blanks(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    const fn finish(&mut self) {
        self.skip_blanks();
        assert!(
            self.at == self.text.len(),
            "the table has more numbers than expected"
        );
    }
}

/// Returns the bits of a transport block with index `tbs_index` on `prbs` resource blocks and `layers` spatial layers
/// (1 or 2) of the same codeword; `None` if the tables have no such entry.
///
/// On two layers, up to 55 resource blocks have the entry of twice as many blocks on one layer; above that the
/// translation of table 7.1.7.2.2-1 counts (TS 36.213 7.1.7.2.2).
pub(crate) fn transport_block_size(tbs_index: u8, prbs: u32, layers: u32) -> Option<u32> {
    let row = ONE_LAYER.get(usize::from(tbs_index))?;
    let column = |prbs: u32| row.get((prbs as usize).checked_sub(1)?).copied();
    match layers {
        1 => column(prbs),
        2 if prbs as usize <= MAX_PRBS / 2 => column(2 * prbs),
        2 => {
            let one_layer = column(prbs)?;
            let index = TWO_LAYERS
                .binary_search_by_key(&one_layer, |sizes| sizes.0)
                .ok()?;
            Some(TWO_LAYERS[index].1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the turbo interleaver has this block size (TS 36.212 table 5.1.3-3).
    fn interleaver_accepts(bits: u32) -> bool {
        match bits {
            40..=512 => bits.is_multiple_of(8),
            513..=1_024 => bits.is_multiple_of(16),
            1_025..=2_048 => bits.is_multiple_of(32),
            2_049..=6_144 => bits.is_multiple_of(64),
            _ => false,
        }
    }

    /// Sizes were chosen so that segmentation yields equal blocks without filler bits.
    fn cuts_evenly(size: u32) -> bool {
        let with_checksum = size + 24;
        if with_checksum <= 6_144 {
            return interleaver_accepts(with_checksum);
        }
        let blocks = with_checksum.div_ceil(6_144 - 24);
        let bits = with_checksum + 24 * blocks;
        bits.is_multiple_of(blocks) && interleaver_accepts(bits / blocks)
    }

    #[test]
    fn table_7_1_7_2_1_1_spot_values() {
        for (index, prbs, bits) in [
            (0, 1, 16),
            (0, 110, 3_112),
            (6, 1, 328),
            (9, 50, 7_992),
            (15, 100, 30_576),
            (22, 25, 13_536),
            (26, 6, 4_392),
            (26, 100, 75_376),
            (26, 110, 75_376),
            (27, 100, 66_592),
            (32, 100, 84_760),
            (33, 100, 97_896),
        ] {
            assert_eq!(
                transport_block_size(index, prbs, 1),
                Some(bits),
                "I_TBS {index}, {prbs} PRB"
            );
        }
    }

    #[test]
    fn table_7_1_7_2_1_1_column_of_100_blocks() {
        let column = [
            2_792, 3_624, 4_584, 5_736, 7_224, 8_760, 10_296, 12_216, 14_112, 15_840, 17_568,
            19_848, 22_920, 25_456, 28_336, 30_576, 32_856, 36_696, 39_232, 43_816, 46_888, 51_024,
            55_056, 57_336, 61_664, 63_776, 75_376, 66_592, 71_112, 73_712, 78_704, 81_176, 84_760,
            97_896,
        ];
        for (index, bits) in column.into_iter().enumerate() {
            assert_eq!(
                transport_block_size(index as u8, 100, 1),
                Some(bits),
                "I_TBS {index}"
            );
        }
        // The standard's odd entry: 328 bits in one block, 176 in two.
        assert_eq!(
            [1, 2].map(|prbs| transport_block_size(6, prbs, 1)),
            [Some(328), Some(176)]
        );
    }

    #[test]
    fn table_7_1_7_2_1_1_sizes_cut_evenly_into_code_blocks() {
        for (index, row) in ONE_LAYER.iter().enumerate() {
            for (prbs, size) in (1..).zip(row) {
                assert!(cuts_evenly(*size), "I_TBS {index}, {prbs} PRB: {size}");
            }
        }
    }

    #[test]
    fn table_7_1_7_2_1_1_rises_with_blocks_and_index_but_for_the_one_known_entry() {
        for index in 0..TBS_INDICES {
            for column in 1..MAX_PRBS {
                let row = &ONE_LAYER[index];
                assert!(row[column] >= row[column - 1] || (index, column) == (6, 1));
                // I_TBS 26 was the end of the table before 256QAM and lies above I_TBS 27.
                if index > 0 && index != 27 {
                    assert!(
                        row[column] >= ONE_LAYER[index - 1][column],
                        "{index} {column}"
                    );
                }
            }
        }
    }

    #[test]
    fn table_7_1_7_2_1_1_checksum() {
        // FNV-1a over the sizes, most significant byte first.
        let hash = ONE_LAYER
            .iter()
            .flatten()
            .flat_map(|size| size.to_be_bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        assert_eq!(hash, 0xa113_f7d0_8eed_3a2e, "{hash:#x}");
    }

    #[test]
    fn table_7_1_7_2_2_1_doubles_within_one_step() {
        for (index, (one, two)) in TWO_LAYERS.iter().enumerate() {
            assert!(cuts_evenly(*one) && cuts_evenly(*two), "{one} {two}");
            let ratio = f64::from(*two) / f64::from(*one);
            assert!((ratio - 2.0).abs() < 0.05, "{one}: {two}");
            assert!(
                index == 0 || TWO_LAYERS[index - 1].0 < *one && TWO_LAYERS[index - 1].1 <= *two
            );
        }
        assert_eq!(TWO_LAYERS[0], (1_544, 3_112));
    }

    #[test]
    fn table_7_1_7_2_2_1_continues_table_7_1_7_2_5_1_for_256qam() {
        // Sizes that table 7.1.7.2.5-1 gives to half as many blocks on four layers; the first one is in
        // table 7.1.7.2.4-1.
        let above_64qam = &TWO_LAYERS[112..];
        assert_eq!(
            above_64qam,
            [
                (76_208, 152_976),
                (78_704, 157_432),
                (81_176, 161_760),
                (84_760, 169_544),
                (87_936, 175_600),
                (90_816, 181_656),
                (93_800, 187_712),
                (97_896, 195_816),
            ]
        );
        assert_eq!(TWO_LAYERS[111], (75_376, 149_776));
    }

    #[test]
    fn clause_7_1_7_2_2_two_layers() {
        assert_eq!(transport_block_size(26, 50, 2), Some(75_376));
        // The largest blocks of UEs of categories 6 and 11 on four layers, two for each codeword (TS
        // 36.306 table 4.1-1).
        assert_eq!(transport_block_size(26, 100, 2), Some(149_776));
        assert_eq!(transport_block_size(33, 100, 2), Some(195_816));
        // Every size of one layer above 55 resource blocks has a translation.
        for index in 0..TBS_INDICES as u8 {
            for prbs in 56..=110 {
                assert!(
                    transport_block_size(index, prbs, 2).is_some(),
                    "{index} {prbs}"
                );
            }
        }
    }

    #[test]
    fn there_is_nothing_outside_the_tables() {
        assert_eq!(transport_block_size(34, 1, 1), None);
        assert_eq!(transport_block_size(0, 0, 1), None);
        assert_eq!(transport_block_size(0, 111, 1), None);
        assert_eq!(transport_block_size(0, 0, 2), None);
        assert_eq!(transport_block_size(0, 1, 3), None);
    }
}
