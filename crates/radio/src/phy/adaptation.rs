//! Link adaptation: from SINR to CQI, from CQI to modulation and coding scheme.

use super::capacity::{information, information_of_all};
use super::{CodeBlocks, CqiTable, Modulation, TransportFormat};

/// Thresholds of one carrier, computed once.
#[derive(Clone, Debug)]
pub struct LinkAdaptation {
    /// Per CQI from 1 on.
    cqis: [CqiThreshold; 15],
    /// Effective SINR in dB that each scheme needs, by number of PRBs from 1 on and then by MCS.
    needs: Vec<f32>,
    schemes: usize,
}

#[derive(Clone, Copy, Debug)]
struct CqiThreshold {
    modulation: Modulation,
    sinr_db: f64,
    /// The same as bits per symbol, which is what a measurement yields.
    information: f32,
}

impl LinkAdaptation {
    /// Thresholds for values of `table`, measured on a reference resource of `reference_elements`
    /// resource elements whose blocks are cut by `cut` (bits and code rate), and for `schemes` modulation
    /// and coding schemes on 1 to `prbs` resource blocks, which `format` describes (MCS, PRBs).
    ///
    /// Both are taken at the block error rate that the CQI table aims at.
    pub fn new(
        table: CqiTable,
        reference_elements: u32,
        cut: impl Fn(u32, f64) -> CodeBlocks,
        schemes: u8,
        prbs: u32,
        format: impl Fn(u8, u32) -> TransportFormat,
    ) -> Self {
        let target = table.target_bler();
        let cqis = table.schemes().map(|scheme| {
            let modulation = scheme.modulation;
            let coded_bits = reference_elements * modulation.bits_per_symbol();
            let with_checksum = (f64::from(coded_bits) * scheme.rate()) as u32;
            let bits = (with_checksum.saturating_sub(24) / 8 * 8).max(24);
            let blocks = cut(bits, scheme.rate());
            let reference = TransportFormat {
                bits,
                modulation,
                coded_bits,
                blocks,
            };
            let sinr_db =
                super::bler::sinr_db_at_bler(blocks, modulation, reference.coded_bits, target);
            CqiThreshold {
                modulation,
                sinr_db,
                information: information(modulation, sinr_db) as f32,
            }
        });
        let needs = (1..=prbs)
            .flat_map(|prbs| (0..schemes).map(move |mcs| (mcs, prbs)))
            .map(|(mcs, prbs)| format(mcs, prbs).sinr_db_at_bler(target) as f32)
            .collect();
        Self {
            cqis,
            needs,
            schemes: usize::from(schemes),
        }
    }

    /// The CQI that a receiver reports: the highest value whose reference block it would receive within
    /// the error target, 0 if there is none (TS 36.213 7.2.3, TS 38.214 5.2.2.1).
    ///
    /// `sinr_db` holds one value per group of resource blocks, in dB.
    pub fn cqi(&self, sinr_db: &[f32]) -> u8 {
        let mut sums = [0.0_f32; 4];
        for sinr_db in sinr_db {
            for (sum, bits) in sums.iter_mut().zip(information_of_all(*sinr_db)) {
                *sum += bits;
            }
        }
        let groups = sinr_db.len() as f32;
        let reached =
            |cqi: &CqiThreshold| sums[cqi.modulation as usize] >= cqi.information * groups;
        if sinr_db.is_empty() {
            return 0;
        }
        (1..=15)
            .rev()
            .find(|cqi| reached(&self.cqis[*cqi - 1]))
            .unwrap_or(0) as u8
    }

    /// The effective SINR in dB that `cqi` promises at least; minus infinity for 0.
    pub fn sinr_db_of_cqi(&self, cqi: u8) -> f64 {
        match usize::from(cqi).checked_sub(1) {
            Some(index) => self.cqis[index.min(14)].sinr_db,
            None => f64::NEG_INFINITY,
        }
    }

    /// The highest scheme on `prbs` resource blocks that keeps the error target at an effective SINR, or
    /// nothing if none does.
    ///
    /// # Panics
    /// If `prbs` is 0 or more than the carrier has.
    pub fn mcs(&self, sinr_db: f64, prbs: u32) -> Option<u8> {
        let row = (prbs as usize - 1) * self.schemes;
        let needs = &self.needs[row..row + self.schemes];
        needs
            .iter()
            .rposition(|need| f64::from(*need) <= sinr_db)
            .map(|mcs| mcs as u8)
    }

    /// The scheme that a base station picks for a receiver that reported `cqi`, with its SINR corrected
    /// by `offset_db` (0, or what [`OuterLoop`](super::OuterLoop) says). Nothing for CQI 0; where even the
    /// lowest scheme does not keep the error target, that one.
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

    /// The effective SINR in dB that `mcs` needs on `prbs` resource blocks; infinite if it has too little
    /// protection there.
    ///
    /// # Panics
    /// If there is no such scheme, or `prbs` is 0 or more than the carrier has.
    pub fn sinr_db_of_mcs(&self, mcs: u8, prbs: u32) -> f64 {
        assert!(
            usize::from(mcs) < self.schemes,
            "MCS {mcs} of {}",
            self.schemes
        );
        f64::from(self.needs[(prbs as usize - 1) * self.schemes + usize::from(mcs)])
    }
}

#[cfg(test)]
mod tests {
    use crate::phy::effective_sinr_mi;
    use crate::phy::lte::{self, Bandwidth, McsTable, Overhead};
    use crate::phy::nr;

    use super::*;

    fn carrier(prbs: u32) -> (Bandwidth, Overhead) {
        let bandwidth = Bandwidth::from_prbs(prbs).expect("a carrier");
        (bandwidth, Overhead::new(1, 1).expect("a configuration"))
    }

    /// Bits per millisecond of one layer on a flat channel at `sinr_db`, first transmissions alone.
    fn goodput(adaptation: &LinkAdaptation, prbs: u32, sinr_db: f64) -> f64 {
        let (bandwidth, overhead) = carrier(prbs);
        let cqi = adaptation.cqi(&[sinr_db as f32; 25]);
        let Some(mcs) = adaptation.mcs_of_cqi(cqi, prbs, 0.0) else {
            return 0.0;
        };
        let elements = overhead.data_elements(bandwidth);
        let format = lte::format(McsTable::Qam64, mcs, prbs, 1, elements).expect("in the tables");
        f64::from(format.bits) * (1.0 - format.bler(sinr_db))
    }

    #[test]
    fn calibrate() {
        let (bandwidth, overhead) = carrier(100);
        let adaptation = lte::link_adaptation(McsTable::Qam64, bandwidth, overhead);
        for cqi in 1..=15 {
            let (b6, o6) = carrier(6);
            let a6 = lte::link_adaptation(McsTable::Qam64, b6, o6);
            println!(
                "cqi {cqi}: {:.3} dB (6 prb {:.3}) mcs {:?}",
                adaptation.sinr_db_of_cqi(cqi),
                a6.sinr_db_of_cqi(cqi),
                adaptation.mcs_of_cqi(cqi, 100, 0.0)
            );
        }
        for mcs in 0..29 {
            println!(
                "mcs {mcs}: {:.3} {:.3}",
                adaptation.sinr_db_of_mcs(mcs, 100),
                adaptation.sinr_db_of_mcs(mcs, 25)
            );
        }
        for sinr in 0..=30 {
            println!(
                "{sinr} dB: {:.2} Mbit/s (25 PRB {:.2})",
                goodput(&adaptation, 100, f64::from(sinr)) / 1000.0,
                goodput(
                    &lte::link_adaptation(McsTable::Qam64, carrier(25).0, overhead),
                    25,
                    f64::from(sinr)
                ) / 1000.0
            );
        }
        let a = nr::Allocation {
            symbols: 13,
            dmrs_elements: 12,
            overhead_elements: 0,
            layers: 1,
        };
        let n = nr::link_adaptation(nr::McsTable::Qam256, 273, a);
        for cqi in 1..=15 {
            println!(
                "nr cqi {cqi}: {:.3} {:?}",
                n.sinr_db_of_cqi(cqi),
                n.mcs_of_cqi(cqi, 273, 0.0)
            );
        }
        let _ = effective_sinr_mi(&[], Modulation::Qpsk);
    }
}
