//! When to decide, and how stubbornly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::Wrong;

/// What keeps switches rare.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// Time between decisions, s; default 0.5.
    pub interval: f64,
    /// Time that a congestion control is left in peace, s; default 2. One that has taken over in flight is until
    /// it has been judged.
    pub dwell: f64,
    /// Decisions in a row that must agree before a change; default 2.
    pub agree: u32,
    /// Time before and after a change over which it is judged, s; default 2. The time after it begins when half of
    /// it has passed.
    pub judge: f64,
    /// Loss of the requirement's measure after a change, in parts of it, that makes it go back; default 0.2.
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

    /// Time between decisions.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval)
    }

    /// Time that a congestion control is left in peace.
    pub(crate) fn dwell(&self) -> Duration {
        Duration::from_secs_f64(self.dwell)
    }

    /// Time over which a change is judged.
    pub(crate) fn judge(&self) -> Duration {
        Duration::from_secs_f64(self.judge)
    }

    /// Time for which a change that was taken back is not tried again.
    pub(crate) fn bar(&self) -> Duration {
        Duration::from_secs_f64(self.bar)
    }
}
