//! Checks of the settings of fast fading.

use config::{FieldError, Quantity, check_positive, check_range, reject, reject_if_set};
use units::{Frequency, Speed};

use super::super::{Estimation, Fading, Tracking};
use super::{check_decibels, check_degrees, check_metres};

pub(super) fn check(fading: &Fading) -> Result<(), FieldError> {
    match (fading.speed, fading.doppler) {
        (Some(speed), None) => check_speed(speed, fading.track().is_some())?,
        (None, Some(shift)) => {
            let train = fading.track().is_some();
            reject_if_set(
                "doppler",
                train,
                shift.write(),
                "UEs that are not on a train",
            )?;
            let max = Frequency::from_hertz(1e4);
            check_range("doppler", shift, Frequency::from_hertz(0.0), max)?;
        }
        (Some(_), Some(_)) => {
            let message = "is given beside speed; allowed: one of the two";
            return reject("doppler", message);
        }
        (None, None) => {
            let allowed = match fading.track() {
                Some(_) => "the speed of the train, such as \"300km/h\"",
                None => "speed, such as \"60km/h\", or doppler, such as \"70Hz\"",
            };
            return reject("speed", format!("is missing; allowed: {allowed}"));
        }
    }
    if let Some(k) = fading.k {
        check_decibels("k", k, -100.0, 100.0)?;
    }
    let angle = fading.angle;
    let direct = fading.k.is_some() && fading.track().is_none();
    reject_if_set(
        "angle",
        angle != Fading::default().angle && !direct,
        angle.write(),
        "a direct path, which k makes, and no train",
    )?;
    check_degrees("angle", angle, -360.0, 360.0)?;
    if let Some(train) = fading.train {
        check_metres("train.spacing", train.spacing, 1.0, 1e5)?;
        check_metres("train.distance", train.distance, 0.1, 1e4)?;
    }
    if let Tracking::Held(period) = fading.tracking {
        check_positive("tracking", period)?;
    }
    match fading.estimation {
        Estimation::Interpolated(time) => check_positive("estimation", time),
        _ => Ok(()),
    }
}

fn check_speed(speed: Speed, on_a_train: bool) -> Result<(), FieldError> {
    let min_speed = if on_a_train { 1.0 } else { 0.0 };
    let speeds = [min_speed, 300.0].map(Speed::from_metres_per_second);
    check_range("speed", speed, speeds[0], speeds[1])
}
