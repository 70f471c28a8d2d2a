//! UEs: who they are, and what they receive.

use std::collections::BTreeMap;

use units::{Bytes, Duration};

use super::place::coordinate;
use super::{decibels, fading, positive, refuse, within, wrong};
use crate::model::radio::{Sinr, SinrPoint, Speed, Sumo, Ue, WayPoint};
use crate::validate::links::unique;
use crate::validate::{At, Wrong, each};

const MOST_ALIKE: u32 = 10_000;

pub(super) fn check(ues: &[Ue], mtu: Bytes) -> Result<(), Wrong> {
    for (index, ue) in ues.iter().enumerate() {
        let field = |name: &str| format!("radio.ues.{index}.{name}");
        if ["", "server", "gateway"].contains(&ue.name.as_str()) {
            return wrong(
                field("name"),
                format!("{:?}", ue.name),
                "the name of a new node",
            );
        }
        if !(1..=MOST_ALIKE).contains(&ue.count) {
            return wrong(field("count"), ue.count, format!("1 to {MOST_ALIKE}"));
        }
        one_kind(index, ue)?;
        if let Some(sinr) = &ue.sinr {
            mean(&field("sinr"), sinr)?;
        }
        if let Some(position) = ue.position {
            coordinate(field("position.x"), position.x)?;
            coordinate(field("position.y"), position.y)?;
        }
        if let Some(velocity) = ue.velocity {
            let speeds = [-300.0, 300.0].map(Speed::from_metres_per_second);
            within(field("velocity.x"), velocity.x, speeds[0], speeds[1])?;
            within(field("velocity.y"), velocity.y, speeds[0], speeds[1])?;
        }
        waypoints(&field("waypoints"), &ue.waypoints)?;
        if let Some(vehicle) = &ue.sumo {
            sumo(&field("sumo"), ue, vehicle)?;
        }
        if let Some(own) = &ue.fading {
            fading::check(&field("fading"), own)?;
        }
        each("cross", &ue.cross, |cross| cross.check(mtu)).at(format!("radio.ues.{index}"))?;
    }
    nodes(ues)?;
    vehicles(ues)
}

/// Of what says where a UE is or what it receives, one is given at the most.
fn one_kind(index: usize, ue: &Ue) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.ues.{index}.{name}");
    let given = [
        ("sinr", ue.sinr.is_some()),
        ("position", ue.position.is_some()),
        ("waypoints", !ue.waypoints.is_empty()),
        ("sumo", ue.sumo.is_some()),
    ];
    let mut given = given.iter().filter(|(_, given)| *given);
    if let Some(((first, _), (second, _))) = given.next().zip(given.next()) {
        let message =
            format!("is given beside {first}; allowed: one of sinr, position, waypoints, sumo");
        return refuse(field(second), message);
    }
    if ue.velocity.is_some() && ue.position.is_none() {
        let message = "is given without position; allowed: both or position alone";
        return refuse(field("velocity"), message.to_owned());
    }
    Ok(())
}

fn mean(field: &str, sinr: &Sinr) -> Result<(), Wrong> {
    let ratio = |field: String, value| decibels(field, value, -100.0, 100.0);
    let file = |name: &str, file: &str, longest_gap: Duration| {
        if file.is_empty() {
            return wrong(format!("{field}.{name}"), "\"\"", "the name of a file");
        }
        positive(format!("{field}.longest_gap"), longest_gap)
    };
    match sinr {
        Sinr::Constant(value) => ratio(field.to_owned(), *value),
        Sinr::Trace(trace) => file("trace", &trace.trace, trace.longest_gap),
        Sinr::PhoneLog(log) => file("phone_log", &log.phone_log, log.longest_gap),
        Sinr::Points(points) => {
            rising(field, points.iter().map(|SinrPoint { at, .. }| *at))?;
            match points.first() {
                None => {
                    return refuse(
                        field.to_owned(),
                        "the list is empty; allowed: one point or more".to_owned(),
                    );
                }
                Some(first) if !first.at.is_zero() => {
                    return wrong(format!("{field}.0.at"), first.at, "0s for the first point");
                }
                Some(_) => {}
            }
            let mut values = points.iter().enumerate();
            values.try_for_each(|(index, point)| ratio(format!("{field}.{index}.sinr"), point.sinr))
        }
    }
}

fn waypoints(field: &str, points: &[WayPoint]) -> Result<(), Wrong> {
    rising(field, points.iter().map(|point| point.at))?;
    points.iter().enumerate().try_for_each(|(index, point)| {
        coordinate(format!("{field}.{index}.x"), point.x)?;
        coordinate(format!("{field}.{index}.y"), point.y)
    })
}

fn rising(field: &str, times: impl Iterator<Item = Duration>) -> Result<(), Wrong> {
    let mut before = None;
    for (index, at) in times.enumerate() {
        if let Some(before) = before.filter(|before| at <= *before) {
            let allowed = format!("times after the point before, {before}");
            return wrong(format!("{field}.{index}.at"), at, allowed);
        }
        before = Some(at);
    }
    Ok(())
}

fn sumo(field: &str, ue: &Ue, sumo: &Sumo) -> Result<(), Wrong> {
    let named = |file: &Option<String>| file.as_deref().is_some_and(|name| !name.is_empty());
    if named(&sumo.fcd) == named(&sumo.ns2) {
        let message = "give exactly one of fcd, ns2, the name of a file";
        return refuse(field.to_owned(), message.to_owned());
    }
    if sumo.vehicle.is_empty() {
        let allowed = "the id of a vehicle, or \"*\" for all";
        return wrong(format!("{field}.vehicle"), "\"\"", allowed);
    }
    if ue.is_every_vehicle() && ue.count != 1 {
        let field = field.replace(".sumo", ".count");
        return wrong(field, ue.count, "1 for each vehicle");
    }
    Ok(())
}

/// Nodes have names of their own, and one is the phone.
fn nodes(ues: &[Ue]) -> Result<(), Wrong> {
    let fields = (0..).map(|index: usize| format!("radio.ues.{index}.name"));
    let all: Vec<(String, String)> = ues
        .iter()
        .zip(fields)
        .flat_map(|(ue, field)| ue.nodes().map(move |node| (node, field.clone())))
        .collect();
    let mut names = BTreeMap::new();
    for (node, field) in &all {
        unique(&mut names, node, field.clone())?;
    }
    if names.contains_key("phone") {
        return Ok(());
    }
    refuse(
        "radio.ues".to_owned(),
        "no UE is the node \"phone\"; allowed: one with that name and a count of 1".to_owned(),
    )
}

/// No two entries stand for all vehicles of the same file.
fn vehicles(ues: &[Ue]) -> Result<(), Wrong> {
    let mut files = BTreeMap::new();
    for (index, ue) in ues
        .iter()
        .enumerate()
        .filter(|(_, ue)| ue.is_every_vehicle())
    {
        let sumo = ue.sumo.as_ref();
        let file = sumo.and_then(|sumo| sumo.fcd.as_deref().or(sumo.ns2.as_deref()));
        if let Some(first) = files.insert(file, index) {
            let message = format!("\"*\" stands in radio.ues.{first} for the same file");
            return refuse(format!("radio.ues.{index}.sumo.vehicle"), message);
        }
    }
    Ok(())
}
