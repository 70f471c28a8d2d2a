//! Checks of the section `radio`.

mod carrier;
mod fading;
mod link;
mod mobility;
mod place;
mod ues;
mod uplink;

use config::{FieldContext, FieldError, check_range, invalid_value};
use units::{Angle, Bytes, Decibel, Duration, Gain, Length, Power};

use super::Radio;

impl Radio {
    /// Checks that values are in their ranges and fit each other, on a path with that MTU.
    ///
    /// # Errors
    /// The first field that is rejected, by its name from `radio` on.
    pub fn check(&self, mtu: Bytes) -> Result<(), FieldError> {
        carrier::check(self).in_table("radio")?;
        link::check(self, mtu).in_table("radio")?;
        uplink::check(self).in_table("radio.uplink")?;
        if let Some(fading) = &self.fading {
            fading::check(fading).in_table("radio.fading")?;
        }
        ues::check(&self.ues, mtu)?;
        place::check(self)?;
        mobility::check(self).in_table("radio")
    }
}

/// Maximum of times in TTIs.
const MAX_TIME: Duration = Duration::from_secs(600);

/// Checks that a time is a multiple of the TTI, `min` times it or more.
fn check_ttis(field: &str, time: Duration, tti: Duration, min: u64) -> Result<(), FieldError> {
    let nanos = tti.as_nanos();
    if time > MAX_TIME {
        return invalid_value(field, time, format!("times up to {MAX_TIME}"));
    }
    if time.as_nanos().is_multiple_of(nanos) && time.as_nanos() / nanos >= min {
        return Ok(());
    }
    let from = match min {
        0 => String::new(),
        _ => format!(", from {} on", tti * min),
    };
    invalid_value(field, time, format!("multiples of the TTI, {tti}{from}"))
}

fn check_decibels(field: &str, value: Decibel, low: f64, high: f64) -> Result<(), FieldError> {
    check_range(field, value, Decibel::new(low), Decibel::new(high))
}

fn check_metres(field: &str, value: Length, low: f64, high: f64) -> Result<(), FieldError> {
    let bounds = [low, high].map(Length::from_metres);
    check_range(field, value, bounds[0], bounds[1])
}

fn check_degrees(field: &str, angle: Angle, low: f64, high: f64) -> Result<(), FieldError> {
    let bounds = [low, high].map(Angle::from_degrees);
    check_range(field, angle, bounds[0], bounds[1])
}

fn check_power(field: &str, value: Power) -> Result<(), FieldError> {
    check_range(field, value, Power::from_dbm(-50.0), Power::from_dbm(80.0))
}

fn check_gain(field: &str, value: Gain) -> Result<(), FieldError> {
    check_range(field, value, Gain::from_dbi(-30.0), Gain::from_dbi(40.0))
}

fn milliseconds(times: &[u64]) -> Vec<Duration> {
    times.iter().map(|ms| Duration::from_millis(*ms)).collect()
}
