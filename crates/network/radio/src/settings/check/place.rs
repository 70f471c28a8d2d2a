//! Checks of cells and propagation.

use std::collections::BTreeMap;

use config::{
    FieldContext, FieldError, Quantity, changed_fields, check_number, check_positive, check_unique,
    invalid_value, reject, reject_if_set,
};
use units::Length;

use super::super::{Antenna, Cell, Interference, LosModel, PathLoss, Propagation, Radio};
use super::{check_decibels, check_degrees, check_gain, check_metres, check_power};

/// Maximum number of cells: random streams have that many cells per UE.
const MAX_CELLS: usize = 1 << 12;

pub(super) fn check(radio: &Radio) -> Result<(), FieldError> {
    let placed = radio.ues.iter().find(|ue| ue.has_position());
    if let Some(ue) = placed.filter(|_| radio.cells.is_empty()) {
        let message = format!(
            "the list is empty; allowed: one cell or more, as {:?} has a place",
            ue.name
        );
        return reject("radio.cells", message);
    }
    if radio.cells.len() > MAX_CELLS {
        return invalid_value(
            "radio.cells",
            radio.cells.len(),
            format!("up to {MAX_CELLS} cells"),
        );
    }
    let mut names = BTreeMap::new();
    for (index, each) in radio.cells.iter().enumerate() {
        let field = format!("radio.cells.{index}");
        check_unique(&mut names, &each.name, format!("{field}.name"))?;
        check_cell(each).in_table(field)?;
    }
    if placed.is_none() {
        let set = changed_fields(&radio.propagation).into_iter();
        set.take(1).try_for_each(|(name, value)| {
            let field = format!("radio.propagation.{name}");
            reject_if_set(field, true, value, "UEs that have a place, and none has")
        })?;
    }
    check_propagation(&radio.propagation).in_table("radio.propagation")
}

fn check_cell(cell: &Cell) -> Result<(), FieldError> {
    check_coordinate("x", cell.x)?;
    check_coordinate("y", cell.y)?;
    check_metres("height", cell.height, 1.0, 1e3)?;
    check_power("power", cell.power)?;
    if cell.site.as_deref() == Some("") {
        return invalid_value("site", "\"\"", "the name of a site");
    }
    let sector = match &cell.antenna {
        Antenna::Omni(omni) => return check_gain("antenna.gain", omni.gain),
        Antenna::Sector(sector) => sector,
    };
    check_gain("antenna.gain", sector.gain)?;
    check_degrees("antenna.azimuth", sector.azimuth, -360.0, 360.0)?;
    check_degrees("antenna.width", sector.width, 1.0, 360.0)?;
    check_decibels("antenna.front_to_back", sector.front_to_back, 0.0, 60.0)?;
    match (sector.tilt, sector.vertical_width) {
        (None, None) => Ok(()),
        (Some(tilt), Some(width)) => {
            check_degrees("antenna.tilt", tilt, -90.0, 90.0)?;
            check_degrees("antenna.vertical_width", width, 1.0, 360.0)
        }
        (Some(_), None) => reject(
            "antenna.tilt",
            "is given without vertical_width; allowed: both or none",
        ),
        (None, Some(_)) => reject(
            "antenna.vertical_width",
            "is given without tilt; allowed: both or none",
        ),
    }
}

/// Checks a coordinate. The limit, half the circumference of the Earth, is beyond any map.
pub(super) fn check_coordinate(field: &str, coordinate: Length) -> Result<(), FieldError> {
    check_metres(field, coordinate, -2e7, 2e7)
}

fn check_propagation(propagation: &Propagation) -> Result<(), FieldError> {
    check_model(&propagation.model).in_table("model")?;
    let los = match propagation.los {
        LosModel::Line => "line",
        LosModel::None => "none",
        LosModel::Probable => "probable",
    };
    reject_if_set(
        "los",
        propagation.los != LosModel::Line && !propagation.model.has_los_model(),
        los,
        "the models \"tr36814-sighted\", \"tr38901-uma\" and \"tr38901-rma\"",
    )?;
    if let Some(shadowing) = &propagation.shadowing {
        let distance = shadowing.correlation_distance;
        check_decibels("shadowing.deviation", shadowing.deviation, 0.0, 30.0)?;
        check_metres("shadowing.correlation_distance", distance, 1.0, 1e4)?;
        check_number(
            "shadowing.site_correlation",
            shadowing.site_correlation,
            0.0,
            1.0,
        )?;
    }
    check_decibels("noise_figure", propagation.noise_figure, 0.0, 30.0)?;
    check_decibels("enb_noise_figure", propagation.enb_noise_figure, 0.0, 30.0)?;
    check_metres("ue_height", propagation.ue_height, 0.5, 100.0)?;
    reject_if_set(
        "culling",
        propagation.culling != Propagation::default().culling
            && propagation.interference != Interference::Faded,
        propagation.culling.write(),
        "interference \"faded\"",
    )?;
    check_decibels("culling", propagation.culling, 0.0, 100.0)?;
    check_positive("update_period", propagation.update_period)
}

fn check_model(model: &PathLoss) -> Result<(), FieldError> {
    match model {
        PathLoss::LogDistance(log) => {
            check_number("exponent", log.exponent, 1.0, 8.0)?;
            check_metres("reference", log.reference, 1.0, 1e4)
        }
        PathLoss::Tr36942Urban(roofs) => check_metres("above_roofs", roofs.above_roofs, 1.0, 50.0),
        PathLoss::Tr38901Rma(streets) => {
            check_metres("street_width", streets.street_width, 5.0, 50.0)?;
            check_metres("building_height", streets.building_height, 5.0, 50.0)
        }
        _ => Ok(()),
    }
}
