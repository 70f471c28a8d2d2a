//! Link adaptation: from SINR to CQI, from CQI to modulation and coding scheme.

use super::capacity::{information, information_sums};
use super::{CodeBlocks, CqiTable, Modulation, TransportFormat};

/// Thresholds of link adaptation on one carrier, computed once.
#[derive(Clone, Debug)]
pub struct LinkAdaptation {
    /// Thresholds per CQI, from 1 on.
    cqis: [CqiThreshold; 15],
    /// Effective SINR in dB that each scheme needs, by number of PRBs from 1 on and then by MCS.
    required_db: Vec<f32>,
    schemes: usize,
}

#[derive(Clone, Copy, Debug)]
struct CqiThreshold {
    modulation: Modulation,
    sinr_db: f64,
    /// The same threshold as bits per symbol, which is the unit of a measurement.
    information: f32,
}

impl CqiThreshold {
    fn new(modulation: Modulation, sinr_db: f64) -> Self {
        Self {
            modulation,
            sinr_db,
            information: information(modulation, sinr_db) as f32,
        }
    }
}

impl LinkAdaptation {
    /// Computes the thresholds.
    ///
    /// The CQI thresholds are for values of `table`, measured on a reference resource of `reference_elements`
    /// resource elements; `segment` returns its code blocks (bits, code rate). The schemes are `schemes` modulation and
    /// coding schemes on 1 to `prbs` resource blocks, which `format` describes (MCS, PRBs) where they exist. Both are
    /// taken at the block error rate that the CQI table aims at.
    pub fn new(
        table: CqiTable,
        reference_elements: u32,
        segment: impl Fn(u32, f64) -> CodeBlocks,
        schemes: u8,
        prbs: u32,
        format: impl Fn(u8, u32) -> Option<TransportFormat>,
    ) -> Self {
        let target = table.target_bler();
        let cqis = table.schemes().map(|scheme| {
            let modulation = scheme.modulation;
            let coded_bits = reference_elements * modulation.bits_per_symbol();
            let with_checksum = (f64::from(coded_bits) * scheme.rate()) as u32;
            let bits = (with_checksum.saturating_sub(24) / 8 * 8).max(24);
            let blocks = segment(bits, scheme.rate());
            let sinr_db = super::bler::sinr_db_at_bler(blocks, modulation, coded_bits, target);
            CqiThreshold::new(modulation, sinr_db)
        });
        let required_db = (1..=prbs)
            .flat_map(|prbs| (0..schemes).map(move |mcs| (mcs, prbs)))
            .map(|(mcs, prbs)| {
                let required = format(mcs, prbs).map(|format| format.sinr_db_at_bler(target));
                required.unwrap_or(f64::INFINITY) as f32
            })
            .collect();
        Self {
            cqis,
            required_db,
            schemes: usize::from(schemes),
        }
    }

    /// Raises the threshold of each CQI to that of its scheme on the whole carrier; `scheme_of` returns the scheme with the
    /// same modulation and code rate. Rounded transport blocks (TS 38.214 5.1.3.2) need up to some tenths of a dB more
    /// than blocks of the nominal rate. Without this, a base station that knows only the CQI would never use the scheme.
    pub(crate) fn with_schemes_of_cqis(mut self, scheme_of: impl Fn(u8) -> Option<u8>) -> Self {
        let whole_carrier = self.required_db.len() - self.schemes;
        for (cqi, threshold) in (1..).zip(&mut self.cqis) {
            let need = scheme_of(cqi)
                .map(|mcs| f64::from(self.required_db[whole_carrier + usize::from(mcs)]));
            if let Some(need) = need.filter(|need| need.is_finite())
                && need > threshold.sinr_db
            {
                *threshold = CqiThreshold::new(threshold.modulation, need);
            }
        }
        self
    }

    /// Uses the CQI thresholds of `reported`, which is for other intervals of the same carrier.
    pub(crate) fn with_cqis_of(mut self, reported: &Self) -> Self {
        self.cqis.clone_from(&reported.cqis);
        self
    }

    /// Returns the CQI that a receiver reports: the highest value whose reference block it would receive within the
    /// error target, or 0 if there is none (TS 36.213 7.2.3, TS 38.214 5.2.2.1).
    ///
    /// `sinr_db` holds one value per group of resource blocks, in dB.
    pub fn cqi(&self, sinr_db: &[f32]) -> u8 {
        if sinr_db.is_empty() {
            return 0;
        }
        let sums = information_sums(sinr_db);
        let groups = sinr_db.len() as f32;
        let is_reached =
            |cqi: &CqiThreshold| sums[cqi.modulation as usize] >= cqi.information * groups;
        (1..=15)
            .rev()
            .find(|cqi| is_reached(&self.cqis[*cqi - 1]))
            .unwrap_or(0) as u8
    }

    /// Returns the minimum effective SINR in dB for `cqi`; minus infinity for 0.
    pub fn sinr_db_of_cqi(&self, cqi: u8) -> f64 {
        match usize::from(cqi).checked_sub(1) {
            Some(index) => self.cqis[index.min(14)].sinr_db,
            None => f64::NEG_INFINITY,
        }
    }

    /// Returns the highest scheme on `prbs` resource blocks that keeps the error target at an effective SINR; `None`
    /// if there is none.
    ///
    /// # Panics
    /// If `prbs` is 0 or more than the carrier has.
    pub fn mcs(&self, sinr_db: f64, prbs: u32) -> Option<u8> {
        let row = (prbs as usize - 1) * self.schemes;
        let required_db = &self.required_db[row..row + self.schemes];
        required_db
            .iter()
            .rposition(|required| f64::from(*required) <= sinr_db)
            .map(|mcs| mcs as u8)
    }

    /// Returns the SINR in dB that scheme `mcs` needs on `prbs` resource blocks to keep the error target.
    pub(crate) fn required_sinr_db(&self, mcs: u8, prbs: u32) -> f64 {
        f64::from(self.required_db[(prbs as usize - 1) * self.schemes + usize::from(mcs)])
    }

    /// Returns the scheme that a base station picks for a receiver that reported `cqi`, with its SINR corrected by
    /// `offset_db` (0, or the offset of [`OuterLoop`](super::OuterLoop)). Returns `None` for CQI 0, and the lowest
    /// scheme if even that does not keep the error target.
    ///
    /// # Panics
    /// If `prbs` is 0 or more than the carrier has.
    pub fn mcs_of_cqi(&self, cqi: u8, prbs: u32, offset_db: f64) -> Option<u8> {
        if cqi == 0 {
            return None;
        }
        Some(
            self.mcs(self.sinr_db_of_cqi(cqi) + offset_db, prbs)
                .unwrap_or(0),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use crate::phy::lte::{self, Bandwidth, McsTable, Overhead};
    use crate::phy::{effective_sinr_mi, nr};

    use super::*;

    fn bandwidth(prbs: u32) -> Bandwidth {
        Bandwidth::from_prbs(prbs).expect("a carrier")
    }

    /// One control symbol and one antenna port.
    fn overhead() -> Overhead {
        Overhead::new(1, 1).expect("a configuration")
    }

    fn carrier(prbs: u32) -> LinkAdaptation {
        lte::link_adaptation(McsTable::Qam64, bandwidth(prbs), overhead())
    }

    /// Computed once for all cases of a property.
    static FIVE_MHZ: LazyLock<LinkAdaptation> = LazyLock::new(|| carrier(25));

    /// Returns the Mbit/s of one layer on a flat channel at `sinr_db`, counting first transmissions alone.
    fn rate(adaptation: &LinkAdaptation, prbs: u32, sinr_db: f64) -> f64 {
        let cqi = adaptation.cqi(&[sinr_db as f32]);
        let Some(mcs) = adaptation.mcs_of_cqi(cqi, prbs, 0.0) else {
            return 0.0;
        };
        let elements = overhead().data_elements(bandwidth(prbs));
        let format = lte::format(McsTable::Qam64, mcs, prbs, 1, elements).expect("in the tables");
        f64::from(format.bits) * (1.0 - format.bler(sinr_db)) / 1_000.0
    }

    #[test]
    fn cqi_thresholds_lie_on_the_published_line() {
        // Link-level results for a Gaussian channel on 1.4 MHz are commonly drawn as a line from -7 dB
        // for CQI 1 to 20 dB for CQI 15 (Ikuno, Wrulich, Rupp, "System level simulation of LTE networks",
        // VTC 2010-Spring).
        let adaptation = carrier(6);
        for cqi in 1..=15 {
            let line = -7.0 + 27.0 / 14.0 * f64::from(cqi - 1);
            let ours = adaptation.sinr_db_of_cqi(cqi);
            println!("CQI {cqi}: {ours:.2} dB, published line {line:.2} dB");
            assert!((ours - line).abs() < 1.0, "CQI {cqi}: {ours} {line}");
        }
        assert_eq!(adaptation.sinr_db_of_cqi(0), f64::NEG_INFINITY);
    }

    #[test]
    fn ts_36_213_7_2_3_the_reported_value_keeps_one_error_in_ten() {
        let adaptation = carrier(50);
        assert_eq!(adaptation.cqi(&[]), 0);
        for cqi in 1..=15 {
            let threshold = adaptation.sinr_db_of_cqi(cqi);
            assert_eq!(adaptation.cqi(&[threshold as f32 + 0.01; 17]), cqi);
            assert_eq!(adaptation.cqi(&[threshold as f32 - 0.01; 17]), cqi - 1);
        }
    }

    #[test]
    fn the_scheme_picked_keeps_one_error_in_ten_and_the_next_would_not() {
        for prbs in [6, 25, 100] {
            let adaptation = carrier(prbs);
            let elements = overhead().data_elements(bandwidth(prbs));
            let bler = |mcs, sinr_db| {
                let format = lte::format(McsTable::Qam64, mcs, prbs, 1, elements);
                format.expect("in the tables").bler(sinr_db)
            };
            for step in -12..=40 {
                let sinr_db = f64::from(step) / 2.0;
                match adaptation.mcs(sinr_db, prbs) {
                    Some(mcs) => {
                        assert!(bler(mcs, sinr_db) <= 0.1);
                        assert!(mcs == 28 || bler(mcs + 1, sinr_db) > 0.099);
                    }
                    None => assert!(bler(0, sinr_db) > 0.099),
                }
            }
        }
    }

    #[test]
    fn a_20_mhz_cell_reaches_75_mbit_s_and_half_of_it_about_9_db() {
        let adaptation = carrier(100);
        for sinr_db in [0.0, 5.0, 10.0, 15.0, 20.0, 25.0] {
            println!(
                "{sinr_db} dB: {:.1} Mbit/s",
                rate(&adaptation, 100, sinr_db)
            );
        }
        let peak = rate(&adaptation, 100, 30.0);
        assert!((70.0..=75.4).contains(&peak), "{peak}");
        let middle = (0..300).map(|tenth| f64::from(tenth) / 10.0);
        let sinr_db = middle
            .into_iter()
            .find(|sinr_db| rate(&adaptation, 100, *sinr_db) >= 35.0);
        let sinr_db = sinr_db.expect("the cell reaches 75 Mbit/s");
        println!("35 Mbit/s from {sinr_db} dB on");
        assert!((8.0..11.0).contains(&sinr_db), "{sinr_db}");
    }

    #[test]
    fn schemes_without_protection_are_never_picked() {
        // With three control symbols MCS 28 fills 100 blocks to a code rate of 1.0.
        let crowded = Overhead::new(3, 1).expect("a configuration");
        let adaptation = lte::link_adaptation(McsTable::Qam64, bandwidth(100), crowded);
        let need = adaptation.required_db[99 * adaptation.schemes + 28];
        assert_eq!(need, f32::INFINITY);
        assert_eq!(adaptation.mcs(40.0, 100), Some(27));
    }

    #[test]
    fn the_outer_loop_moves_the_scheme_but_cqi_0_sends_nothing() {
        let adaptation = carrier(100);
        let mcs = |cqi, offset_db| adaptation.mcs_of_cqi(cqi, 100, offset_db);
        assert!(mcs(10, -3.0) < mcs(10, 0.0) && mcs(10, 0.0) < mcs(10, 3.0));
        assert_eq!(mcs(1, -10.0), Some(0));
        assert_eq!(mcs(0, 10.0), None);
    }

    #[test]
    fn nr_on_100_mhz_with_256qam_and_four_layers_exceeds_two_gigabits() {
        let allocation = nr::Allocation {
            symbols: 13,
            dmrs_elements: 12,
            overhead_elements: 0,
            layers: 4,
        };
        let adaptation = nr::link_adaptation(nr::McsTable::Qam256, 273, allocation);
        assert_eq!(adaptation.cqi(&[30.0; 18]), 15);
        let mcs = adaptation.mcs_of_cqi(15, 273, 0.0).expect("CQI 15");
        let format = nr::format(nr::McsTable::Qam256, mcs, 273, allocation).expect("in the table");
        let gigabits = f64::from(format.bits) / 0.5e6;
        assert!((2.0..2.4).contains(&gigabits), "{gigabits}");
    }

    proptest! {
        #[test]
        fn cqi_is_what_the_effective_sinr_of_its_modulation_reaches(
            sinr_db in proptest::collection::vec(-15.0_f32..30.0, 25)
        ) {
            let adaptation = &*FIVE_MHZ;
            let cqi = adaptation.cqi(&sinr_db);
            for higher in cqi + 1..=15 {
                let modulation = CqiTable::Qam64.scheme(higher).expect("in the table").modulation;
                let effective = effective_sinr_mi(&sinr_db, modulation);
                prop_assert!(effective < adaptation.sinr_db_of_cqi(higher) + 0.01);
            }
            if let Some(scheme) = CqiTable::Qam64.scheme(cqi) {
                let effective = effective_sinr_mi(&sinr_db, scheme.modulation);
                prop_assert!(effective > adaptation.sinr_db_of_cqi(cqi) - 0.01);
            }
        }

        #[test]
        fn a_better_block_never_lowers_the_cqi(
            sinr_db in proptest::collection::vec(-15.0_f32..30.0, 25), better in 0_usize..25
        ) {
            let adaptation = &*FIVE_MHZ;
            let before = adaptation.cqi(&sinr_db);
            let mut sinr_db = sinr_db;
            sinr_db[better] += 5.0;
            prop_assert!(adaptation.cqi(&sinr_db) >= before);
        }
    }
}
