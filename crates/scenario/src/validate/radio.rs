//! The cellular access link.

mod carrier;
mod fading;
mod link;
mod mobility;
mod place;
mod ues;
mod uplink;

use core::fmt::Display;

use serde::Serialize;
use units::{Decibel, Duration};

use super::{Wrong, positive, refuse, within, wrong};
use crate::model::radio::{Gain, Length, Power};
use crate::model::{Path, Scenario};

pub(super) fn check(scenario: &Scenario) -> Result<(), Wrong> {
    let Some(radio) = &scenario.radio else {
        return Ok(());
    };
    access_link(&scenario.path)?;
    carrier::check(radio)?;
    link::check(radio, scenario.path.mtu)?;
    uplink::check(radio)?;
    if let Some(fading) = &radio.fading {
        fading::check("radio.fading", fading)?;
    }
    ues::check(&radio.ues, scenario.path.mtu)?;
    place::check(radio)?;
    mobility::check(radio)
}

/// The radio takes the place of the link that the path describes.
fn access_link(path: &Path) -> Result<(), Wrong> {
    let kept = ["rtt", "mtu", "wired"];
    let mut set = changed(path).into_iter();
    match set.find(|(name, _)| !kept.contains(&name.as_str())) {
        Some((name, _)) => refuse(
            format!("path.{name}"),
            "the access link is the radio's; leave this out, or the section radio".to_owned(),
        ),
        None => Ok(()),
    }
}

/// Fields of a table that are not at their default, and what they are.
fn changed<T: Default + Serialize>(table: &T) -> Vec<(String, String)> {
    let fields = |table: &T| match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let plain = fields(&T::default());
    fields(table)
        .into_iter()
        .filter(|(name, value)| plain.get(name) != Some(value))
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// The complaint about a field that belongs to something else, unless it is as if it were not there.
fn only_for(
    field: impl Into<String>,
    is_set: bool,
    value: impl Display,
    what: impl Display,
) -> Result<(), Wrong> {
    if is_set {
        let message = format!("{value} is set, but this is only for {what}; leave it out");
        return refuse(field.into(), message);
    }
    Ok(())
}

/// A time of whole transmission time intervals, `least` of them or more.
fn ttis(field: impl Into<String>, time: Duration, tti: Duration, least: u64) -> Result<(), Wrong> {
    let nanos = tti.as_nanos();
    if time.as_nanos().is_multiple_of(nanos) && time.as_nanos() / nanos >= least {
        return Ok(());
    }
    let from = match least {
        0 => String::new(),
        _ => format!(", from {} on", tti * least),
    };
    wrong(field, time, format!("multiples of the TTI, {tti}{from}"))
}

fn decibels(field: impl Into<String>, value: Decibel, low: f64, high: f64) -> Result<(), Wrong> {
    within(field, value, Decibel::new(low), Decibel::new(high))
}

fn metres(field: impl Into<String>, value: Length, low: f64, high: f64) -> Result<(), Wrong> {
    within(
        field,
        value,
        Length::from_metres(low),
        Length::from_metres(high),
    )
}

fn power(field: impl Into<String>, value: Power) -> Result<(), Wrong> {
    within(field, value, Power::from_dbm(-50.0), Power::from_dbm(80.0))
}

fn gain(field: impl Into<String>, value: Gain) -> Result<(), Wrong> {
    within(field, value, Gain::from_dbi(-30.0), Gain::from_dbi(40.0))
}

/// The complaint about `value` unless it is one of those that a standard has.
fn one_of<T: PartialEq + Display>(
    field: impl Into<String>,
    value: T,
    allowed: &[T],
) -> Result<(), Wrong> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let allowed: Vec<String> = allowed.iter().map(T::to_string).collect();
    wrong(field, value, allowed.join(", "))
}

fn milliseconds(times: &[u64]) -> Vec<Duration> {
    times.iter().map(|ms| Duration::from_millis(*ms)).collect()
}
