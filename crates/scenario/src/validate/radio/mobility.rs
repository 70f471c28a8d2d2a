//! Handover and radio link failure.

use units::Decibel;

use super::{decibels, milliseconds, one_of, positive, refuse, wrong};
use crate::model::radio::{A2A4, A3, Handover, LinkFailure, Radio, Trigger};
use crate::validate::Wrong;
use config::Quantity;

/// Values of timeToTrigger in ms (TS 36.331 clause 6.3.5).
const TIME_TO_TRIGGER: [u64; 16] = [
    0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1_024, 1_280, 2_560, 5_120,
];

/// The largest RSRQ that is reported (TS 36.133 clause 9.1.7).
const LARGEST_RSRQ: u32 = 34;

pub(super) fn check(radio: &Radio) -> Result<(), Wrong> {
    if let Some(settings) = &radio.handover {
        if radio.cells.len() < 2 {
            let message = "there are not two cells to hand over between; leave it out";
            return refuse("radio.handover".to_owned(), message.to_owned());
        }
        handover(settings)?;
    }
    link_failure(&radio.link_failure)
}

fn handover(handover: &Handover) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.handover.{name}");
    match &handover.trigger {
        Trigger::A3(settings) => a3(settings)?,
        Trigger::A2A4(settings) => a2_a4(settings)?,
    }
    positive(field("measurement_period"), handover.measurement_period)?;
    if handover.filter_coefficient > 19 {
        return wrong(
            field("filter_coefficient"),
            handover.filter_coefficient,
            "0 to 19",
        );
    }
    positive(field("report_interval"), handover.report_interval)?;
    positive(field("t304"), handover.t304)
}

fn a3(a3: &A3) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.handover.trigger.{name}");
    half_steps(field("offset"), a3.offset, -15.0)?;
    half_steps(field("hysteresis"), a3.hysteresis, 0.0)?;
    one_of(
        field("time_to_trigger"),
        a3.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

/// Up to 15 dB in steps of 0.5 (TS 36.331 clause 6.3.5).
fn half_steps(field: String, value: Decibel, low: f64) -> Result<(), Wrong> {
    let steps = 2.0 * value.get();
    if (low..=15.0).contains(&value.get()) && libm::trunc(steps) == steps {
        return Ok(());
    }
    let allowed = format!("{low}dB to 15dB in steps of 0.5dB");
    wrong(field, value.write(), allowed)
}

fn a2_a4(a2_a4: &A2A4) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.handover.trigger.{name}");
    for (name, value) in [
        ("serving", a2_a4.serving),
        ("neighbour", a2_a4.neighbour),
        ("offset", a2_a4.offset),
    ] {
        if value > LARGEST_RSRQ {
            return wrong(field(name), value, format!("0 to {LARGEST_RSRQ}"));
        }
    }
    one_of(
        field("time_to_trigger"),
        a2_a4.time_to_trigger,
        &milliseconds(&TIME_TO_TRIGGER),
    )
}

fn link_failure(failure: &LinkFailure) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.link_failure.{name}");
    decibels(field("out_of_sync"), failure.out_of_sync, -100.0, 100.0)?;
    if failure.in_sync < failure.out_of_sync {
        let allowed = format!("out_of_sync, {}, or more", failure.out_of_sync.write());
        return wrong(field("in_sync"), failure.in_sync.write(), allowed);
    }
    decibels(field("in_sync"), failure.in_sync, -100.0, 100.0)?;
    for (name, count) in [("n310", failure.n310), ("n311", failure.n311)] {
        if !(1..=20).contains(&count) {
            return wrong(field(name), count, "1 to 20");
        }
    }
    Ok(())
}
