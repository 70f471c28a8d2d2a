//! Reception of UEs: fading, SINR and movement.

use radio::channel::mobility::{Trajectory, WayPoints};
use radio::channel::{
    Doppler, FadingConfig, HighSpeedTrain, LineOfSight, Position, Receiver, SinrTrace, wavelength_m,
};
use scenario::radio::{self as model, Frequency, Length, Radio, Sinr, Speed, Transmit, Ue};
use units::Instant;

use crate::PlanError;

/// Returns the fading of a UE on this carrier, and how its receiver copes.
pub(super) fn fading(
    radio: &Radio,
    ue: &Ue,
    carrier: Frequency,
) -> Option<(FadingConfig, Receiver)> {
    let fading = ue.fading.as_ref().or(radio.fading.as_ref())?;
    let doppler = match (fading.speed, fading.doppler) {
        (Some(speed), _) => Doppler::Moving(speed, carrier),
        (None, doppler) => Doppler::Hertz(doppler.map_or(0.0, Frequency::hertz)),
    };
    let k_db = fading.k.map(units::Decibel::get);
    let line_of_sight = match fading.track() {
        Some(track) => {
            // A shift given in hertz is that of the speed at this carrier.
            let from_shift = || Speed::from_metres_per_second(doppler.hz() * wavelength_m(carrier));
            let speed = fading.speed.unwrap_or_else(from_shift);
            Some(LineOfSight::Train {
                k_db: k_db.unwrap_or(f64::INFINITY),
                train: HighSpeedTrain::new(&track, speed, doppler),
            })
        }
        None => k_db.map(|k_db| LineOfSight::Steady {
            k_db,
            cosine: libm::cos(fading.angle.degrees().to_radians()),
        }),
    };
    let config = FadingConfig {
        profile: fading.profile,
        doppler,
        line_of_sight,
        // The layers share the antennas of the receiver evenly; those of one layer combine.
        antennas: (radio.receive_antennas / radio.layers).max(1) as usize,
        transmit_diversity: radio.transmit == Transmit::Diversity,
    };
    let receiver = Receiver {
        tracking: fading.tracking,
        estimation: fading.estimation,
    };
    Some((config, receiver))
}

/// Returns the speed of a UE by its fading: as given, or from the Doppler shift; `None` if it gives neither.
pub(super) fn speed_mps(radio: &Radio, ue: &Ue, carrier: Frequency) -> Option<f64> {
    let fading = ue.fading.as_ref().or(radio.fading.as_ref())?;
    let shift = || Some(fading.doppler?.hertz() * wavelength_m(carrier));
    let speed = fading.speed.map(Speed::metres_per_second);
    speed.or_else(shift)
}

/// Returns the mean SINR of a UE that has no file.
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

/// Returns the way of a UE that stands or moves straight on.
pub(super) fn linear(
    position: model::Position,
    velocity: Option<model::Velocity>,
    height: Length,
) -> Trajectory {
    let start = Position::of(position.x, position.y, height);
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

/// Returns the way of a UE from point to point.
pub(super) fn way(points: &[model::WayPoint], height: Length) -> Result<Trajectory, PlanError> {
    let points = points.iter().map(|point| {
        (
            Instant::ZERO + point.at,
            Position::of(point.x, point.y, height),
        )
    });
    WayPoints::new(points.collect())
        .map(Trajectory::WayPoints)
        .map_err(PlanError::radio)
}
