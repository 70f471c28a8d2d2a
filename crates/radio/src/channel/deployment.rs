//! Cells in the plane, and what a UE on its way receives from them.

use std::cell::RefCell;
use std::sync::Arc;
use units::random::Purpose;
use units::{Decibel, Duration, Instant};

use super::decibels::to_db;
use super::faded::distorted_db;
use super::mobility::Trajectory;
use super::receiver::DopplerLoss;
use super::{
    Antenna, Carrier, Fading, FadingConfig, Grid, LinkId, NoiseFigure, ParameterError, PathLoss,
    PathLossModel, Position, Receiver, Shadowing, ShadowingField, Sight, SinrSource,
    thermal_noise_dbm,
};

/// Subcarriers in a PRB, each of which is a resource element of the reference signal's power.
const ELEMENTS_PER_PRB: f64 = 12.0;

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
    /// The network of the run with `seed`.
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

    /// Thermal noise of a UE over the whole bandwidth, in dBm.
    pub fn noise_dbm(&self) -> f64 {
        Decibel::from_linear(self.noise_mw).get()
    }

    /// Whether `cell` is in sight from a place.
    pub fn in_sight(&self, cell: usize, place: &Position) -> bool {
        match self.config.sight {
            Sight::Line => true,
            Sight::NoLine => false,
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

    fn powers_mw(&self, place: &Position, out: &mut [f64]) {
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

/// What one UE receives. A function of time alone; it remembers the powers of the latest period of
/// path loss, which changes no answer, and is therefore not shared between threads.
#[derive(Clone, Debug)]
pub struct Reception {
    deployment: Arc<Deployment>,
    way: Trajectory,
    /// By cell; only those that can be needed.
    fading: Option<(Vec<Fading>, DopplerLoss)>,
    latest: RefCell<Latest>,
}

#[derive(Clone, Debug)]
struct Latest {
    period: Option<u64>,
    place: Position,
    powers_mw: Vec<f64>,
    /// Noise and interference by group.
    disturbance: Vec<f32>,
    scratch: Vec<f32>,
}

impl Reception {
    /// UE number `ue` on its `way`; `fading` moves what it receives around the mean.
    pub fn new(
        deployment: Arc<Deployment>,
        ue: u32,
        way: Trajectory,
        fading: Option<(FadingConfig, Receiver)>,
    ) -> Result<Self, ParameterError> {
        let (cells, grid) = (deployment.config.cells.len(), deployment.config.grid);
        let fading = fading
            .map(|(config, receiver)| {
                let links = (0..cells as u32).map(|cell| LinkId { ue, cell });
                let links = links
                    .map(|link| Fading::new(config, &grid, deployment.seed, link))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok::<_, ParameterError>((links, DopplerLoss::new(receiver, &config, &grid)?))
            })
            .transpose()?;
        Ok(Self {
            way,
            fading,
            latest: RefCell::new(Latest {
                period: None,
                place: Position::default(),
                powers_mw: vec![0.0; cells],
                disturbance: vec![0.0; grid.groups()],
                scratch: vec![0.0; grid.groups()],
            }),
            deployment,
        })
    }

    /// Where the UE is.
    pub fn position(&self, at: Instant) -> Position {
        self.way.at(at)
    }

    /// The link to one cell, where all other cells transmit all the time.
    pub fn link(&self, cell: usize) -> CellLink<'_> {
        CellLink {
            reception: self,
            cell,
        }
    }

    /// Mean power of the reference signal of `cell` per resource element, in dBm: RSRP without fast
    /// fading (TS 36.214 §5.1.1).
    pub fn rsrp_dbm(&self, at: Instant, cell: usize) -> f64 {
        let powers = self.powers(at);
        Decibel::from_linear(powers.powers_mw[cell] / self.elements()).get()
    }

    /// RSRQ of `cell` without fast fading, in dB: PRBs times RSRP over all that is received, where
    /// each cell transmits with the share `activity` of its power (TS 36.214 §5.1.3).
    pub fn rsrq_db(&self, at: Instant, cell: usize, activity: Activity<'_>) -> f64 {
        let powers = self.powers(at);
        let received: f64 = powers
            .powers_mw
            .iter()
            .enumerate()
            .map(|(other, power)| power * f64::from(activity.of(other)))
            .sum();
        let rsrp = powers.powers_mw[cell] / self.elements();
        let rssi = received + self.deployment.noise_mw;
        Decibel::from_linear(self.deployment.config.grid.prbs() as f64 * rsrp / rssi).get()
    }

    /// SINR of `cell` without fast fading, in dB, where each other cell transmits with the share
    /// `activity` of its power.
    pub fn mean_sinr_db(&self, at: Instant, cell: usize, activity: Activity<'_>) -> f64 {
        let powers = self.powers(at);
        Decibel::from_linear(self.mean_sinr(&powers, cell, activity)).get()
    }

    /// SINR of `cell` by PRB group in dB, where each other cell transmits with the share `activity`
    /// of its power.
    pub fn sinr_db(&self, at: Instant, cell: usize, activity: Activity<'_>, out: &mut [f32]) {
        let mut latest = self.powers(at);
        let mean = self.mean_sinr(&latest, cell, activity);
        let Some((fading, loss)) = &self.fading else {
            out.fill(Decibel::from_linear(mean).get() as f32);
            return;
        };
        fading[cell].power(at, out);
        let distortion = loss.at(at);
        let Interference::Faded { below_noise_db } = self.deployment.config.interference else {
            distorted_db(out, mean as f32, distortion);
            return;
        };
        let latest = &mut *latest;
        let noise = self.deployment.noise_mw;
        let least = noise * Decibel::new(-below_noise_db).to_linear();
        let signal = latest.powers_mw[cell] as f32;
        let received = signal * out.iter().sum::<f32>() / out.len() as f32;
        latest
            .disturbance
            .fill(noise as f32 + distortion.noise * received);
        for (other, &power) in latest.powers_mw.iter().enumerate() {
            let power = power * f64::from(activity.of(other));
            if other == cell || power == 0.0 {
                continue;
            }
            if power < least {
                let add = |sum: &mut f32| *sum += power as f32;
                latest.disturbance.iter_mut().for_each(add);
                continue;
            }
            fading[other].power(at, &mut latest.scratch);
            for (sum, faded) in latest.disturbance.iter_mut().zip(&latest.scratch) {
                *sum += power as f32 * faded;
            }
        }
        for (out, disturbance) in out.iter_mut().zip(&latest.disturbance) {
            *out = to_db(signal * distortion.signal * *out / disturbance);
        }
    }

    fn elements(&self) -> f64 {
        ELEMENTS_PER_PRB * self.deployment.config.grid.prbs() as f64
    }

    fn mean_sinr(&self, latest: &Latest, cell: usize, activity: Activity<'_>) -> f64 {
        let mut disturbance = self.deployment.noise_mw;
        if self.deployment.config.interference != Interference::None {
            for (other, power) in latest.powers_mw.iter().enumerate() {
                if other != cell {
                    disturbance += power * f64::from(activity.of(other));
                }
            }
        }
        latest.powers_mw[cell] / disturbance
    }

    /// The powers of the period of `at`, computed where the UE is at its start.
    fn powers(&self, at: Instant) -> std::cell::RefMut<'_, Latest> {
        let mut latest = self.latest.borrow_mut();
        let length = self.deployment.config.update_period.as_nanos();
        let period = at.as_nanos() / length;
        if latest.period != Some(period) {
            let place = self.way.at(Instant::from_nanos(period * length));
            if latest.period.is_none() || latest.place != place {
                self.deployment.powers_mw(&place, &mut latest.powers_mw);
                latest.place = place;
            }
            latest.period = Some(period);
        }
        latest
    }
}

/// What share of their power cells transmit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Activity<'a> {
    /// All of it.
    Full,
    /// By cell, from 0 to 1.
    Shares(&'a [f32]),
}

impl Activity<'_> {
    fn of(&self, cell: usize) -> f32 {
        match self {
            Self::Full => 1.0,
            Self::Shares(shares) => shares[cell],
        }
    }
}

/// What one UE receives from one cell under full load of all others.
#[derive(Clone, Copy, Debug)]
pub struct CellLink<'r> {
    reception: &'r Reception,
    cell: usize,
}

impl SinrSource for CellLink<'_> {
    fn sinr_db(&self, at: Instant, out: &mut [f32]) {
        self.reception.sinr_db(at, self.cell, Activity::Full, out);
    }

    fn mean_db(&self, at: Instant) -> f64 {
        self.reception.mean_sinr_db(at, self.cell, Activity::Full)
    }
}
