//! Checks of the UEs: names, positions and SINR.

use std::collections::BTreeMap;

use config::{
    FieldContext, FieldError, check_each, check_number, check_positive, check_range, check_unique,
    invalid_value, reject,
};
use units::{Bytes, Duration, Speed};

use super::super::{Sinr, SinrPoint, Sumo, Ue, WayPoint};
use super::place::check_coordinate;
use super::{check_decibels, fading};

/// Maximum number of UEs of one entry.
const MAX_UES: u32 = 10_000;

pub(super) fn check(ues: &[Ue], mtu: Bytes) -> Result<(), FieldError> {
    check_each("radio.ues", ues, |entry| check_ue(entry, mtu))?;
    check_nodes(ues)?;
    check_vehicles(ues)
}

fn check_ue(ue: &Ue, mtu: Bytes) -> Result<(), FieldError> {
    if ["", "server", "gateway"].contains(&ue.name.as_str()) {
        return invalid_value("name", format!("{:?}", ue.name), "the name of a new node");
    }
    check_number("count", ue.count, 1, MAX_UES)?;
    check_signal_source(ue)?;
    if let Some(sinr) = &ue.sinr {
        check_sinr(sinr).in_table("sinr")?;
    }
    if let Some(position) = ue.position {
        check_coordinate("position.x", position.x)?;
        check_coordinate("position.y", position.y)?;
    }
    if let Some(velocity) = ue.velocity {
        let speeds = [-300.0, 300.0].map(Speed::from_metres_per_second);
        check_range("velocity.x", velocity.x, speeds[0], speeds[1])?;
        check_range("velocity.y", velocity.y, speeds[0], speeds[1])?;
    }
    check_waypoints(&ue.waypoints)?;
    if let Some(vehicle) = &ue.sumo {
        check_sumo(ue, vehicle)?;
    }
    if let Some(own) = &ue.fading {
        fading::check(own).in_table("fading")?;
    }
    check_each("cross_traffic", &ue.cross_traffic, |cross| cross.check(mtu))
}

/// Checks that the mean SINR of a UE follows from one field at most: from its own value, or from a position.
fn check_signal_source(ue: &Ue) -> Result<(), FieldError> {
    let sources = [
        ("sinr", ue.sinr.is_some()),
        ("position", ue.position.is_some()),
        ("waypoints", !ue.waypoints.is_empty()),
        ("sumo", ue.sumo.is_some()),
    ];
    let mut given = sources.iter().filter(|(_, is_given)| *is_given);
    if let Some(((first, _), (second, _))) = given.next().zip(given.next()) {
        let message =
            format!("is given beside {first}; allowed: one of sinr, position, waypoints, sumo");
        return reject(*second, message);
    }
    if ue.velocity.is_some() && ue.position.is_none() {
        let message = "is given without position; allowed: both or position alone";
        return reject("velocity", message);
    }
    Ok(())
}

fn check_sinr(sinr: &Sinr) -> Result<(), FieldError> {
    let check_ratio = |field: &str, value| check_decibels(field, value, -100.0, 100.0);
    let check_file = |name: &str, file: &str, longest_gap: Duration| {
        if file.is_empty() {
            return invalid_value(name, "\"\"", "the name of a file");
        }
        check_positive("longest_gap", longest_gap)
    };
    match sinr {
        Sinr::Constant(value) => check_ratio("", *value),
        Sinr::Trace(trace) => check_file("trace", &trace.trace, trace.longest_gap),
        Sinr::PhoneLog(log) => check_file("phone_log", &log.phone_log, log.longest_gap),
        Sinr::Points(points) => {
            check_increasing(points.iter().map(|SinrPoint { at, .. }| *at))?;
            match points.first() {
                None => return reject("", "the list is empty; allowed: one point or more"),
                Some(first) if !first.at.is_zero() => {
                    return invalid_value("0.at", first.at, "0s for the first point");
                }
                Some(_) => {}
            }
            let mut values = points.iter().enumerate();
            values.try_for_each(|(index, point)| check_ratio("sinr", point.sinr).in_table(index))
        }
    }
}

fn check_waypoints(points: &[WayPoint]) -> Result<(), FieldError> {
    check_increasing(points.iter().map(|point| point.at)).in_table("waypoints")?;
    check_each("waypoints", points, |point| {
        check_coordinate("x", point.x)?;
        check_coordinate("y", point.y)
    })
}

/// Checks that times increase.
fn check_increasing(times: impl Iterator<Item = Duration>) -> Result<(), FieldError> {
    let mut previous = None;
    for (index, at) in times.enumerate() {
        if let Some(previous) = previous.filter(|previous| at <= *previous) {
            let allowed = format!("times after the point before, {previous}");
            return invalid_value(format!("{index}.at"), at, allowed);
        }
        previous = Some(at);
    }
    Ok(())
}

fn check_sumo(ue: &Ue, sumo: &Sumo) -> Result<(), FieldError> {
    let is_given = |file: &Option<String>| file.as_deref().is_some_and(|name| !name.is_empty());
    if is_given(&sumo.fcd) == is_given(&sumo.ns2) {
        return reject("sumo", "give exactly one of fcd, ns2, the name of a file");
    }
    if sumo.vehicle.is_empty() {
        let allowed = "the id of a vehicle, or \"*\" for all";
        return invalid_value("sumo.vehicle", "\"\"", allowed);
    }
    if ue.is_wildcard() && ue.count != 1 {
        return invalid_value("count", ue.count, "1 for each vehicle");
    }
    Ok(())
}

/// Checks that the names of all nodes differ, and that one of them is "phone".
fn check_nodes(ues: &[Ue]) -> Result<(), FieldError> {
    let fields = (0..).map(|index: usize| format!("radio.ues.{index}.name"));
    let all: Vec<(String, String)> = ues
        .iter()
        .zip(fields)
        .flat_map(|(ue, field)| ue.nodes().map(move |node| (node, field.clone())))
        .collect();
    let mut names = BTreeMap::new();
    for (node, field) in &all {
        check_unique(&mut names, node, field.clone())?;
    }
    if names.contains_key("phone") {
        return Ok(());
    }
    reject(
        "radio.ues",
        "no UE is the node \"phone\", at which the path ends; allowed: one with that name and a count of 1",
    )
}

/// Rejects two wildcard UEs of the same file.
fn check_vehicles(ues: &[Ue]) -> Result<(), FieldError> {
    let mut files = BTreeMap::new();
    for (index, ue) in ues.iter().enumerate().filter(|(_, ue)| ue.is_wildcard()) {
        let sumo = ue.sumo.as_ref();
        let file = sumo.and_then(|sumo| sumo.fcd.as_deref().or(sumo.ns2.as_deref()));
        if let Some(first) = files.insert(file, index) {
            let message = format!("\"*\" stands in radio.ues.{first} for the same file");
            return reject(format!("radio.ues.{index}.sumo.vehicle"), message);
        }
    }
    Ok(())
}
