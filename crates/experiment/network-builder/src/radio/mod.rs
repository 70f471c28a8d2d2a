//! Radio access network of a run: conversion of the scenario's types to those of the radio.

mod channel;
mod files;

use std::collections::BTreeSet;
use std::sync::Arc;

use radio::channel::mobility::Trajectory;
use radio::channel::{
    Deployment, FadedSinr, Fading, FadingConfig, Grid, LinkId, Receiver, Reception,
};
use radio::ran::{Channel, RanConfig, User};
use scenario::radio::{Radio, Ue};
use scenario::{Cross, Scenario};

pub(crate) use files::RadioFiles;

use crate::PlanError;

/// The radio access network and the nodes of its users.
pub(crate) struct RadioPlan<'a> {
    pub(crate) config: RanConfig,
    /// Node name of each user and the cross traffic towards it; the phone is the first.
    pub(crate) nodes: Vec<(String, &'a [Cross])>,
}

/// A UE with the name of its node and, for a vehicle, its trajectory.
type NamedUe<'a> = (String, &'a Ue, Option<&'a Trajectory>);

/// Plans the radio access network of `scenario` in the run with `seed`.
pub(crate) fn plan<'a>(
    scenario: &'a Scenario,
    radio: &'a Radio,
    files: &'a RadioFiles,
    seed: u64,
) -> Result<RadioPlan<'a>, PlanError> {
    let air = radio.air_interface().map_err(PlanError::radio)?;
    let frequency = radio.known_carrier().map_err(PlanError::radio)?;
    let has_positions = radio.ues.iter().any(Ue::has_position);
    let deployment = has_positions
        .then(|| Deployment::new(radio, air.grid(), seed).map(Arc::new))
        .transpose()
        .map_err(PlanError::radio)?;
    // Hosts behind a UE send and receive through it.
    let flows = scenario.flows.iter();
    let of_flows = flows.flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]);
    let links = scenario.links.iter();
    let of_links = links.flat_map(|link| [link.from.as_str(), link.to.as_str()]);
    let ends: BTreeSet<&str> = of_flows.chain(of_links).collect();
    let (mut users, mut nodes) = (Vec::new(), Vec::new());
    for (number, (name, ue, vehicle)) in (0..).zip(ues_by_node(radio, files)) {
        let fading = channel::fading(radio, ue, frequency);
        let channel = match (&deployment, movement(radio, ue, vehicle)?) {
            (Some(deployment), Some(trajectory)) => {
                let deployment = Arc::clone(deployment);
                let reception = Reception::new(deployment, number, trajectory, fading);
                Channel::Placed(Box::new(reception.map_err(PlanError::radio)?))
            }
            _ => traced(ue, files, (air.grid(), fading, number, seed))?,
        };
        users.push(User {
            channel,
            speed_mps: channel::speed_mps(radio, ue, frequency),
            observed: ends.contains(name.as_str()),
        });
        nodes.push((name, ue.cross_traffic.as_slice()));
    }
    let radio = radio.clone();
    let config = RanConfig { air, radio, users };
    Ok(RadioPlan { config, nodes })
}

/// Returns all UEs by node, the phone first.
fn ues_by_node<'a>(radio: &'a Radio, files: &'a RadioFiles) -> Vec<NamedUe<'a>> {
    let named = radio.ues.iter().filter(|ue| !ue.is_wildcard());
    let taken: BTreeSet<_> = named
        .filter_map(|ue| ue.sumo.as_ref())
        .map(|sumo| (&sumo.fcd, &sumo.ns2, sumo.vehicle.as_str()))
        .collect();
    let mut all: Vec<NamedUe<'a>> = Vec::new();
    for ue in &radio.ues {
        let trajectories = ue
            .sumo
            .as_ref()
            .map(|sumo| (sumo, files.trajectories(sumo)));
        if let (true, Some((sumo, trajectories))) = (ue.is_wildcard(), trajectories) {
            let others = trajectories
                .iter()
                .filter(|(vehicle, _)| !taken.contains(&(&sumo.fcd, &sumo.ns2, vehicle.as_str())));
            all.extend(others.map(|(vehicle, trajectory)| {
                (format!("{}-{vehicle}", ue.name), ue, Some(trajectory))
            }));
        } else {
            let trajectory =
                trajectories.and_then(|(sumo, trajectories)| trajectories.get(&sumo.vehicle));
            all.extend(ue.nodes().map(|name| (name, ue, trajectory)));
        }
    }
    all.sort_by_key(|(name, ..)| name != "phone");
    all
}

/// Returns the movement of a UE that has a position.
fn movement(
    radio: &Radio,
    ue: &Ue,
    vehicle: Option<&Trajectory>,
) -> Result<Option<Trajectory>, PlanError> {
    use scenario::radio::SignalSource;
    let height = radio.propagation.ue_height;
    Ok(match ue.signal_source() {
        SignalSource::Sinr(_) => None,
        SignalSource::Linear(position, velocity) => {
            Some(channel::linear(position, velocity, height))
        }
        SignalSource::WayPoints(points) => Some(channel::way(points, height)?),
        SignalSource::Sumo(_) => vehicle.cloned(),
    })
}

/// Returns the channel of a UE whose mean SINR is given.
fn traced(
    ue: &Ue,
    files: &RadioFiles,
    (grid, fading, number, seed): (Grid, Option<(FadingConfig, Receiver)>, u32, u64),
) -> Result<Channel, PlanError> {
    let mean = match (files.sinr(&ue.name), ue.signal_source()) {
        (Some(trace), _) => trace.clone(),
        (None, scenario::radio::SignalSource::Sinr(sinr)) => channel::sinr(sinr)?,
        (None, _) => unreachable!("a UE without a place has a SINR"),
    };
    let channel = match fading {
        None => FadedSinr::unfaded(mean),
        Some((config, receiver)) => {
            let link = LinkId {
                ue: number,
                cell: 0,
            };
            let fading = Fading::new(config, &grid, seed, link).map_err(PlanError::radio)?;
            FadedSinr::new(mean, fading, receiver, &grid)
        }
    };
    Ok(Channel::Traced(Box::new(channel)))
}
