//! Path loss of the urban and rural macro cells of TR 38.901, for outdoor UEs.

use units::Frequency;

use super::{Heights, ghz};
use crate::channel::ParameterError;
use crate::settings::Streets;

/// Minimum distance over ground of table 7.4.1-1, in metres.
pub(super) const MIN_DISTANCE_M: f64 = 10.0;

/// Speed of light that note 1 of table 7.4.1-1 uses, m/s.
const C: f64 = 3.0e8;

/// UMa of table 7.4.1-1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Uma {
    /// 20 log10(fc/GHz).
    frequency_db: f64,
    break_point_m: f64,
    /// 9 log10(d'BP² + (hBS - hUT)²).
    break_db: f64,
    /// 0.6 (hUT - 1.5).
    height_db: f64,
}

impl Uma {
    /// Environment height of note 1, which is 1 m for UEs up to 13 m.
    const ENVIRONMENT_M: f64 = 1.0;

    pub fn new(carrier: Frequency, (base, ue): Heights) -> Result<Self, ParameterError> {
        ParameterError::range("carrier in GHz for UMa", ghz(carrier), 0.5, 100.0)?;
        // The table has one height, 25 m; the formulas also hold for other heights.
        ParameterError::range("base station height in m for UMa", base, 10.0, 150.0)?;
        ParameterError::range("UE height in m for UMa", ue, 1.5, 13.0)?;
        let effective = |height: f64| height - Self::ENVIRONMENT_M;
        let break_point_m = 4.0 * effective(base) * effective(ue) * carrier.hertz() / C;
        let height_difference = base - ue;
        Ok(Self {
            frequency_db: 20.0 * libm::log10(ghz(carrier)),
            break_point_m,
            break_db: 9.0
                * libm::log10(
                    break_point_m * break_point_m + height_difference * height_difference,
                ),
            height_db: 0.6 * (ue - 1.5),
        })
    }

    pub fn db(&self, ground_m: f64, space_m: f64, is_los: bool) -> f64 {
        let log = libm::log10(space_m);
        let los = if ground_m <= self.break_point_m {
            28.0 + 22.0 * log + self.frequency_db
        } else {
            28.0 + 40.0 * log + self.frequency_db - self.break_db
        };
        if is_los {
            return los;
        }
        los.max(13.54 + 39.08 * log + self.frequency_db - self.height_db)
    }
}

/// RMa of table 7.4.1-1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rma {
    /// 20 log10(40π fc/3).
    frequency_db: f64,
    /// min(0.03 h^1.72, 10).
    slope: f64,
    /// min(0.044 h^1.72, 14.77).
    building_db: f64,
    /// 0.002 log10(h), dB per metre.
    per_metre: f64,
    break_point_m: f64,
    nlos_at_1_km: f64,
    nlos_per_decade: f64,
}

impl Rma {
    pub fn new(
        carrier: Frequency,
        (base, ue): Heights,
        streets: &Streets,
    ) -> Result<Self, ParameterError> {
        // A note of table 7.4.1-1 limits RMa to 30 GHz; the other ranges are in the table.
        let ghz = ParameterError::range("carrier in GHz for RMa", ghz(carrier), 0.5, 30.0)?;
        ParameterError::range("base station height in m for RMa", base, 10.0, 150.0)?;
        ParameterError::range("UE height in m for RMa", ue, 1.0, 10.0)?;
        let (street_width_m, building_height_m) = (
            streets.street_width.metres(),
            streets.building_height.metres(),
        );
        let height_term = libm::pow(building_height_m, 1.72);
        let height_ratio = building_height_m / base;
        let ue_log = libm::log10(11.75 * ue);
        let nlos_per_decade = 43.42 - 3.1 * libm::log10(base);
        Ok(Self {
            frequency_db: 20.0 * libm::log10(40.0 * core::f64::consts::PI * ghz / 3.0),
            slope: (0.03 * height_term).min(10.0),
            building_db: (0.044 * height_term).min(14.77),
            per_metre: 0.002 * libm::log10(building_height_m),
            break_point_m: 2.0 * core::f64::consts::PI * base * ue * carrier.hertz() / C,
            nlos_at_1_km: 161.04 - 7.1 * libm::log10(street_width_m)
                + 7.5 * libm::log10(building_height_m)
                - (24.37 - 3.7 * height_ratio * height_ratio) * libm::log10(base)
                + 20.0 * libm::log10(ghz)
                - (3.2 * ue_log * ue_log - 4.97),
            nlos_per_decade,
        })
    }

    /// Returns PL1, the loss before the break point.
    fn before_break_point(&self, space_m: f64) -> f64 {
        self.frequency_db + (20.0 + self.slope) * libm::log10(space_m) - self.building_db
            + self.per_metre * space_m
    }

    pub fn db(&self, ground_m: f64, space_m: f64, is_los: bool) -> f64 {
        let los = if ground_m <= self.break_point_m {
            self.before_break_point(space_m)
        } else {
            self.before_break_point(self.break_point_m)
                + 40.0 * libm::log10(space_m / self.break_point_m)
        };
        if is_los {
            return los;
        }
        let decades = libm::log10(space_m) - 3.0;
        los.max(self.nlos_at_1_km + self.nlos_per_decade * decades)
    }
}

/// Returns the probability of line of sight of table 7.4.2-1, UMa, for UEs up to 13 m.
pub(super) fn uma_los_probability(ground_m: f64) -> f64 {
    if ground_m <= 18.0 {
        return 1.0;
    }
    let near = 18.0 / ground_m;
    near + libm::exp(-ground_m / 63.0) * (1.0 - near)
}

/// Returns the probability of line of sight of table 7.4.2-1, RMa.
pub(super) fn rma_los_probability(ground_m: f64) -> f64 {
    if ground_m <= 10.0 {
        return 1.0;
    }
    libm::exp(-(ground_m - 10.0) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::LossCurve;
    use super::super::tests::{assert_db, loss};
    use super::*;
    use crate::settings::PathLoss;

    const UMA: (f64, f64) = (25.0, 1.5);
    const RMA: (f64, f64) = (35.0, 1.5);
    fn rural() -> PathLoss {
        PathLoss::Tr38901Rma(Streets::default())
    }

    /// By hand at 2 GHz: d'BP = 4·24·0.5·2e9/3e8 = 320 m. At 200 m over ground d3D = 201.376 m:
    /// 28 + 22 log10(201.376) + 6.0206 = 84.71. At 1000 m d3D = 1000.276 m:
    /// 28 + 40·3.00012 + 6.0206 - 9 log10(320² + 23.5²) = 108.91.
    #[test]
    fn uma_los_breaks_at_320_m() {
        let at = |m| loss(&PathLoss::Tr38901Uma, 2000.0, UMA, m, true);
        assert_db(at(200.0), 84.709);
        assert_db(at(1_000.0), 108.91);
        let step = at(320.01) - at(319.99);
        assert!(step.abs() < 0.01, "{step}");
    }

    /// 13.54 + 39.08 log10(1000.276) + 6.0206 = 136.81.
    #[test]
    fn uma_nlos() {
        let model = PathLoss::Tr38901Uma;
        assert_db(loss(&model, 2000.0, UMA, 1_000.0, false), 136.805);
    }

    /// By hand at 0.7 GHz, h = 5 m: h^1.72 = 15.930, 20 log10(40π·0.7/3) = 29.344, so that PL1 at
    /// 1000 m (d3D = 1000.561 m) is 29.344 + 20.4779·3.000244 - 0.7009 + 1.3987 = 91.48.
    #[test]
    fn rma_los_before_the_break_point() {
        // d_BP = 2π·35·1.5·0.7e9/3e8 = 769.7 m: 500 m is before it.
        let result = loss(&rural(), 700.0, RMA, 500.0, true);
        let space: f64 = 501.1215;
        let expected = 29.3442 + 20.4779 * space.log10() - 0.7009 + 0.0013979 * space;
        assert_db(result, expected);
    }

    #[test]
    fn rma_rises_with_the_fourth_power_behind_the_break_point() {
        let at = |m| loss(&rural(), 700.0, RMA, m, true);
        assert_db(
            at(10_000.0) - at(1_000.0),
            40.0 * (10_000.056_f64 / 1_000.561).log10(),
        );
    }

    /// 161.04 - 9.2373 + 5.2423 - (24.37 - 0.0755)·1.54407 + 38.6334·(3.000244 - 3) - 3.0980
    /// - (3.2·1.24627² - 4.97).
    #[test]
    fn rma_nlos() {
        let expected = 161.04 - 9.2373 + 5.2423 - 24.2945 * 1.54407 + 0.0094
            - 3.0980
            - (3.2 * 1.246_252 * 1.246_252 - 4.97);
        assert_db(loss(&rural(), 700.0, RMA, 1_000.0, false), expected);
    }

    #[test]
    fn nlos_is_never_better_than_los() {
        for model in [PathLoss::Tr38901Uma, rural()] {
            for ground in 1..500_u32 {
                let ground = f64::from(ground) * 10.0;
                let [los, nlos] =
                    [true, false].map(|sight| loss(&model, 2000.0, RMA, ground, sight));
                assert!(nlos >= los, "{model:?} at {ground} m");
            }
        }
    }

    #[test]
    fn los_probability_follows_table_7_4_2_1() {
        let carrier = Frequency::from_hertz(2000e6);
        let uma = LossCurve::new(&PathLoss::Tr38901Uma, carrier, 25.0, 1.5).unwrap();
        let rma = LossCurve::new(&rural(), carrier, 35.0, 1.5).unwrap();
        assert_eq!(uma.los_probability(18.0), Some(1.0));
        assert_eq!(rma.los_probability(10.0), Some(1.0));
        let far = uma.los_probability(180.0).unwrap();
        assert!((far - (0.1 + 0.9 * (-180.0_f64 / 63.0).exp())).abs() < 1e-12);
        let far = rma.los_probability(1_010.0).unwrap();
        assert!((far - (-1.0_f64).exp()).abs() < 1e-12);
    }
}
