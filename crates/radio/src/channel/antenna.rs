//! Antennas: gain of a base station by direction.

use super::{ParameterError, Position};

/// An antenna of a base station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Antenna {
    /// Antenna with the same gain in all directions.
    Omni {
        /// Gain, in dBi.
        gain_dbi: f64,
    },
    /// Antenna of one sector.
    Sector(SectorAntenna),
}

/// The antenna of one sector: -min(12 (θ/θ3dB)², Am) off its direction, TR 36.942 §4.2.1 and TR 36.814
/// table A.2.1.1-2.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SectorAntenna {
    /// Gain in the main direction, in dBi.
    pub gain_dbi: f64,
    /// Main direction in degrees, anticlockwise from the east.
    pub direction_deg: f64,
    /// Width where the gain has fallen by 3 dB, in degrees.
    pub width_deg: f64,
    /// Largest attenuation, in dB.
    pub front_to_back_db: f64,
    /// Downward tilt and vertical width (3 dB) in degrees, with side lobes 20 dB down (TR 36.814 table
    /// A.2.1.1-2); none for an antenna without vertical pattern.
    pub vertical: Option<(f64, f64)>,
}

/// Side lobes of the vertical pattern, TR 36.814 table A.2.1.1-2, in dB.
const SIDE_LOBES_DB: f64 = 20.0;

/// Returns 12 (angle/width)², at most `limit`.
fn parabola(angle_deg: f64, width_deg: f64, limit_db: f64) -> f64 {
    let ratio = angle_deg / width_deg;
    (12.0 * ratio * ratio).min(limit_db)
}

impl Antenna {
    /// Returns the gain of an antenna at `from` towards `to`, in dBi.
    pub fn gain_dbi(&self, from: &Position, to: &Position) -> f64 {
        let sector = match self {
            Self::Omni { gain_dbi } => return *gain_dbi,
            Self::Sector(sector) => sector,
        };
        let degrees = |radians: f64| radians * (180.0 / core::f64::consts::PI);
        let bearing = degrees(libm::atan2(to.y - from.y, to.x - from.x));
        let turns = (bearing - sector.direction_deg) / 360.0;
        let off = 360.0 * (turns - libm::round(turns));
        let mut attenuation = parabola(off, sector.width_deg, sector.front_to_back_db);
        if let Some((tilt_deg, width_deg)) = sector.vertical {
            let ground = from.ground_distance_m(to);
            let down = degrees(libm::atan2(from.height - to.height, ground));
            attenuation += parabola(down - tilt_deg, width_deg, SIDE_LOBES_DB);
        }
        sector.gain_dbi - attenuation.min(sector.front_to_back_db)
    }

    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        let check_gain = |gain| ParameterError::range("antenna gain in dBi", gain, -30.0, 40.0);
        match self {
            Self::Omni { gain_dbi } => check_gain(*gain_dbi)?,
            Self::Sector(sector) => {
                check_gain(sector.gain_dbi)?;
                ParameterError::range("antenna width in degrees", sector.width_deg, 1.0, 360.0)?;
                let field = "antenna front-to-back ratio in dB";
                ParameterError::range(field, sector.front_to_back_db, 0.0, 60.0)?;
                let (tilt, width) = sector.vertical.unwrap_or((0.0, 1.0));
                ParameterError::range("antenna tilt in degrees", tilt, -90.0, 90.0)?;
                let field = "vertical antenna width in degrees";
                ParameterError::range(field, width, 1.0, 360.0)?
            }
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of three sectors, TR 36.942 §4.2.1: 15 dBi, 65 degrees wide, 20 dB front to back.
    fn tr_36_942(direction_deg: f64) -> SectorAntenna {
        SectorAntenna {
            gain_dbi: 15.0,
            direction_deg,
            width_deg: 65.0,
            front_to_back_db: 20.0,
            vertical: None,
        }
    }

    /// One of three sectors in case 1, TR 36.814 table A.2.1.1-2: 14 dBi, 70 degrees wide, 25 dB front
    /// to back, tilted by 15 degrees with 10 degrees of width.
    fn tr_36_814(direction_deg: f64) -> SectorAntenna {
        SectorAntenna {
            gain_dbi: 14.0,
            direction_deg,
            width_deg: 70.0,
            front_to_back_db: 25.0,
            vertical: Some((15.0, 10.0)),
        }
    }

    fn gain(antenna: SectorAntenna, x: f64, y: f64) -> f64 {
        let from = Position::new(0.0, 0.0, 30.0);
        Antenna::Sector(antenna).gain_dbi(&from, &Position::new(x, y, 1.5))
    }

    #[test]
    fn a_sector_loses_3_db_at_half_its_width_and_20_db_behind() {
        let antenna = tr_36_942(170.0);
        let towards = |degrees: f64| {
            let angle = degrees.to_radians();
            gain(antenna, 1000.0 * angle.cos(), 1000.0 * angle.sin())
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
        assert!((gain(antenna, metres, 0.0) - 14.0).abs() < 1e-9);
        assert!(gain(antenna, 20.0, 0.0) < gain(antenna, 60.0, 0.0));
        // 1.5 degrees down at 1 km, 13.4 off the lobe: limited to 20 dB only beyond 12.9 degrees.
        assert!((gain(antenna, 1000.0, 0.0) + 6.0).abs() < 1e-9);
    }
}
