//! Validation of a scenario across its sections.

mod kernel;
mod links;
mod middleboxes;
mod rows;
mod traffic;
mod work;

pub(crate) use config::{Wrong, positive, refuse, wrong};

use crate::model::{Samples, Scenario};
use config::{At, Quantity};

impl Scenario {
    /// Checks middleboxes that a line-up has placed.
    ///
    /// # Errors
    /// A middlebox has no node of its own between the hosts.
    pub fn check_middleboxes(&self) -> Result<(), Wrong> {
        middleboxes::check(self)
    }
}

/// Checks what the types of the fields do not.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Wrong> {
    let Scenario { duration, slot, .. } = scenario;
    positive("duration", *duration)?;
    positive("slot", *slot)?;
    if duration.as_nanos() % slot.as_nanos() != 0 {
        return wrong(
            "slot",
            slot.write(),
            format!("divisors of the duration, {duration}"),
        );
    }
    if let Samples::Interval(interval) = scenario.samples {
        positive("samples", interval)?;
    }
    if scenario.variation.start_jitter >= *duration {
        let allowed = format!("times below the duration, {duration}");
        return wrong(
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
    scenario.tcp.check(scenario.path.path_mtu()).at("tcp")?;
    kernel::check(scenario)?;
    traffic::check_flows(scenario)?;
    rows::check(scenario)?;
    work::check(scenario)
}
