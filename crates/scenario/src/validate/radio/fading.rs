//! Fast fading.

use super::{decibels, metres, only_for, positive, refuse, within, wrong};
use crate::model::radio::{Estimation, Fading, Frequency, Speed, Tracking};
use crate::validate::Wrong;
use config::Quantity;

pub(super) fn check(field: &str, fading: &Fading) -> Result<(), Wrong> {
    let field = |name: &str| format!("{field}.{name}");
    match (fading.speed, fading.doppler) {
        (Some(speed), None) => movement(field("speed"), speed, fading.track().is_some())?,
        (None, Some(shift)) => {
            let train = fading.track().is_some();
            only_for(
                field("doppler"),
                train,
                shift.write(),
                "UEs that are not on a train",
            )?;
            let most = Frequency::from_hertz(1e4);
            within(field("doppler"), shift, Frequency::from_hertz(0.0), most)?;
        }
        (Some(_), Some(_)) => {
            let message = "is given beside speed; allowed: one of the two";
            return refuse(field("doppler"), message.to_owned());
        }
        (None, None) => {
            let allowed = match fading.track() {
                Some(_) => "the speed of the train, such as \"300km/h\"",
                None => "speed, such as \"60km/h\", or doppler, such as \"70Hz\"",
            };
            return refuse(field("speed"), format!("is missing; allowed: {allowed}"));
        }
    }
    if let Some(k) = fading.k {
        decibels(field("k"), k, -100.0, 100.0)?;
    }
    let angle = fading.angle;
    let direct = fading.k.is_some() && fading.track().is_none();
    only_for(
        field("angle"),
        angle != Fading::default().angle && !direct,
        angle.write(),
        "a direct path, which k makes, and no train",
    )?;
    if !(-360.0..=360.0).contains(&angle.degrees()) {
        return wrong(field("angle"), angle.write(), "-360deg to 360deg");
    }
    if let Some(train) = fading.train {
        metres(field("train.spacing"), train.spacing, 1.0, 1e5)?;
        metres(field("train.distance"), train.distance, 0.1, 1e4)?;
    }
    if let Tracking::Held(period) = fading.tracking {
        positive(field("tracking"), period)?;
    }
    match fading.estimation {
        Estimation::Interpolated(time) => positive(field("estimation"), time),
        _ => Ok(()),
    }
}

fn movement(field: String, speed: Speed, on_a_train: bool) -> Result<(), Wrong> {
    let least = if on_a_train { 1.0 } else { 0.0 };
    let speeds = [least, 300.0].map(Speed::from_metres_per_second);
    within(field, speed, speeds[0], speeds[1])
}
