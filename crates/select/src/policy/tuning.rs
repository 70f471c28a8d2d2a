//! Tuning: times between decisions, and the limits that keep changes of the CCA rare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::Wrong;

/// Limits that keep changes of the CCA rare.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// Time between decisions, s; default 0.5.
    pub interval: f64,
    /// Dwell time: least time between a takeover and the next change, s; default 2. After a change in flight, the next
    /// one also waits for the judgement.
    pub dwell: f64,
    /// Decisions in a row that must agree before a change; default 2.
    pub agree: u32,
    /// Length of the intervals before and after a change that are compared to judge it, s; default 2. The interval
    /// after the change begins when half of this time has passed.
    pub judge: f64,
    /// Relative loss of the requirement's measure after a change beyond which the change is taken back; default 0.2.
    pub tolerance: f64,
    /// Time for which a change that was taken back is not tried again, s; default 20.
    pub bar: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            interval: 0.5,
            dwell: 2.0,
            agree: 2,
            judge: 2.0,
            tolerance: 0.2,
            bar: 20.0,
        }
    }
}

impl Tuning {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let bounds = [
            ("interval", self.interval, 0.01, 60.0),
            ("dwell", self.dwell, 0.0, 3600.0),
            ("judge", self.judge, 0.1, 60.0),
            ("tolerance", self.tolerance, 0.0, 1.0),
            ("bar", self.bar, 0.0, 3600.0),
        ];
        for (name, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err((
                    format!("tuning.{name}"),
                    format!("{value} is not allowed; allowed: from {least} to {most}"),
                ));
            }
        }
        if !(1..=100).contains(&self.agree) {
            return Err((
                "tuning.agree".to_owned(),
                format!("{} is not allowed; allowed: from 1 to 100", self.agree),
            ));
        }
        Ok(())
    }

    /// Returns the time between decisions.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval)
    }

    /// Returns the dwell time.
    pub(crate) fn dwell(&self) -> Duration {
        Duration::from_secs_f64(self.dwell)
    }

    /// Returns the length of the intervals by which a change is judged.
    pub(crate) fn judge(&self) -> Duration {
        Duration::from_secs_f64(self.judge)
    }

    /// Returns the time for which a change that was taken back is not tried again.
    pub(crate) fn bar(&self) -> Duration {
        Duration::from_secs_f64(self.bar)
    }
}
