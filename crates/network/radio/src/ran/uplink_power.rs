//! Uplink power of one UE: its power headroom reports, and the allocations that its base station derives from them.

use std::sync::Arc;

use super::RanConfig;
use super::power::{MeasuredUplink, PowerControl};
use crate::mac::headroom::{self, Headroom, Reporter};
use crate::settings::Access;

/// Power of the uplink of a UE that has a position. Times are TTIs, path losses are in dB.
#[derive(Debug)]
pub(super) struct UplinkPower {
    control: Arc<PowerControl>,
    /// Reports since the connection was set up; `None` before the first.
    reports: Option<Reports>,
    allocations: Allocations,
}

/// Reporter of a UE, and the latest report that its base station has decoded.
#[derive(Debug)]
struct Reports {
    reporter: Reporter,
    decoded: Headroom,
}

/// Allocations on which a UE carries the most, by the number of free resource blocks.
#[derive(Debug, Default)]
struct Allocations {
    /// Path loss and report for which they were computed.
    key: Option<(f64, Headroom)>,
    prbs: Vec<u16>,
}

impl UplinkPower {
    /// Returns the power of a UE; all UEs share the power control.
    pub(super) fn new(control: Arc<PowerControl>) -> Self {
        Self {
            control,
            reports: None,
            allocations: Allocations::default(),
        }
    }

    /// Removes the reports, because the connection is a new one.
    pub(super) fn reset(&mut self) {
        self.reports = None;
    }

    /// Returns the SINR at the base station over `prbs` resource blocks, in dB.
    pub(super) fn sinr_db(&self, path_loss_db: f64, prbs: u32) -> f64 {
        self.control.sinr_db(path_loss_db, prbs)
    }

    /// Handles a report that the base station has decoded.
    pub(super) fn on_decoded(&mut self, report: Headroom) {
        if let Some(reports) = &mut self.reports {
            reports.decoded = report;
        }
    }

    /// Returns the latest report that the base station has; at first that of the connection set-up. A UE with configured
    /// grants sends no reports, and chooses its allocation itself.
    fn latest_report(&mut self, (tti, path_loss_db): (u64, f64), config: &RanConfig) -> Headroom {
        let control = &self.control;
        if config.radio.uplink.access == Access::Configured {
            return Headroom {
                db: control.headroom_db(path_loss_db, 1),
                prbs: 1,
            };
        }
        let reports = self.reports.get_or_insert_with(|| {
            let db = control.headroom_db(path_loss_db, 1);
            Reports {
                reporter: Reporter::new(config.headroom_reports(), tti, path_loss_db),
                decoded: Headroom::rounded(config.radio.technology, db, 1),
            }
        });
        reports.decoded
    }

    /// Returns the uplink as the base station knows it.
    pub(super) fn measured(
        &mut self,
        (tti, path_loss_db): (u64, f64),
        config: &RanConfig,
    ) -> MeasuredUplink<'_> {
        let report = self.latest_report((tti, path_loss_db), config);
        self.control.measured(path_loss_db, report)
    }

    /// Returns the number of resource blocks, at most `free`, on which the UE carries the most bytes, as far as the base
    /// station knows.
    pub(super) fn best_allocation(
        &mut self,
        (tti, path_loss_db): (u64, f64),
        config: &RanConfig,
        free: u32,
    ) -> u32 {
        let report = self.latest_report((tti, path_loss_db), config);
        let key = Some((path_loss_db, report));
        if self.allocations.key != key {
            self.allocations.key = key;
            let measured = self.control.measured(path_loss_db, report);
            measured.best_allocations(config, &mut self.allocations.prbs);
        }
        u32::from(self.allocations.prbs[free as usize])
    }

    /// Returns the report that is sent with new data granted in this TTI, if one is due and fits into `room` bytes.
    pub(super) fn take_report(
        &mut self,
        (tti, path_loss_db): (u64, f64),
        config: &RanConfig,
        (prbs, room): (u32, u32),
    ) -> Option<Headroom> {
        let technology = config.radio.technology;
        let reports = self.reports.as_mut()?;
        if room < headroom::bytes(technology) || !reports.reporter.is_due(tti, path_loss_db) {
            return None;
        }
        reports.reporter.on_report(tti, path_loss_db);
        let db = self.control.headroom_db(path_loss_db, prbs);
        Some(Headroom::rounded(technology, db, prbs))
    }
}
