//! Buffer size levels (TS 36.321 clause 6.1.3.1).

/// Upper edges of the levels 0 to 62 in bytes, Table 6.1.3.1-1. Level 63 is everything above.
pub(crate) const LEVELS: [u64; 63] = [
    0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200, 234,
    274, 321, 376, 440, 515, 603, 706, 826, 967, 1_132, 1_326, 1_552, 1_817, 2_127, 2_490, 2_915,
    3_413, 3_995, 4_677, 5_476, 6_411, 7_505, 8_787, 10_287, 12_043, 14_099, 16_507, 19_325,
    22_624, 26_487, 31_009, 36_304, 42_502, 49_759, 58_255, 68_201, 79_846, 93_479, 109_439,
    128_125, 150_000,
];

/// Returns the level that reports `bytes`.
pub fn level(bytes: u64) -> u8 {
    LEVELS.partition_point(|&edge| edge < bytes) as u8
}

/// Returns the bytes that the eNB takes a level to mean: its upper edge, or 150000 bytes for the open last one.
pub(crate) fn upper_edge(level: u8) -> u64 {
    let last = LEVELS.len() - 1;
    LEVELS[usize::from(level).min(last)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.321 Table 6.1.3.1-1: index 1 is 0 < BS <= 10, 33 is 1326 < BS <= 1552, 62 is
    /// 128125 < BS <= 150000, 63 is BS > 150000.
    #[test]
    fn levels_are_those_of_the_table() {
        let found = [0, 1, 10, 11, 1_500, 150_000, 150_001].map(level);
        assert_eq!(found, [0, 1, 1, 2, 33, 62, 63]);
        assert_eq!(
            [0, 33, 62, 63].map(upper_edge),
            [0, 1_552, 150_000, 150_000]
        );
    }

    /// Same table: edges on which copies of it in other programs disagree.
    #[test]
    fn disputed_edges_are_the_standard_s() {
        for (index, edge) in [
            (16, 107),
            (40, 4_677),
            (41, 5_476),
            (59, 93_479),
            (61, 128_125),
        ] {
            assert_eq!(upper_edge(index), edge, "index {index}");
        }
    }

    /// The standard's levels grow by a constant ratio of about 1.17 from 10 to 150000 bytes.
    #[test]
    fn the_table_is_close_to_geometric() {
        let ratio = (150_000.0_f64 / 10.0).powf(1.0 / 61.0);
        for (index, &edge) in LEVELS.iter().enumerate().skip(1) {
            let ideal = 10.0 * ratio.powi(index as i32 - 1);
            assert!(
                (edge as f64 - ideal).abs() <= 1.0 + 1e-3 * ideal,
                "{index}: {edge} {ideal}"
            );
        }
    }
}
