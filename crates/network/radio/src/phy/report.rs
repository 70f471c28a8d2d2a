//! Reports of channel quality, with their period and delay.

use std::collections::VecDeque;

use super::LinkAdaptation;

/// Sub-bands of the widest carrier: 275 resource blocks in NR's sub-bands of 16 (TS 38.214 table
/// 5.2.1.4-2).
const MAX_SUBBANDS: usize = 18;

/// Times and contents of the reports of a receiver. Times are in TTIs (subframes of LTE, slots of NR).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportConfig {
    /// TTIs from one measurement to the next, at least 1.
    pub period: u32,
    /// TTI of the first measurement.
    pub offset: u32,
    /// TTIs from the measurement until the scheduler can use the report. In LTE the reference resource lies at least
    /// 4 subframes before the report (TS 36.213 7.2.3), and decoding adds to that.
    pub delay: u32,
    /// Resource blocks of a sub-band; 0 for a report on the whole carrier alone.
    pub subband_size: u32,
}

/// Content of one report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqiReport {
    /// TTI of the measurement.
    pub measured: u64,
    /// CQI of the whole carrier.
    pub wideband: u8,
    /// Differences of the sub-bands from `wideband`.
    offsets: [i8; MAX_SUBBANDS],
    /// Number of sub-bands reported.
    subband_count: u8,
}

impl CqiReport {
    /// Returns the number of sub-bands reported.
    pub const fn subbands(&self) -> usize {
        self.subband_count as usize
    }

    /// Returns the CQI that the scheduler reads for sub-band `index`; that of the carrier if sub-bands are not
    /// reported.
    ///
    /// A sub-band is reported as 2 bits relative to the carrier: 0, 1, 2 or more, -1 or less (TS 36.213 table
    /// 7.2.1-2, TS 38.214 table 5.2.2.1-1). The open ends are read as 2 and -1.
    pub fn subband(&self, index: usize) -> u8 {
        let offset = if index < self.subbands() {
            self.offsets[index]
        } else {
            0
        };
        self.wideband.saturating_add_signed(offset).min(15)
    }
}

/// Reporter: measures the channel quality of a receiver and delays its reports.
#[derive(Clone, Debug)]
pub struct CqiReporter {
    config: ReportConfig,
    groups_per_subband: usize,
    under_way: VecDeque<CqiReport>,
    latest: Option<CqiReport>,
}

impl CqiReporter {
    /// Returns a reporter fed with one SINR for every `prbs_per_group` resource blocks, of which a sub-band holds
    /// a whole number.
    ///
    /// # Panics
    /// If the period is 0, or sub-bands do not consist of whole groups.
    pub fn new(config: ReportConfig, prbs_per_group: u32) -> Self {
        assert!(
            config.period > 0,
            "the period of reports is at least one TTI"
        );
        assert!(
            config.subband_size.is_multiple_of(prbs_per_group),
            "a sub-band of {} PRBs does not consist of groups of {prbs_per_group}",
            config.subband_size
        );
        let under_way = VecDeque::with_capacity((config.delay / config.period + 2) as usize);
        let groups_per_subband = (config.subband_size / prbs_per_group) as usize;
        Self {
            config,
            groups_per_subband,
            under_way,
            latest: None,
        }
    }

    /// Removes all reports, because another cell serves now.
    pub fn restart(&mut self) {
        self.under_way.clear();
        self.latest = None;
    }

    /// Returns whether the receiver measures in `tti`.
    pub(crate) fn is_due(&self, tti: u64) -> bool {
        let offset = u64::from(self.config.offset);
        tti >= offset && (tti - offset).is_multiple_of(u64::from(self.config.period))
    }

    /// Measures in `tti`: `sinr_db` holds one value per group of resource blocks, in dB.
    pub fn measure(&mut self, tti: u64, sinr_db: &[f32], adaptation: &LinkAdaptation) {
        let wideband = adaptation.cqi(sinr_db);
        let mut report = CqiReport {
            measured: tti,
            wideband,
            offsets: [0; MAX_SUBBANDS],
            subband_count: 0,
        };
        if self.groups_per_subband > 0 {
            let subbands = sinr_db.chunks(self.groups_per_subband);
            for (offset, subband) in report.offsets.iter_mut().zip(subbands) {
                *offset = (adaptation.cqi(subband) as i8 - wideband as i8).clamp(-1, 2);
                report.subband_count += 1;
            }
        }
        self.under_way.push_back(report);
    }

    /// Returns the latest report of the user, even if the scheduler does not have it yet.
    pub fn latest_made(&self) -> Option<&CqiReport> {
        self.under_way.back().or(self.latest.as_ref())
    }

    /// Returns the latest report that the scheduler has in `tti`.
    pub fn latest(&mut self, tti: u64) -> Option<&CqiReport> {
        let delay = u64::from(self.config.delay);
        while self
            .under_way
            .front()
            .is_some_and(|report| report.measured + delay <= tti)
        {
            self.latest = self.under_way.pop_front();
        }
        self.latest.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::lte::{Bandwidth, McsTable, Overhead, link_adaptation};

    fn twenty_mhz() -> LinkAdaptation {
        let bandwidth = Bandwidth::from_prbs(100).expect("a carrier");
        let overhead = Overhead::new(1, 1).expect("a configuration");
        link_adaptation(McsTable::Qam64, bandwidth, overhead)
    }

    #[test]
    fn a_report_is_used_a_delay_after_its_measurement_and_until_the_next() {
        let adaptation = twenty_mhz();
        let config = ReportConfig {
            period: 5,
            offset: 2,
            delay: 6,
            subband_size: 0,
        };
        let mut reporter = CqiReporter::new(config, 4);
        let mut seen = Vec::new();
        for tti in 0..20_u64 {
            if reporter.is_due(tti) {
                reporter.measure(tti, &[tti as f32; 25], &adaptation);
            }
            seen.push(reporter.latest(tti).map(|report| report.measured));
        }
        let mut expected = vec![None; 8];
        expected.extend([Some(2); 5]);
        expected.extend([Some(7); 5]);
        expected.extend([Some(12); 2]);
        assert_eq!(seen, expected);
    }

    #[test]
    fn table_7_2_1_2_sub_bands_are_relative_and_cut_off() {
        let adaptation = twenty_mhz();
        let config = ReportConfig {
            period: 1,
            offset: 0,
            delay: 0,
            subband_size: 8,
        };
        let mut reporter = CqiReporter::new(config, 4);
        let mut sinr_db = [10.0; 25];
        sinr_db[0..2].fill(-5.0);
        sinr_db[2..4].fill(25.0);
        reporter.measure(0, &sinr_db, &adaptation);
        let report = *reporter.latest(0).expect("without delay");
        assert_eq!(report.wideband, adaptation.cqi(&sinr_db));
        assert_eq!(report.subbands(), 13);
        assert_eq!(report.subband(0), report.wideband - 1);
        assert_eq!(report.subband(1), report.wideband + 2);
        let flat = i16::from(adaptation.cqi(&[10.0; 2])) - i16::from(report.wideband);
        assert_eq!(
            i16::from(report.subband(12)) - i16::from(report.wideband),
            flat.clamp(-1, 2)
        );
    }
}
