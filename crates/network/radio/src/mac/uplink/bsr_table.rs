//! Buffer size levels (TS 36.321 clause 6.1.3.1, TS 38.321 clause 6.1.3.1).

use crate::settings::Technology;

/// Upper edges of the levels 0 to 62 in bytes, Table 6.1.3.1-1. Level 63 is everything above.
const LEVELS: [u64; 63] = [
    0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200, 234,
    274, 321, 376, 440, 515, 603, 706, 826, 967, 1_132, 1_326, 1_552, 1_817, 2_127, 2_490, 2_915,
    3_413, 3_995, 4_677, 5_476, 6_411, 7_505, 8_787, 10_287, 12_043, 14_099, 16_507, 19_325,
    22_624, 26_487, 31_009, 36_304, 42_502, 49_759, 58_255, 68_201, 79_846, 93_479, 109_439,
    128_125, 150_000,
];

/// Upper edges of the levels 0 to 30 of NR's short report in bytes, TS 38.321 table 6.1.3.1-1. Level 31 is everything
/// above.
const NR_LEVELS: [u64; 31] = [
    0, 10, 14, 20, 28, 38, 53, 74, 102, 142, 198, 276, 384, 535, 745, 1_038, 1_446, 2_014, 2_806,
    3_909, 5_446, 7_587, 10_570, 14_726, 20_516, 28_581, 39_818, 55_474, 77_284, 107_669, 150_000,
];

/// Highest edge of NR's long report, in bytes (TS 38.321 table 6.1.3.1-2).
const NR_HIGHEST: u64 = 81_338_368;

/// Returns the bytes that the base station reads from a report of `bytes`: the upper edge of its level. LTE's last level
/// is open; its lower edge counts, 150000 bytes. At the rates of NR more than that arrives until the next report, so the
/// edge of the long report counts.
pub(crate) fn reported_bytes(technology: Technology, bytes: u64) -> u64 {
    let (edges, open): (&[u64], u64) = match technology {
        Technology::Lte => (&LEVELS, LEVELS[LEVELS.len() - 1]),
        Technology::Nr => (&NR_LEVELS, NR_HIGHEST),
    };
    let level = edges.partition_point(|&edge| edge < bytes);
    edges.get(level).copied().unwrap_or(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels grow from 10 to 150000 bytes by a constant ratio.
    fn assert_is_geometric(levels: &[u64]) {
        let steps = levels.len() - 2;
        let ratio = (150_000.0_f64 / 10.0).powf(1.0 / steps as f64);
        for (index, &edge) in levels.iter().enumerate().skip(1) {
            let ideal = 10.0 * ratio.powi(index as i32 - 1);
            assert!(
                (edge as f64 - ideal).abs() <= 1.0 + 1e-3 * ideal,
                "{index}: {edge} {ideal}"
            );
        }
    }

    /// TS 36.321 Table 6.1.3.1-1: index 1 is 0 < BS <= 10, 33 is 1326 < BS <= 1552, 62 is
    /// 128125 < BS <= 150000, 63 is BS > 150000.
    #[test]
    fn levels_are_those_of_the_table() {
        let lte = |bytes| reported_bytes(Technology::Lte, bytes);
        assert_eq!(
            [0, 1, 10, 11, 1_327, 1_552, 150_000, 150_001].map(lte),
            [0, 10, 10, 12, 1_552, 1_552, 150_000, 150_000]
        );
    }

    /// TS 38.321 table 6.1.3.1-1, which is as geometric: index 16 is 1038 < BS <= 1446, 31 is BS > 150000.
    #[test]
    fn levels_of_nr_are_those_of_its_table() {
        let nr = |bytes| reported_bytes(Technology::Nr, bytes);
        assert_eq!(
            [0, 1, 11, 1_039, 107_670, 150_001].map(nr),
            [0, 10, 14, 1_446, 150_000, NR_HIGHEST]
        );
        assert_is_geometric(&NR_LEVELS);
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
            assert_eq!(LEVELS[index], edge, "index {index}");
        }
    }

    /// The standard's levels grow by a constant ratio of about 1.17 from 10 to 150000 bytes.
    #[test]
    fn the_table_is_close_to_geometric() {
        assert_is_geometric(&LEVELS);
    }
}
