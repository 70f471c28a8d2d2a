//! Cells in the plane, and what arrives where.

use units::random::Purpose;
use units::{Decibel, Duration};

use super::{
    Antenna, Carrier, Grid, NoiseFigure, ParameterError, PathLoss, PathLossModel, Position,
    Shadowing, ShadowingField, Sight, thermal_noise_dbm,
};

/// One cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CellSite {
    /// Number of the site: cells of one site share their shadowing.
    pub site: u32,
    /// Of the antenna.
    pub position: Position,
    /// Of the antenna.
    pub antenna: Antenna,
    /// Power over the whole bandwidth, in dBm.
    pub power_dbm: f64,
}

/// How the signals of other cells disturb.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Interference {
    /// Not at all.
    None,
    /// With their mean power: without fast fading of their own.
    Mean,
    /// With fast fading, unless their mean is this far below the noise: then with their mean.
    Faded {
        /// In dB.
        below_noise_db: f64,
    },
}

/// What is common to all UEs of a network.
#[derive(Clone, PartialEq, Debug)]
pub struct DeploymentConfig {
    /// The cells, all on one carrier.
    pub cells: Vec<CellSite>,
    /// Of the downlink.
    pub carrier: Carrier,
    /// Its PRBs.
    pub grid: Grid,
    /// Loss over distance.
    pub path_loss: PathLossModel,
    /// Whether base stations are in sight.
    pub sight: Sight,
    /// Shadowing, if any.
    pub shadowing: Option<Shadowing>,
    /// Of the UEs.
    pub noise_figure: NoiseFigure,
    /// Height of the UEs for the path loss, in metres.
    pub ue_height_m: f64,
    /// Of the other cells.
    pub interference: Interference,
    /// How often path loss and shadowing are looked at. In 10 ms a train at 300 km/h moves 0.83 m,
    /// a sixtieth of a usual correlation distance.
    pub update_period: Duration,
}

/// Cells in the plane.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployment {
    config: DeploymentConfig,
    seed: u64,
    path_losses: Vec<PathLoss>,
    /// Shadow of all sites, and of the site of each cell.
    common_shadow: Option<ShadowingField>,
    shadows: Vec<ShadowingField>,
    sights: Vec<ShadowingField>,
    noise_mw: f64,
}

impl Deployment {
    /// Returns the network of the run with `seed`.
    pub fn new(config: DeploymentConfig, seed: u64) -> Result<Self, ParameterError> {
        if config.cells.is_empty() {
            return Err(ParameterError::new(
                "number of cells",
                0,
                "must be at least one",
            ));
        }
        if config.update_period.is_zero() {
            let allowed = "must be longer than 0s";
            return Err(ParameterError::new(
                "update period of path loss",
                "0s",
                allowed,
            ));
        }
        if let Some(shadowing) = config.shadowing {
            shadowing.check()?;
        }
        let mut path_losses = Vec::with_capacity(config.cells.len());
        for cell in &config.cells {
            cell.antenna.check()?;
            ParameterError::range("power of a cell in dBm", cell.power_dbm, -50.0, 80.0)?;
            path_losses.push(PathLoss::new(
                config.path_loss,
                config.carrier,
                cell.position.height,
                config.ue_height_m,
            )?);
        }
        let knows_sight = path_losses[0].sight_probability(0.0).is_some();
        let fields = |wanted: bool, purpose, distance_m: f64| -> Vec<ShadowingField> {
            let cells = config.cells.iter().filter(|_| wanted);
            cells
                .map(|cell| ShadowingField::new(seed, purpose, Some(cell.site), distance_m))
                .collect()
        };
        let distance_m = config.shadowing.map_or(SIGHT_DISTANCE_M, |shadowing| {
            shadowing.correlation_distance_m
        });
        let shadowed = config.shadowing.is_some();
        let probable = knows_sight && config.sight == Sight::Probable;
        let noise_dbm = thermal_noise_dbm(config.grid.bandwidth_hz(), config.noise_figure);
        Ok(Self {
            path_losses,
            common_shadow: shadowed
                .then(|| ShadowingField::new(seed, Purpose::Shadowing, None, distance_m)),
            shadows: fields(shadowed, Purpose::Shadowing, distance_m),
            sights: fields(probable, Purpose::LineOfSight, distance_m),
            noise_mw: Decibel::new(noise_dbm).to_linear(),
            seed,
            config,
        })
    }

    /// What is common to all UEs.
    pub fn config(&self) -> &DeploymentConfig {
        &self.config
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn noise_mw(&self) -> f64 {
        self.noise_mw
    }

    /// Returns whether `cell` is in sight from a place.
    pub fn in_sight(&self, cell: usize, place: &Position) -> bool {
        match self.config.sight {
            Sight::Line => true,
            Sight::None => false,
            Sight::Probable => {
                let ground = self.config.cells[cell].position.ground_distance_m(place);
                let probability = self.path_losses[cell].sight_probability(ground);
                let Some((probability, field)) = probability.zip(self.sights.get(cell)) else {
                    return true;
                };
                // The share of a normal distribution below the field's value is uniform.
                let share = 0.5 * libm::erfc(-field.at(place) * core::f64::consts::FRAC_1_SQRT_2);
                share < probability
            }
        }
    }

    /// Mean power from `cell` at a place without fast fading, over the whole bandwidth, in dBm.
    pub fn power_dbm(&self, cell: usize, place: &Position) -> f64 {
        let common = self
            .common_shadow
            .as_ref()
            .map_or(0.0, |field| field.at(place));
        self.power_with(cell, place, common)
    }

    fn power_with(&self, cell: usize, place: &Position, common_shadow: f64) -> f64 {
        let site = &self.config.cells[cell];
        let ground = site.position.ground_distance_m(place);
        let loss = self.path_losses[cell].loss_db(ground, self.in_sight(cell, place));
        let shadow = match (self.config.shadowing, self.shadows.get(cell)) {
            (Some(shadowing), Some(field)) => {
                let common = shadowing.site_correlation;
                let own = libm::sqrt(1.0 - common) * field.at(place);
                shadowing.deviation_db * (libm::sqrt(common) * common_shadow + own)
            }
            _ => 0.0,
        };
        site.power_dbm + site.antenna.gain_dbi(&site.position, place) - loss - shadow
    }

    /// Mean powers of all cells at a place, in mW.
    pub(crate) fn powers_mw(&self, place: &Position, out: &mut [f64]) {
        let common = self
            .common_shadow
            .as_ref()
            .map_or(0.0, |field| field.at(place));
        for (cell, out) in out.iter_mut().enumerate() {
            *out = Decibel::new(self.power_with(cell, place, common)).to_linear();
        }
    }
}

/// Over how many metres line of sight is alike where nothing is said of shadowing: TR 38.901 table
/// 7.6.3.1-2, UMa.
const SIGHT_DISTANCE_M: f64 = 50.0;
