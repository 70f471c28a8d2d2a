//! Antennas: gain of a base station by direction.

use super::Position;
use crate::settings::Antenna;

/// Side lobes of the vertical pattern, TR 36.814 table A.2.1.1-2, in dB.
const SIDE_LOBES_DB: f64 = 20.0;

/// Returns 12 (angle/width)², at most `limit_db`.
fn parabola(angle_deg: f64, width_deg: f64, limit_db: f64) -> f64 {
    let ratio = angle_deg / width_deg;
    (12.0 * ratio * ratio).min(limit_db)
}

/// The gain of a sector falls by min(12 (θ/θ3dB)², Am) off its direction (TR 36.942 §4.2.1, TR 36.814 table
/// A.2.1.1-2).
impl Antenna {
    /// Returns the gain of an antenna at `from` towards `to`, in dBi.
    pub(crate) fn gain_dbi(&self, from: &Position, to: &Position) -> f64 {
        let sector = match self {
            Self::Omni(omni) => return omni.gain.dbi(),
            Self::Sector(sector) => sector,
        };
        let degrees = |radians: f64| radians * (180.0 / core::f64::consts::PI);
        let bearing = degrees(libm::atan2(to.y - from.y, to.x - from.x));
        // The azimuth counts clockwise from the north, the bearing anticlockwise from the east.
        let turns = (bearing - (90.0 - sector.azimuth.degrees())) / 360.0;
        let off = 360.0 * (turns - libm::round(turns));
        let mut attenuation = parabola(off, sector.width.degrees(), sector.front_to_back.get());
        if let Some((tilt, width)) = sector.tilt.zip(sector.vertical_width) {
            let ground = from.ground_distance_m(to);
            let down = degrees(libm::atan2(from.height - to.height, ground));
            attenuation += parabola(down - tilt.degrees(), width.degrees(), SIDE_LOBES_DB);
        }
        sector.gain.dbi() - attenuation.min(sector.front_to_back.get())
    }
}

#[cfg(test)]
mod tests {
    use units::{Angle, Decibel, Gain};

    use super::*;
    use crate::settings::Sector;

    /// One of three sectors, TR 36.942 §4.2.1: 15 dBi, 65 degrees wide, 20 dB front to back.
    fn tr_36_942(direction_deg: f64) -> Sector {
        Sector {
            gain: Gain::from_dbi(15.0),
            azimuth: Angle::from_degrees(90.0 - direction_deg),
            width: Angle::from_degrees(65.0),
            front_to_back: Decibel::new(20.0),
            tilt: None,
            vertical_width: None,
        }
    }

    /// One of three sectors in case 1, TR 36.814 table A.2.1.1-2: 14 dBi, 70 degrees wide, 25 dB front
    /// to back, tilted by 15 degrees with 10 degrees of width.
    fn tr_36_814(direction_deg: f64) -> Sector {
        Sector {
            gain: Gain::from_dbi(14.0),
            azimuth: Angle::from_degrees(90.0 - direction_deg),
            width: Angle::from_degrees(70.0),
            front_to_back: Decibel::new(25.0),
            tilt: Some(Angle::from_degrees(15.0)),
            vertical_width: Some(Angle::from_degrees(10.0)),
        }
    }

    fn gain(antenna: &Sector, x: f64, y: f64) -> f64 {
        let from = Position::new(0.0, 0.0, 30.0);
        Antenna::Sector(antenna.clone()).gain_dbi(&from, &Position::new(x, y, 1.5))
    }

    #[test]
    fn a_sector_loses_3_db_at_half_its_width_and_20_db_behind() {
        let antenna = tr_36_942(170.0);
        let towards = |degrees: f64| {
            let angle = degrees.to_radians();
            gain(&antenna, 1000.0 * angle.cos(), 1000.0 * angle.sin())
        };
        assert!((towards(170.0) - 15.0).abs() < 1e-9);
        assert!((towards(170.0 + 32.5) - 12.0).abs() < 1e-9);
        assert!((towards(-157.5) - 12.0).abs() < 1e-9);
        assert!((towards(-10.0) + 5.0).abs() < 1e-9);
    }

    /// 28.5 m below, an antenna tilted by 15 degrees has its main lobe 106 m away.
    #[test]
    fn a_tilted_sector_is_best_where_its_lobe_meets_the_ground() {
        let antenna = tr_36_814(0.0);
        let metres = 28.5 / 15.0_f64.to_radians().tan();
        assert!((gain(&antenna, metres, 0.0) - 14.0).abs() < 1e-9);
        assert!(gain(&antenna, 20.0, 0.0) < gain(&antenna, 60.0, 0.0));
        // 1.5 degrees down at 1 km, 13.4 off the lobe: limited to 20 dB only beyond 12.9 degrees.
        assert!((gain(&antenna, 1000.0, 0.0) + 6.0).abs() < 1e-9);
    }
}
