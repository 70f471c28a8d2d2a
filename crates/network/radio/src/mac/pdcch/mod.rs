//! PDCCH: placement of grants and assignments in the control region of a TTI.

mod aggregation;
mod region;

pub use aggregation::Aggregation;
pub use region::ControlRegion;

/// Control region of one cell, TTI after TTI.
#[derive(Clone, Debug)]
pub struct Pdcch {
    region: ControlRegion,
    /// Factor of the hash of all search spaces in this TTI.
    hash: u32,
    /// Occupied control channel elements, a bit each.
    occupied: u128,
    /// Number of messages without a free candidate in this TTI.
    blocked: u32,
}

impl Pdcch {
    /// Returns an empty region.
    pub fn new(region: ControlRegion) -> Self {
        Self {
            region,
            hash: 0,
            occupied: 0,
            blocked: 0,
        }
    }

    /// Begins a TTI with an empty region.
    pub fn start(&mut self, tti: u64) {
        self.hash = self.region.hash(tti);
        self.occupied = 0;
        self.blocked = 0;
    }

    /// Places a message for the UE with that RNTI. Returns false if all its candidates are occupied.
    ///
    /// A message that is larger than the whole region gets the largest size that fits; otherwise narrow carriers
    /// would never reach a UE with poor reception.
    pub fn place(&mut self, rnti: u16, aggregation: Aggregation) -> bool {
        let Some(aggregation) = self.region.fitting(aggregation) else {
            self.blocked += 1;
            return false;
        };
        let size = aggregation as u32;
        for first in self.region.candidates(rnti, aggregation, self.hash) {
            let mask = ((1_u128 << size) - 1) << first;
            if self.occupied & mask == 0 {
                self.occupied |= mask;
                return true;
            }
        }
        self.blocked += 1;
        false
    }

    /// Returns the number of elements of the region, and the number of occupied ones.
    pub fn elements(&self) -> (u32, u32) {
        (self.region.elements(), self.occupied.count_ones())
    }

    /// Returns the number of messages in this TTI that had no free candidate.
    pub fn blocked(&self) -> u32 {
        self.blocked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_blocked_once_its_candidates_are_taken() {
        let mut pdcch = Pdcch::new(ControlRegion::lte(84));
        pdcch.start(3);
        let placed = (0..4)
            .filter(|_| pdcch.place(77, Aggregation::Eight))
            .count();
        assert_eq!((placed, pdcch.blocked()), (2, 2));
        assert_eq!(pdcch.elements(), (84, 16));
        pdcch.start(4);
        assert_eq!(pdcch.elements(), (84, 0));
    }

    /// 5 MHz with one control symbol: 3 elements.
    #[test]
    fn a_narrow_carrier_reaches_everybody_with_what_it_has() {
        let mut pdcch = Pdcch::new(ControlRegion::lte(3));
        pdcch.start(0);
        assert!(pdcch.place(1, Aggregation::Eight));
        assert_eq!(pdcch.elements(), (3, 2));
        assert!(!Pdcch::new(ControlRegion::lte(0)).place(1, Aggregation::Eight));
    }

    #[test]
    fn messages_of_many_users_never_overlap_nor_leave_the_region() {
        let sizes = [
            Aggregation::One,
            Aggregation::Two,
            Aggregation::Four,
            Aggregation::Eight,
            Aggregation::Sixteen,
        ];
        for region in [ControlRegion::lte(84), ControlRegion::nr(1, 273, 1)] {
            let mut pdcch = Pdcch::new(region);
            for tti in 0..20 {
                pdcch.start(tti);
                let mut elements = 0;
                for rnti in 1..200_u16 {
                    let size = sizes[usize::from(rnti) % 5];
                    if pdcch.place(rnti, size) {
                        elements += region.fitting(size).expect("a large region") as u32;
                    }
                }
                assert_eq!(pdcch.elements().1, elements);
                assert_eq!(pdcch.occupied >> region.elements(), 0);
            }
        }
    }

    /// TS 38.213 clause 10.1: wherever two messages of a size fit, a UE has a candidate for its assignment and
    /// another one for its grant.
    #[test]
    fn ts_38_213_10_1_an_assignment_leaves_a_place_for_a_grant_where_both_fit() {
        for (numerology, prbs, symbols) in [
            (0, 106, 1),
            (1, 51, 2),
            (1, 273, 1),
            (3, 32, 3),
            (3, 264, 1),
        ] {
            let region = ControlRegion::nr(numerology, prbs, symbols);
            let mut pdcch = Pdcch::new(region);
            for size in Aggregation::ALL {
                let fits_twice = 2 * size as u32 <= region.elements();
                for (tti, rnti) in (0..100).zip((1..).step_by(7)) {
                    pdcch.start(tti);
                    assert!(pdcch.place(rnti, size), "{region:?}");
                    assert!(
                        pdcch.place(rnti, size) || !fits_twice,
                        "{region:?} {size:?}"
                    );
                }
            }
        }
    }
}
