//! Validation of a scenario across its sections.

mod kernel;
mod links;
mod middleboxes;
mod output_size;
mod traffic;
mod work;

pub(crate) use config::{FieldError, check_positive, invalid_value, reject};

use crate::model::{Samples, Scenario};
use config::{FieldContext, Quantity};
use units::Duration;

impl Scenario {
    /// Checks middleboxes that a line-up has placed.
    ///
    /// # Errors
    /// A middlebox has no node of its own between the hosts.
    pub fn check_middleboxes(&self) -> Result<(), FieldError> {
        middleboxes::check(self)
    }
}

/// Checks the ranges that the types of the fields leave open.
pub(crate) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let Scenario { duration, slot, .. } = scenario;
    check_positive("duration", *duration)?;
    check_positive("slot", *slot)?;
    if duration.as_nanos() % slot.as_nanos() != 0 {
        // Who sets the duration may know of no slot.
        let mut usual = [100, 50, 20, 10, 5, 2, 1]
            .map(Duration::from_millis)
            .into_iter();
        let fits = usual.find(|each| duration.as_nanos() % each.as_nanos() == 0);
        let such = fits.map_or_else(String::new, |each| format!(", such as slot={each}"));
        let allowed = format!("divisors of the duration, {duration}{such}");
        return invalid_value("slot", slot.write(), allowed);
    }
    if let Samples::Interval(interval) = scenario.samples {
        check_positive("samples", interval)?;
    }
    if scenario.variation.start_jitter >= *duration {
        let allowed = format!("times below the duration, {duration}");
        return invalid_value(
            "variation.start_jitter",
            scenario.variation.start_jitter.write(),
            allowed,
        );
    }
    if let Some(radio) = &scenario.radio {
        links::access_link(&scenario.path)?;
        radio.check(scenario.path.mtu)?;
    }
    links::check(scenario)?;
    middleboxes::check(scenario)?;
    scenario
        .tcp
        .check(scenario.path.path_mtu())
        .in_table("tcp")?;
    kernel::check(scenario)?;
    traffic::check_flows(scenario)?;
    output_size::check(scenario)?;
    work::check(scenario)
}
