//! Handover and radio link failure.

use config::{
    FieldContext, FieldError, Quantity, check_choice, check_number, check_positive, invalid_value,
    reject,
};
use units::Decibel;

use super::super::{A2A4, A3, Handover, LinkFailure, Radio, Trigger};
use super::{decibels, milliseconds};
use crate::handover::TIME_TO_TRIGGER;

/// The largest RSRQ that is reported (TS 36.133 clause 9.1.7).
const LARGEST_RSRQ: u32 = 34;

pub(super) fn check(radio: &Radio) -> Result<(), FieldError> {
    if let Some(settings) = &radio.handover {
        if radio.cells.len() < 2 {
            let message = "there are not two cells to hand over between; leave it out";
            return reject("handover", message);
        }
        handover(settings).in_table("handover")?;
    }
    link_failure(&radio.link_failure).in_table("link_failure")
}

fn handover(handover: &Handover) -> Result<(), FieldError> {
    handover.trigger.check().in_table("trigger")?;
    check_positive("measurement_period", handover.measurement_period)?;
    check_number("filter_coefficient", handover.filter_coefficient, 0, 19)?;
    check_positive("report_interval", handover.report_interval)?;
    check_positive("t304", handover.t304)
}

impl Trigger {
    /// Checks that values are those that TS 36.331 clause 6.3.5 has.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::A3(settings) => a3(settings),
            Self::A2A4(settings) => a2_a4(settings),
        }
    }
}

fn a3(a3: &A3) -> Result<(), FieldError> {
    half_steps("offset", a3.offset, -15.0)?;
    half_steps("hysteresis", a3.hysteresis, 0.0)?;
    check_choice(
        "time_to_trigger",
        a3.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

/// Up to 15 dB in steps of 0.5 (TS 36.331 clause 6.3.5).
fn half_steps(field: &str, value: Decibel, low: f64) -> Result<(), FieldError> {
    let steps = 2.0 * value.get();
    if (low..=15.0).contains(&value.get()) && libm::trunc(steps) == steps {
        return Ok(());
    }
    let allowed = format!("{low}dB to 15dB in steps of 0.5dB");
    invalid_value(field, value.write(), allowed)
}

fn a2_a4(a2_a4: &A2A4) -> Result<(), FieldError> {
    for (name, value) in [
        ("serving", a2_a4.serving),
        ("neighbour", a2_a4.neighbour),
        ("offset", a2_a4.offset),
    ] {
        check_number(name, value, 0, LARGEST_RSRQ)?;
    }
    check_choice(
        "time_to_trigger",
        a2_a4.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

fn link_failure(failure: &LinkFailure) -> Result<(), FieldError> {
    decibels("out_of_sync", failure.out_of_sync, -100.0, 100.0)?;
    if failure.in_sync < failure.out_of_sync {
        let allowed = format!("out_of_sync, {}, or more", failure.out_of_sync.write());
        return invalid_value("in_sync", failure.in_sync.write(), allowed);
    }
    decibels("in_sync", failure.in_sync, -100.0, 100.0)?;
    check_number("n310", failure.n310, 1, 20)?;
    check_number("n311", failure.n311, 1, 20)
}
