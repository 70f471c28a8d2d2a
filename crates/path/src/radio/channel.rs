//! What UEs receive: fading, cells, places.

use std::sync::Arc;

use radio::channel::mobility::{Trajectory, WayPoints};
use radio::channel::{
    self, Antenna, Carrier, CellSite, DelayProfile, Deployment, DeploymentConfig, Doppler,
    FadingConfig, Grid, HighSpeedTrain, Interference, LineOfSight, NoiseFigure, ParameterError,
    PathLossModel, Receiver, SectorAntenna, SinrTrace, Speed,
};
use scenario::radio::{
    self as model, Fading, Length, PathLoss, Profile, Radio, Sinr, Transmit, Ue,
};
use units::Instant;

use crate::PlanError;

/// The carrier frequency.
pub(super) fn carrier(radio: &Radio) -> Result<Carrier, PlanError> {
    let hz = radio.carrier().map_or(0.0, model::Frequency::hertz);
    Carrier::from_hz(hz).map_err(PlanError::radio)
}

/// The fading of a UE and how its receiver copes.
pub(super) fn fading(
    radio: &Radio,
    ue: &Ue,
    carrier: Carrier,
) -> Result<Option<(FadingConfig, Receiver)>, PlanError> {
    let Some(fading) = ue.fading.as_ref().or(radio.fading.as_ref()) else {
        return Ok(None);
    };
    // Each layer takes an antenna of the receiver; what is left combines.
    let antennas = (radio.receive_antennas / radio.layers).max(1);
    let diversity = radio.transmit == Transmit::Diversity;
    let found = faded(fading, (antennas, diversity), carrier);
    found.map(Some).map_err(PlanError::radio)
}

/// How fast a UE moves by its fading, where that says so: as speed, or as the Doppler shift of one.
pub(super) fn speed_mps(radio: &Radio, ue: &Ue, carrier: Carrier) -> Option<f64> {
    let fading = ue.fading.as_ref().or(radio.fading.as_ref())?;
    let shift = || Some(fading.doppler?.hertz() * carrier.wavelength_m());
    let speed = fading.speed.map(|speed| speed.metres_per_second());
    speed.or_else(shift)
}

fn faded(
    fading: &Fading,
    (antennas, transmit_diversity): (u32, bool),
    carrier: Carrier,
) -> Result<(FadingConfig, Receiver), ParameterError> {
    let speed = fading
        .speed
        .map(|speed| Speed::from_m_per_s(speed.metres_per_second()))
        .transpose()?;
    let doppler = match (speed, fading.doppler) {
        (Some(speed), _) => Doppler::Moving(speed, carrier),
        (None, doppler) => Doppler::from_hz(doppler.map_or(0.0, model::Frequency::hertz))?,
    };
    let profile = match fading.profile {
        // A single tap: TS 36.101 B.3.
        Profile::Flat | Profile::Hst => DelayProfile::Flat,
        Profile::Epa => DelayProfile::Epa,
        Profile::Eva => DelayProfile::Eva,
        Profile::Etu => DelayProfile::Etu,
    };
    let k_db = fading.k.map(units::Decibel::get);
    let line_of_sight = match fading.track() {
        Some(track) => {
            // A shift given in hertz is that of the speed at this carrier.
            let from_shift = doppler.hz() * carrier.wavelength_m();
            let speed = speed.map_or_else(|| Speed::from_m_per_s(from_shift), Ok)?;
            let train = HighSpeedTrain::new(
                track.spacing.metres(),
                track.distance.metres(),
                speed,
                doppler,
            )?;
            Some(LineOfSight::Train {
                k_db: k_db.unwrap_or(f64::INFINITY),
                train,
            })
        }
        None => k_db.map(|k_db| LineOfSight::Steady {
            k_db,
            cosine: libm::cos(fading.angle.degrees().to_radians()),
        }),
    };
    let config = FadingConfig {
        profile,
        doppler,
        line_of_sight,
        antennas: antennas as usize,
        transmit_diversity,
    };
    let receiver = Receiver {
        tracking: fading.tracking,
        estimation: fading.estimation,
    };
    Ok((config, receiver))
}

/// The mean SINR of a UE that has no file.
pub(super) fn sinr(sinr: &Sinr) -> Result<SinrTrace, PlanError> {
    let points = match sinr {
        Sinr::Constant(db) => vec![(Instant::ZERO, db.get())],
        Sinr::Points(points) => points
            .iter()
            .map(|point| (Instant::ZERO + point.at, point.sinr.get()))
            .collect(),
        Sinr::Trace(_) | Sinr::PhoneLog(_) => unreachable!("files have been read"),
    };
    SinrTrace::new(points).map_err(PlanError::radio)
}

/// Cells in the plane in the run with `seed`.
pub(super) fn deployment(
    radio: &Radio,
    carrier: Carrier,
    grid: Grid,
    seed: u64,
) -> Result<Arc<Deployment>, PlanError> {
    let model = &radio.propagation;
    let mut sites: Vec<&str> = Vec::new();
    let cells = radio.cells.iter().map(|cell| {
        let site = cell.site.as_deref().unwrap_or(&cell.name);
        let number = sites.iter().position(|known| *known == site);
        let number = number.unwrap_or_else(|| {
            sites.push(site);
            sites.len() - 1
        });
        CellSite {
            site: number as u32,
            position: place(cell.x, cell.y, cell.height),
            antenna: antenna(&cell.antenna),
            power_dbm: cell.power.dbm(),
        }
    });
    let config = DeploymentConfig {
        cells: cells.collect(),
        carrier,
        grid,
        path_loss: path_loss(&model.model),
        sight: model.sight,
        shadowing: model
            .shadowing
            .as_ref()
            .map(|shadowing| channel::Shadowing {
                deviation_db: shadowing.deviation.get(),
                correlation_distance_m: shadowing.correlation_distance.metres(),
                site_correlation: shadowing.site_correlation,
            }),
        noise_figure: NoiseFigure::new(model.noise_figure.get()).map_err(PlanError::radio)?,
        ue_height_m: model.ue_height.metres(),
        interference: match model.interference {
            model::Interference::None => Interference::None,
            model::Interference::Mean => Interference::Mean,
            model::Interference::Faded => Interference::Faded {
                below_noise_db: model.culling.get(),
            },
        },
        update_period: model.update_period,
    };
    Deployment::new(config, seed)
        .map(Arc::new)
        .map_err(PlanError::radio)
}

fn place(x: Length, y: Length, height: Length) -> channel::Position {
    channel::Position::new(x.metres(), y.metres(), height.metres())
}

fn antenna(antenna: &model::Antenna) -> Antenna {
    match antenna {
        model::Antenna::Omni(omni) => Antenna::Omni {
            gain_dbi: omni.gain.dbi(),
        },
        model::Antenna::Sector(sector) => Antenna::Sector(SectorAntenna {
            gain_dbi: sector.gain.dbi(),
            // Clockwise from the north there, anticlockwise from the east here.
            direction_deg: 90.0 - sector.azimuth.degrees(),
            width_deg: sector.width.degrees(),
            front_to_back_db: sector.front_to_back.get(),
            vertical: sector
                .tilt
                .zip(sector.vertical_width)
                .map(|(tilt, width)| (tilt.degrees(), width.degrees())),
        }),
    }
}

fn path_loss(model: &PathLoss) -> PathLossModel {
    match model {
        PathLoss::Friis => PathLossModel::Friis,
        PathLoss::LogDistance(model) => PathLossModel::LogDistance {
            exponent: model.exponent,
            reference_m: model.reference.metres(),
        },
        PathLoss::OkumuraHata(hata) => PathLossModel::OkumuraHata(hata.environment),
        PathLoss::Cost231Hata(hata) => PathLossModel::Cost231Hata(hata.environment),
        PathLoss::Tr36942Urban(roofs) => PathLossModel::UrbanMacro36942 {
            above_roofs_m: roofs.above_roofs.metres(),
        },
        PathLoss::Tr36942Rural => PathLossModel::RuralMacro36942,
        PathLoss::Tr36814Macro => PathLossModel::Macro36814,
        PathLoss::Tr36814Sighted => PathLossModel::SightedMacro36814,
        PathLoss::Tr38901Uma => PathLossModel::Uma38901,
        PathLoss::Tr38901Rma(streets) => PathLossModel::Rma38901 {
            street_width_m: streets.street_width.metres(),
            building_height_m: streets.building_height.metres(),
        },
    }
}

/// The way of a UE that stands or moves straight on.
pub(super) fn linear(
    position: model::Position,
    velocity: Option<model::Velocity>,
    height: Length,
) -> Trajectory {
    let start = place(position.x, position.y, height);
    match velocity {
        None => Trajectory::Static(start),
        Some(velocity) => Trajectory::Linear {
            start,
            velocity: [
                velocity.x.metres_per_second(),
                velocity.y.metres_per_second(),
                0.0,
            ],
        },
    }
}

/// The way of a UE from point to point.
pub(super) fn way(points: &[model::WayPoint], height: Length) -> Result<Trajectory, PlanError> {
    let points = points
        .iter()
        .map(|point| (Instant::ZERO + point.at, place(point.x, point.y, height)));
    WayPoints::new(points.collect())
        .map(Trajectory::WayPoints)
        .map_err(PlanError::radio)
}
