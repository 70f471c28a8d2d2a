//! Checks of handover and radio link failure.

use config::{
    FieldContext, FieldError, Quantity, check_choice, check_number, check_positive, invalid_value,
    reject,
};
use units::Decibel;

use super::super::{A2A4, A3, Handover, LinkFailure, Radio, Trigger};
use super::{check_decibels, milliseconds};
use crate::handover::TIME_TO_TRIGGER;

/// Maximum RSRQ that is reported (TS 36.133 clause 9.1.7).
const MAX_RSRQ: u32 = 34;

pub(super) fn check(radio: &Radio) -> Result<(), FieldError> {
    if let Some(settings) = &radio.handover {
        if radio.cells.len() < 2 {
            let message = "there are not two cells to hand over between; leave it out";
            return reject("handover", message);
        }
        check_handover(settings).in_table("handover")?;
    }
    check_link_failure(&radio.link_failure).in_table("link_failure")
}

fn check_handover(handover: &Handover) -> Result<(), FieldError> {
    handover.trigger.check().in_table("trigger")?;
    check_positive("measurement_period", handover.measurement_period)?;
    check_number("filter_coefficient", handover.filter_coefficient, 0, 19)?;
    check_positive("report_interval", handover.report_interval)?;
    check_positive("t304", handover.t304)
}

impl Trigger {
    /// Checks that values are allowed by TS 36.331 clause 6.3.5.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::A3(settings) => check_a3(settings),
            Self::A2A4(settings) => check_a2_a4(settings),
        }
    }
}

fn check_a3(a3: &A3) -> Result<(), FieldError> {
    check_half_steps("offset", a3.offset, -15.0)?;
    check_half_steps("hysteresis", a3.hysteresis, 0.0)?;
    check_choice(
        "time_to_trigger",
        a3.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

/// Checks that a value is `low` to 15 dB in steps of 0.5 (TS 36.331 clause 6.3.5).
fn check_half_steps(field: &str, value: Decibel, low: f64) -> Result<(), FieldError> {
    let steps = 2.0 * value.get();
    if (low..=15.0).contains(&value.get()) && libm::trunc(steps) == steps {
        return Ok(());
    }
    let allowed = format!("{low}dB to 15dB in steps of 0.5dB");
    invalid_value(field, value.write(), allowed)
}

fn check_a2_a4(a2_a4: &A2A4) -> Result<(), FieldError> {
    for (name, value) in [
        ("serving", a2_a4.serving),
        ("neighbour", a2_a4.neighbour),
        ("offset", a2_a4.offset),
    ] {
        check_number(name, value, 0, MAX_RSRQ)?;
    }
    check_choice(
        "time_to_trigger",
        a2_a4.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

fn check_link_failure(failure: &LinkFailure) -> Result<(), FieldError> {
    check_decibels("out_of_sync", failure.out_of_sync, -100.0, 100.0)?;
    if failure.in_sync < failure.out_of_sync {
        let allowed = format!("out_of_sync, {}, or more", failure.out_of_sync.write());
        return invalid_value("in_sync", failure.in_sync.write(), allowed);
    }
    check_decibels("in_sync", failure.in_sync, -100.0, 100.0)?;
    check_number("n310", failure.n310, 1, 20)?;
    check_number("n311", failure.n311, 1, 20)
}
