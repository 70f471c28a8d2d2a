//! Cells and what arrives from them.

use std::collections::BTreeMap;

use super::{changed, decibels, gain, metres, only_for, positive, power, refuse, within, wrong};
use crate::model::radio::{
    Angle, Antenna, Cell, Interference, Length, PathLoss, Propagation, Radio, Sight,
};
use crate::validate::links::unique;
use crate::validate::{Wrong, number};
use config::Quantity;

/// Cells that the random draws of links tell apart.
const MOST_CELLS: usize = 1 << 12;

pub(super) fn check(radio: &Radio) -> Result<(), Wrong> {
    let placed = radio.ues.iter().find(|ue| ue.has_place());
    if let Some(ue) = placed.filter(|_| radio.cells.is_empty()) {
        let message = format!(
            "the list is empty; allowed: one cell or more, as {:?} has a place",
            ue.name
        );
        return refuse("radio.cells".to_owned(), message);
    }
    if radio.cells.len() > MOST_CELLS {
        return wrong(
            "radio.cells",
            radio.cells.len(),
            format!("up to {MOST_CELLS} cells"),
        );
    }
    let mut names = BTreeMap::new();
    for (index, each) in radio.cells.iter().enumerate() {
        let field = format!("radio.cells.{index}");
        unique(&mut names, &each.name, format!("{field}.name"))?;
        cell(&field, each)?;
    }
    if placed.is_none() {
        let set = changed(&radio.propagation).into_iter();
        set.take(1).try_for_each(|(name, value)| {
            let field = format!("radio.propagation.{name}");
            only_for(field, true, value, "UEs that have a place, and none has")
        })?;
    }
    propagation(&radio.propagation)
}

fn cell(field: &str, cell: &Cell) -> Result<(), Wrong> {
    let field = |name: &str| format!("{field}.{name}");
    coordinate(field("x"), cell.x)?;
    coordinate(field("y"), cell.y)?;
    metres(field("height"), cell.height, 1.0, 1e3)?;
    power(field("power"), cell.power)?;
    if cell.site.as_deref() == Some("") {
        return wrong(field("site"), "\"\"", "the name of a site");
    }
    let sector = match &cell.antenna {
        Antenna::Omni(omni) => return gain(field("antenna.gain"), omni.gain),
        Antenna::Sector(sector) => sector,
    };
    gain(field("antenna.gain"), sector.gain)?;
    degrees(field("antenna.azimuth"), sector.azimuth, -360.0, 360.0)?;
    degrees(field("antenna.width"), sector.width, 1.0, 360.0)?;
    decibels(
        field("antenna.front_to_back"),
        sector.front_to_back,
        0.0,
        60.0,
    )?;
    match (sector.tilt, sector.vertical_width) {
        (None, None) => Ok(()),
        (Some(tilt), Some(width)) => {
            degrees(field("antenna.tilt"), tilt, -90.0, 90.0)?;
            degrees(field("antenna.vertical_width"), width, 1.0, 360.0)
        }
        (Some(_), None) => refuse(
            field("antenna.tilt"),
            "is given without vertical_width; allowed: both or none".to_owned(),
        ),
        (None, Some(_)) => refuse(
            field("antenna.vertical_width"),
            "is given without tilt; allowed: both or none".to_owned(),
        ),
    }
}

fn degrees(field: String, angle: Angle, low: f64, high: f64) -> Result<(), Wrong> {
    within(
        field,
        angle,
        Angle::from_degrees(low),
        Angle::from_degrees(high),
    )
}

/// Half the way around the Earth is more than any map needs.
pub(super) fn coordinate(field: String, coordinate: Length) -> Result<(), Wrong> {
    metres(field, coordinate, -2e7, 2e7)
}

fn propagation(propagation: &Propagation) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.propagation.{name}");
    model(&field("model"), &propagation.model)?;
    let sight = match propagation.sight {
        Sight::Line => "line",
        Sight::None => "none",
        Sight::Probable => "probable",
    };
    only_for(
        field("sight"),
        propagation.sight != Sight::Line && !propagation.model.knows_sight(),
        sight,
        "the models \"tr36814-sighted\", \"tr38901-uma\" and \"tr38901-rma\"",
    )?;
    if let Some(shadowing) = &propagation.shadowing {
        let field = |name: &str| field(&format!("shadowing.{name}"));
        decibels(field("deviation"), shadowing.deviation, 0.0, 30.0)?;
        let distance = shadowing.correlation_distance;
        metres(field("correlation_distance"), distance, 1.0, 1e4)?;
        number(
            field("site_correlation"),
            shadowing.site_correlation,
            0.0,
            1.0,
        )?;
    }
    decibels(field("noise_figure"), propagation.noise_figure, 0.0, 30.0)?;
    decibels(
        field("enb_noise_figure"),
        propagation.enb_noise_figure,
        0.0,
        30.0,
    )?;
    metres(field("ue_height"), propagation.ue_height, 0.5, 100.0)?;
    only_for(
        field("culling"),
        propagation.culling != Propagation::default().culling
            && propagation.interference != Interference::Faded,
        propagation.culling.write(),
        "interference \"faded\"",
    )?;
    decibels(field("culling"), propagation.culling, 0.0, 100.0)?;
    positive(field("update_period"), propagation.update_period)
}

fn model(field: &str, model: &PathLoss) -> Result<(), Wrong> {
    let field = |name: &str| format!("{field}.{name}");
    match model {
        PathLoss::LogDistance(log) => {
            number(field("exponent"), log.exponent, 1.0, 8.0)?;
            metres(field("reference"), log.reference, 1.0, 1e4)
        }
        PathLoss::Tr36942Urban(roofs) => metres(field("above_roofs"), roofs.above_roofs, 1.0, 50.0),
        PathLoss::Tr38901Rma(streets) => {
            metres(field("street_width"), streets.street_width, 5.0, 50.0)?;
            metres(field("building_height"), streets.building_height, 5.0, 50.0)
        }
        _ => Ok(()),
    }
}
