//! Downlink control channel: the grants and assignments that a subframe can carry.

use crate::phy::{ChannelCode, CodeBlocks, Modulation, TransportFormat};

/// Number of control channel elements of one message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aggregation {
    /// One element.
    One = 1,
    /// Two elements.
    Two = 2,
    /// Four elements.
    Four = 4,
    /// Eight elements.
    Eight = 8,
}

impl Aggregation {
    /// Returns the fewest elements for a receiver at `sinr_db`, if eight elements are enough at `eight_db`.
    ///
    /// Each halving doubles the code rate and is taken to cost 3 dB. TS 36.101 clause 8.4.1.1 asks for eight elements
    /// at -1.7 dB on two receive antennas, with one message in a hundred missed.
    pub(crate) fn for_sinr(sinr_db: f64, eight_db: f64) -> Self {
        match sinr_db - eight_db {
            margin if margin >= 9.0 => Self::One,
            margin if margin >= 6.0 => Self::Two,
            margin if margin >= 3.0 => Self::Four,
            _ => Self::Eight,
        }
    }

    /// Returns the chance that a message of this size is missed at a SINR over the whole carrier. The message is an
    /// assignment on 20 MHz with its checksum (DCI format 1, TS 36.212 clause 5.3.3.1.2) in elements of 36 QPSK
    /// symbols (TS 36.211 clause 6.8.1).
    pub(crate) fn miss_rate(self, sinr_db: f64) -> f64 {
        let message = TransportFormat {
            bits: 39,
            modulation: Modulation::Qpsk,
            coded_bits: 72 * self as u32,
            blocks: CodeBlocks {
                code: ChannelCode::Turbo,
                count: 1,
                bits: 39 + 16,
            },
        };
        message.bler(sinr_db)
    }

    /// Returns the largest number of elements, up to this one, that a region of `elements` has room for.
    fn within(self, elements: u32) -> Self {
        [Self::Eight, Self::Four, Self::Two]
            .into_iter()
            .find(|size| *size <= self && *size as u32 <= elements)
            .unwrap_or(Self::One)
    }

    /// Returns the candidates in a UE's search space (TS 36.213 Table 9.1.1-1).
    const fn candidates(self) -> u32 {
        match self {
            Self::One | Self::Two => 6,
            Self::Four | Self::Eight => 2,
        }
    }
}

/// Control region of one cell, subframe after subframe.
#[derive(Clone, Debug)]
pub struct Pdcch {
    elements: u32,
    subframe: u64,
    taken: u128,
    blocked: u32,
}

impl Pdcch {
    /// Returns a region of `elements` control channel elements, at most 128.
    pub fn new(elements: u32) -> Self {
        Self {
            elements: elements.min(128),
            subframe: 0,
            taken: 0,
            blocked: 0,
        }
    }

    /// Begins a subframe with an empty region.
    pub fn start(&mut self, subframe: u64) {
        self.subframe = subframe;
        self.taken = 0;
        self.blocked = 0;
    }

    /// Places a message for the UE with that RNTI. Returns false if all its candidates are taken.
    ///
    /// A message that is larger than the whole region gets the largest size that fits; otherwise narrow carriers
    /// would never reach a UE with poor reception.
    pub fn place(&mut self, rnti: u16, aggregation: Aggregation) -> bool {
        let aggregation = aggregation.within(self.elements);
        let size = aggregation as u32;
        let places = self.elements / size;
        if places == 0 {
            self.blocked += 1;
            return false;
        }
        let hash = search_space(rnti, self.subframe);
        for candidate in 0..aggregation.candidates().min(places) {
            let first = size * ((hash + candidate) % places);
            let mask = ((1_u128 << size) - 1) << first;
            if self.taken & mask == 0 {
                self.taken |= mask;
                return true;
            }
        }
        self.blocked += 1;
        false
    }

    /// Returns the elements of the region, and how many of them are taken.
    pub fn elements(&self) -> (u32, u32) {
        (self.elements, self.taken.count_ones())
    }

    /// Returns the share of the elements taken, 0 to 1.
    pub fn utilisation(&self) -> f64 {
        if self.elements == 0 {
            return 1.0;
        }
        f64::from(self.taken.count_ones()) / f64::from(self.elements)
    }

    /// Returns the number of messages that found no place in this subframe.
    pub fn blocked(&self) -> u32 {
        self.blocked
    }
}

/// Returns Y_k of TS 36.213 clause 9.1.1, the start of a UE's search space in a subframe.
fn search_space(rnti: u16, subframe: u64) -> u32 {
    let mut hash = u32::from(rnti.max(1));
    for _ in 0..=subframe % 10 {
        hash = (u64::from(hash) * 39_827 % 65_537) as u32;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the elements that a SINR is worth, less than one message in a hundred is missed at that SINR; a fade of
    /// 10 dB loses most.
    #[test]
    fn messages_are_missed_in_fades() {
        for sinr_db in [-1.0, 2.0, 5.0, 8.0, 20.0] {
            let size = Aggregation::for_sinr(sinr_db, -1.7);
            assert!(size.miss_rate(sinr_db) < 0.01, "{size:?}");
        }
        assert!(Aggregation::One.miss_rate(-2.0) > 0.5);
        assert!(Aggregation::Eight.miss_rate(-11.7) > 0.5);
    }

    /// TS 36.213 clause 9.1.1: Y_0 = 39827 RNTI mod 65537, then repeated for each subframe.
    #[test]
    fn the_search_space_hops_by_the_standard_hash() {
        assert_eq!(search_space(1, 0), 39_827);
        assert_eq!(u64::from(search_space(1, 1)), 39_827 * 39_827 % 65_537);
        assert_eq!(search_space(1, 10), search_space(1, 0));
    }

    #[test]
    fn a_message_is_blocked_once_its_candidates_are_taken() {
        let mut pdcch = Pdcch::new(84);
        pdcch.start(3);
        let placed = (0..4)
            .filter(|_| pdcch.place(77, Aggregation::Eight))
            .count();
        assert_eq!((placed, pdcch.blocked()), (2, 2));
        assert_eq!(pdcch.utilisation(), 16.0 / 84.0);
        pdcch.start(4);
        assert_eq!(pdcch.utilisation(), 0.0);
    }

    /// 5 MHz with one control symbol: 3 elements.
    #[test]
    fn a_narrow_carrier_reaches_everybody_with_what_it_has() {
        let mut pdcch = Pdcch::new(3);
        pdcch.start(0);
        assert!(pdcch.place(1, Aggregation::Eight));
        assert_eq!(pdcch.taken.count_ones(), 2);
        assert!(!Pdcch::new(0).place(1, Aggregation::Eight));
    }

    #[test]
    fn messages_of_many_users_never_overlap_nor_leave_the_region() {
        let mut pdcch = Pdcch::new(84);
        let sizes = [
            Aggregation::One,
            Aggregation::Two,
            Aggregation::Four,
            Aggregation::Eight,
        ];
        for subframe in 0..20 {
            pdcch.start(subframe);
            let mut elements = 0;
            for rnti in 1..200_u16 {
                let size = sizes[usize::from(rnti) % 4];
                if pdcch.place(rnti, size) {
                    elements += size as u32;
                }
            }
            assert_eq!(pdcch.taken.count_ones(), elements);
            assert_eq!(pdcch.taken >> 84, 0);
        }
    }
}
