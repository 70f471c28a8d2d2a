//! Tuning: times between decisions, and limits on switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use config::{FieldContext, FieldError, check_number};

/// Limits on switches of the CCA.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// Time between decisions, s; default 0.5.
    pub interval: f64,
    /// Minimum number of smoothed RTTs in the dwell time and in the interval that evaluates a switch, and of round trips
    /// of data before the first switch; default 3. Decisions are at least one smoothed RTT apart.
    pub round_trips: u32,
    /// Minimum confidence of the features that decide on a switch; default 0.05.
    pub confidence: f64,
    /// Dwell time: minimum time between two switches, s; default 2. After a switch of a running connection, the next one
    /// also waits for its evaluation.
    pub dwell: f64,
    /// Decisions in a row that must agree before a switch; default 2.
    pub agree: u32,
    /// Length of the intervals before and after a switch that are compared to evaluate it, s; default 2. The interval
    /// after the switch begins when half of this time has passed.
    pub judge: f64,
    /// Relative loss of the requirement's measure above which a switch is undone; default 0.2.
    pub tolerance: f64,
    /// Time for which an undone switch is not tried again, s; default 20.
    pub bar: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            interval: 0.5,
            round_trips: 3,
            confidence: 0.05,
            dwell: 2.0,
            agree: 2,
            judge: 2.0,
            tolerance: 0.2,
            bar: 20.0,
        }
    }
}

impl Tuning {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let bounds = [
            ("interval", self.interval, 0.01, 60.0),
            ("confidence", self.confidence, 0.0, 1.0),
            ("dwell", self.dwell, 0.0, 3600.0),
            ("judge", self.judge, 0.1, 60.0),
            ("tolerance", self.tolerance, 0.0, 1.0),
            ("bar", self.bar, 0.0, 3600.0),
        ];
        for (name, value, low, high) in bounds {
            check_number(name, value, low, high).in_table("tuning")?;
        }
        check_number("round_trips", self.round_trips, 0, 1000).in_table("tuning")?;
        check_number("agree", self.agree, 1, 100).in_table("tuning")
    }

    /// Returns the time between decisions at this smoothed RTT.
    pub(crate) fn interval(&self, srtt: Duration) -> Duration {
        Duration::from_secs_f64(self.interval).max(srtt)
    }

    /// Returns the dwell time at this smoothed RTT.
    pub(crate) fn dwell(&self, srtt: Duration) -> Duration {
        Duration::from_secs_f64(self.dwell).max(srtt * u64::from(self.round_trips))
    }

    /// Returns the length of the interval after a switch that evaluates it, at this smoothed RTT.
    pub(crate) fn interval_after(&self, srtt: Duration) -> Duration {
        self.interval_before()
            .max(srtt * u64::from(self.round_trips))
    }

    /// Returns the length of the interval before a switch that evaluates it.
    pub(crate) fn interval_before(&self) -> Duration {
        Duration::from_secs_f64(self.judge)
    }
}
