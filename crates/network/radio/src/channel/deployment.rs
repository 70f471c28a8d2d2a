//! Deployment: cells in the plane, and the power received at a position.

use units::Decibel;
use units::random::Purpose;

use super::path_loss::LossCurve;
use super::shadowing::ShadowingField;
use super::{Grid, ParameterError, Position, thermal_noise_dbm};
use crate::settings::{Cell, LosModel, Propagation, Radio};

/// Cells in the plane.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployment {
    pub(super) cells: Vec<Cell>,
    positions: Vec<Position>,
    pub(super) propagation: Propagation,
    pub(super) grid: Grid,
    pub(super) seed: u64,
    losses: Vec<LossCurve>,
    /// Shadowing that all sites have in common, and that of the site of each cell.
    common_shadow: Option<ShadowingField>,
    shadows: Vec<ShadowingField>,
    /// Fields whose values decide about line of sight to the site of each cell; none if that is not random.
    los_fields: Vec<ShadowingField>,
    pub(super) noise_mw: f64,
}

impl Deployment {
    /// Returns the cells of `radio` in the run with `seed`.
    ///
    /// # Errors
    /// If there are no cells, or the carrier or a height is out of the range of the path loss model.
    pub fn new(radio: &Radio, grid: Grid, seed: u64) -> Result<Self, ParameterError> {
        let (cells, propagation) = (&radio.cells, &radio.propagation);
        if cells.is_empty() {
            let allowed = "must be at least one";
            return Err(ParameterError::new("number of cells", 0, allowed));
        }
        let carrier = radio.known_carrier()?;
        let ue_height_m = propagation.ue_height.metres();
        let mut losses = Vec::with_capacity(cells.len());
        for cell in cells {
            ParameterError::range("power of a cell in dBm", cell.power.dbm(), -50.0, 80.0)?;
            let (model, height_m) = (&propagation.model, cell.height.metres());
            losses.push(LossCurve::new(model, carrier, height_m, ue_height_m)?);
        }
        let has_los_probability = losses[0].los_probability(0.0).is_some();
        let fields = |is_enabled: bool, purpose, distance_m: f64| -> Vec<ShadowingField> {
            let sites = sites(cells).into_iter().filter(|_| is_enabled);
            sites
                .map(|site| ShadowingField::new(seed, purpose, Some(site), distance_m))
                .collect()
        };
        let shadowing = propagation.shadowing.as_ref();
        let distance_m = shadowing.map_or(LOS_DISTANCE_M, |shadowing| {
            shadowing.correlation_distance.metres()
        });
        let has_shadowing = shadowing.is_some();
        let is_probable = has_los_probability && propagation.los == LosModel::Probable;
        let noise_dbm = thermal_noise_dbm(grid.bandwidth_hz(), propagation.noise_figure);
        let position = |cell: &Cell| Position::of(cell.x, cell.y, cell.height);
        Ok(Self {
            losses,
            common_shadow: has_shadowing
                .then(|| ShadowingField::new(seed, Purpose::Shadowing, None, distance_m)),
            shadows: fields(has_shadowing, Purpose::Shadowing, distance_m),
            los_fields: fields(is_probable, Purpose::LineOfSight, distance_m),
            noise_mw: Decibel::new(noise_dbm).to_linear(),
            positions: cells.iter().map(position).collect(),
            cells: cells.clone(),
            propagation: propagation.clone(),
            grid,
            seed,
        })
    }

    /// Returns whether a position has line of sight to `cell`.
    pub fn is_los(&self, cell: usize, point: &Position) -> bool {
        match self.propagation.los {
            LosModel::Line => true,
            LosModel::None => false,
            LosModel::Probable => {
                let ground_m = self.positions[cell].ground_distance_m(point);
                let probability = self.losses[cell].los_probability(ground_m);
                let Some((probability, field)) = probability.zip(self.los_fields.get(cell)) else {
                    return true;
                };
                // The share of a normal distribution below the field's value is uniform.
                let share = 0.5 * libm::erfc(-field.at(point) * core::f64::consts::FRAC_1_SQRT_2);
                share < probability
            }
        }
    }

    /// Returns the mean power from each cell at a position without fast fading, over the whole bandwidth, in dBm.
    pub fn powers_dbm(&self, point: &Position) -> impl Iterator<Item = f64> {
        let common_shadow = self
            .common_shadow
            .as_ref()
            .map_or(0.0, |field| field.at(point));
        (0..self.cells.len()).map(move |index| {
            let (cell, position) = (&self.cells[index], &self.positions[index]);
            let ground_m = position.ground_distance_m(point);
            let loss = self.losses[index].loss_db(ground_m, self.is_los(index, point));
            let shadow = match (&self.propagation.shadowing, self.shadows.get(index)) {
                (Some(shadowing), Some(field)) => {
                    let common = shadowing.site_correlation;
                    let own = libm::sqrt(1.0 - common) * field.at(point);
                    shadowing.deviation.get() * (libm::sqrt(common) * common_shadow + own)
                }
                _ => 0.0,
            };
            cell.power.dbm() + cell.antenna.gain_dbi(position, point) - loss - shadow
        })
    }
}

/// Correlation distance of the line of sight where no shadowing is given, m: TR 38.901 table 7.6.3.1-2, UMa.
const LOS_DISTANCE_M: f64 = 50.0;

/// Returns the index of the site of each cell. A cell without a named site is a site of its own.
fn sites<'a>(cells: &'a [Cell]) -> Vec<u32> {
    let mut names: Vec<&'a str> = Vec::new();
    let index = |cell: &'a Cell| {
        let site = cell.site.as_deref().unwrap_or(&cell.name);
        names
            .iter()
            .position(|other| *other == site)
            .unwrap_or_else(|| {
                names.push(site);
                names.len() - 1
            })
    };
    cells.iter().map(index).map(|site| site as u32).collect()
}
