//! Power headroom reports: the power that a UE has left beyond that for a grant (TS 36.321 clause 5.4.6, TS 38.321
//! clause 5.4.6).

use crate::settings::Technology;

/// Timers of the reports in TTIs, and the change of the path loss that triggers one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ReportConfig {
    /// periodicPHR-Timer; `None` for infinity.
    pub(crate) periodic: Option<u64>,
    /// prohibitPHR-Timer.
    pub(crate) prohibit: u64,
    /// dl-PathlossChange, dB.
    pub(crate) path_loss_change_db: f64,
}

/// A report as the base station reads it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Headroom {
    /// Power left in dB, rounded down to a value that can be reported; below zero if the grant needs more than the
    /// UE has.
    pub(crate) db: f64,
    /// Resource blocks of the grant that it is about.
    pub(crate) prbs: u32,
}

impl Headroom {
    /// Returns the report of a power headroom: TS 36.133 table 9.1.8.4-1, TS 38.133 table 10.1.17.1-1.
    pub(crate) fn rounded(technology: Technology, db: f64, prbs: u32) -> Self {
        let db = match technology {
            Technology::Lte => db.floor().clamp(-23.0, 40.0),
            Technology::Nr if db < 22.0 => db.floor().max(-32.0),
            Technology::Nr => ((db / 2.0).floor() * 2.0).min(38.0),
        };
        Self { db, prbs }
    }
}

/// Bytes of a report with its subheader: TS 36.321 clause 6.1.3.6, TS 38.321 clause 6.1.3.8.
pub(crate) const fn bytes(technology: Technology) -> u32 {
    match technology {
        Technology::Lte => 2,
        Technology::Nr => 3,
    }
}

/// Reporting side of a UE. Its first report is in the message that completes the set-up of the connection.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    config: ReportConfig,
    /// TTI and path loss of the last report.
    last_tti: u64,
    path_loss_db: f64,
}

impl Reporter {
    /// Returns the reporter of a UE that has reported in TTI `tti` at that path loss.
    pub(crate) fn new(config: ReportConfig, tti: u64, path_loss_db: f64) -> Self {
        Self {
            config,
            last_tti: tti,
            path_loss_db,
        }
    }

    /// Returns whether a report is due with new data that are granted in TTI `tti`.
    pub(crate) fn is_due(&self, tti: u64, path_loss_db: f64) -> bool {
        let since = tti - self.last_tti;
        let change_db = (path_loss_db - self.path_loss_db).abs();
        self.config.periodic.is_some_and(|timer| since >= timer)
            || since >= self.config.prohibit && change_db > self.config.path_loss_change_db
    }

    /// Handles a report that is sent.
    pub(crate) fn on_report(&mut self, tti: u64, path_loss_db: f64) {
        (self.last_tti, self.path_loss_db) = (tti, path_loss_db);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ts_36_133_table_9_1_8_4_1_and_ts_38_133_table_10_1_17_1_1() {
        let lte = |db| Headroom::rounded(Technology::Lte, db, 6).db;
        assert_eq!(
            [-30.0, -22.1, 0.9, 22.9, 55.0].map(lte),
            [-23.0, -23.0, 0.0, 22.0, 40.0]
        );
        let nr = |db| Headroom::rounded(Technology::Nr, db, 6).db;
        assert_eq!(
            [-40.0, -31.5, 21.9, 23.9, 37.9, 50.0].map(nr),
            [-32.0, -32.0, 21.0, 22.0, 36.0, 38.0]
        );
    }

    #[test]
    fn clause_5_4_6_a_report_is_due_after_the_periodic_timer_or_a_change_of_the_path_loss() {
        let config = ReportConfig {
            periodic: Some(50),
            prohibit: 10,
            path_loss_change_db: 3.0,
        };
        let mut reporter = Reporter::new(config, 100, 120.0);
        assert!(!reporter.is_due(149, 123.0) && reporter.is_due(150, 120.0));
        assert!(!reporter.is_due(109, 130.0) && reporter.is_due(110, 123.1));
        assert!(reporter.is_due(110, 116.9));
        reporter.on_report(110, 130.0);
        assert!(!reporter.is_due(159, 130.0) && reporter.is_due(160, 130.0));
        let never = ReportConfig {
            periodic: None,
            ..config
        };
        assert!(!Reporter::new(never, 0, 120.0).is_due(1 << 40, 120.0));
    }
}
