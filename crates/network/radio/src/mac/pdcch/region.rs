//! Control region: its elements, and the search spaces of a UE.

use super::Aggregation;
use crate::phy::{ChannelCode, CodeBlocks, Modulation, TransportFormat};

/// Modulus of the hash of search spaces, D in TS 36.213 clause 9.1.1 and TS 38.213 clause 10.1.
const MODULUS: u64 = 65_537;

/// Control region of a carrier in one TTI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlRegion {
    elements: u32,
    technology: Technology,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Technology {
    Lte,
    Nr { numerology: u32 },
}

impl ControlRegion {
    /// Returns LTE's region with `elements` control channel elements, at most 128.
    pub fn lte(elements: u32) -> Self {
        Self {
            elements: elements.min(128),
            technology: Technology::Lte,
        }
    }

    /// Returns NR's control resource set over a carrier of `prbs` resource blocks for `symbols` symbols.
    ///
    /// It covers whole groups of six resource blocks (TS 38.213 clause 10.1); each block is a resource element group in
    /// a symbol, and six groups are an element (TS 38.211 clause 7.3.2.2). It has no more elements than a UE with
    /// numerology `numerology`, 0 to 3, can monitor in a slot (TS 38.213 table 10.1-3).
    pub fn nr(numerology: u32, prbs: u32, symbols: u32) -> Self {
        let max = [56, 56, 48, 32][numerology.min(3) as usize];
        Self {
            elements: (prbs / 6 * symbols).min(max),
            technology: Technology::Nr { numerology },
        }
    }

    /// Returns the number of control channel elements.
    pub fn elements(&self) -> u32 {
        self.elements
    }

    /// Returns the aggregation level that the base station prefers for a receiver at `sinr_db`.
    pub fn aggregation(&self, sinr_db: f64) -> Aggregation {
        match self.technology {
            // Eight elements are enough at -1.7 dB on two receive antennas, with one message of 47 bits in a hundred
            // missed: TS 36.101 clause 8.4.1.1.
            Technology::Lte => Aggregation::for_sinr(sinr_db, -1.7).min(Aggregation::Eight),
            // An element has 108 bits instead of 72, a message 76 instead of 47: a code rate 0.3 dB higher.
            Technology::Nr { .. } => Aggregation::for_sinr(sinr_db, -1.4),
        }
    }

    /// Returns the highest level, up to `aggregation`, that fits into the region.
    pub(super) fn fitting(&self, aggregation: Aggregation) -> Option<Aggregation> {
        let max = match self.technology {
            Technology::Lte => Aggregation::Eight,
            Technology::Nr { .. } => Aggregation::Sixteen,
        };
        let fits = |size: &Aggregation| {
            *size <= aggregation && *size <= max && *size as u32 <= self.elements
        };
        Aggregation::ALL.into_iter().rev().find(fits)
    }

    /// Returns the number of candidates of a level in a UE's search space.
    ///
    /// LTE: TS 36.213 table 9.1.1-1. NR leaves the numbers to the base station. These numbers let a UE search for two
    /// sizes of messages, assignments and grants, within the 44, 36, 22 or 20 candidates of a slot (TS 38.213 table
    /// 10.1-2).
    const fn candidate_count(&self, aggregation: Aggregation) -> u32 {
        match (self.technology, aggregation) {
            (Technology::Lte, Aggregation::One | Aggregation::Two) => 6,
            (Technology::Nr { numerology: 0 | 1 }, Aggregation::One | Aggregation::Two) => 4,
            (Technology::Lte | Technology::Nr { .. }, _) => 2,
        }
    }

    /// Returns the first element of each candidate of a level that fits into the region, in a TTI with that hash.
    pub(super) fn candidates(
        &self,
        rnti: u16,
        aggregation: Aggregation,
        hash: u32,
    ) -> impl Iterator<Item = u32> + use<> {
        let (elements, technology) = (self.elements, self.technology);
        let size = aggregation as u32;
        let count = self.candidate_count(aggregation);
        let slots = elements / size;
        let start = (u64::from(rnti.max(1)) * u64::from(hash) % MODULUS) as u32;
        (0..count.min(slots)).map(move |candidate| {
            let offset = match technology {
                Technology::Lte => candidate,
                Technology::Nr { .. } => candidate * elements / (size * count),
            };
            size * ((start + offset) % slots)
        })
    }

    /// Returns A^(k+1) mod D for subframe or slot k of a frame: times the RNTI, it is the Y_k of TS 36.213 clause 9.1.1
    /// and TS 38.213 clause 10.1, which is computed there as Y_k = A Y_(k-1) mod D.
    pub(super) fn hash(&self, tti: u64) -> u32 {
        // In NR the factor is that of control resource set 1; set 0 is for system information.
        let (factor, ttis_per_frame) = match self.technology {
            Technology::Lte => (39_827, 10),
            Technology::Nr { numerology } => (39_829, 10 << numerology),
        };
        (0..=tti % ttis_per_frame).fold(1, |hash, _| hash * factor % MODULUS) as u32
    }

    /// Returns the probability that a message of a level is missed at a SINR over the whole carrier.
    ///
    /// The message is an assignment with its checksum in QPSK symbols. In LTE it is DCI format 1 on 20 MHz (TS 36.212
    /// clause 5.3.3.1.2) in elements of 36 symbols (TS 36.211 clause 6.8.1). In NR it is DCI format 1_1 of 52 bits (TS
    /// 38.521-4 annex A.3.3) in elements of 54 symbols: every fourth of the 72 carries a reference signal (TS 38.211
    /// clause 7.4.1.3.2). Its polar code is assumed to be as good as LDPC.
    pub(crate) fn miss_rate(&self, aggregation: Aggregation, sinr_db: f64) -> f64 {
        let (code, bits, crc_bits, symbols) = match self.technology {
            Technology::Lte => (ChannelCode::Turbo, 39, 16, 36),
            Technology::Nr { .. } => (ChannelCode::LdpcBaseGraph2, 52, 24, 54),
        };
        let message = TransportFormat {
            bits,
            modulation: Modulation::Qpsk,
            coded_bits: 2 * symbols * aggregation as u32,
            blocks: CodeBlocks {
                code,
                count: 1,
                bits: bits + crc_bits,
            },
        };
        message.bler(sinr_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the elements that a SINR is worth, less than one message in a hundred is missed at that SINR; a fade of
    /// 10 dB loses most.
    #[test]
    fn messages_are_missed_in_fades() {
        for region in [ControlRegion::lte(84), ControlRegion::nr(1, 273, 1)] {
            for sinr_db in [-1.0, 2.0, 5.0, 8.0, 20.0] {
                let size = region.aggregation(sinr_db);
                assert!(region.miss_rate(size, sinr_db) < 0.01, "{size:?}");
            }
            assert!(region.miss_rate(Aggregation::One, -2.0) > 0.5);
            assert!(region.miss_rate(Aggregation::Eight, -11.7) > 0.5);
        }
    }

    #[test]
    fn ts_38_211_7_3_2_1_only_nr_has_sixteen_elements() {
        assert_eq!(ControlRegion::lte(84).aggregation(-6.0), Aggregation::Eight);
        let nr = ControlRegion::nr(1, 273, 1);
        assert_eq!(nr.aggregation(-4.0), Aggregation::Sixteen);
        assert!(nr.miss_rate(Aggregation::Sixteen, -4.0) < 0.01);
        assert_eq!(
            ControlRegion::lte(84).fitting(Aggregation::Sixteen),
            Some(Aggregation::Eight)
        );
    }

    /// TS 36.213 clause 9.1.1: Y_0 = 39827 RNTI mod 65537, then repeated for each subframe.
    #[test]
    fn ts_36_213_9_1_1_the_search_space_hops_by_the_hash() {
        let lte = ControlRegion::lte(84);
        assert_eq!(lte.hash(0), 39_827);
        assert_eq!(u64::from(lte.hash(1)), 39_827 * 39_827 % 65_537);
        assert_eq!(lte.hash(10), lte.hash(0));
        // Y_0 of RNTI 2 is 14117, and 14117 mod 10 is 7; the second candidate is the next place.
        let first: Vec<_> = lte.candidates(2, Aggregation::Eight, lte.hash(0)).collect();
        assert_eq!(first, [8 * 7, 8 * 8]);
    }

    /// TS 38.213 clause 10.1: candidates are spread over the set, and the hash counts slots of the numerology.
    #[test]
    fn ts_38_213_10_1_candidates_are_spread_over_the_control_resource_set() {
        let nr = ControlRegion::nr(3, 264, 1);
        assert_eq!(nr.hash(0), 39_829);
        assert_eq!(nr.hash(80), nr.hash(0));
        assert_ne!(nr.hash(10), nr.hash(0));
        // Y_0 of RNTI 1 is 39829, and 39829 mod 4 is 1; the second candidate is half of the set further.
        let first: Vec<_> = nr.candidates(1, Aggregation::Eight, nr.hash(0)).collect();
        assert_eq!(first, [8, 24]);
    }

    #[test]
    fn ts_38_213_tables_10_1_2_and_10_1_3_bound_what_a_ue_looks_at() {
        let elements =
            |numerology, prbs, symbols| ControlRegion::nr(numerology, prbs, symbols).elements();
        assert_eq!(elements(3, 32, 1), 5);
        // 32 blocks have five groups of six.
        assert_eq!(elements(3, 32, 3), 15);
        assert_eq!(elements(1, 273, 1), 45);
        assert_eq!(elements(1, 273, 3), 56);
        assert_eq!(elements(3, 264, 1), 32);
        for (numerology, max) in [44, 36, 22, 20].into_iter().enumerate() {
            let region = ControlRegion::nr(numerology as u32, 106, 1);
            let candidates: u32 = Aggregation::ALL
                .map(|size| region.candidate_count(size))
                .iter()
                .sum();
            assert!(2 * candidates <= max, "{candidates}");
        }
    }
}
