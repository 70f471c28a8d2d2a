//! Path loss: attenuation over distance.

mod hata;
mod lte_macro;
mod tr38901;

pub use crate::settings::{Environment, Sight};

use super::{Carrier, ParameterError};
use tr38901::{Rma, Uma};

/// Model of path loss, by name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PathLossModel {
    /// Free space: (4πd/λ)² (Friis, Proc. IRE 34(5), 1946).
    Friis,
    /// Free space up to a distance, and a power of the distance beyond it.
    LogDistance {
        /// Exponent of the distance: 2 in free space, 3 to 4 in towns.
        exponent: f64,
        /// Distance up to which free space is assumed, in metres.
        reference_m: f64,
    },
    /// Hata's formulas for Okumura's curves, 150 to 1500 MHz (Hata, IEEE Trans. Veh. Tech. 29(3),
    /// 1980).
    OkumuraHata(Environment),
    /// COST 231's extension of Hata's model to 1500 to 2000 MHz (COST 231 final report, §4.4.1).
    Cost231Hata(Environment),
    /// Macro cells in urban and suburban areas, TR 36.942 §4.5.2.
    UrbanMacro36942 {
        /// Height of the base station's antenna above the average rooftop, in metres; 15 in TR 36.942.
        above_roofs_m: f64,
    },
    /// Macro cells in rural areas, TR 36.942 §4.5.3.
    RuralMacro36942,
    /// Macro cells of case 1 and 3, TR 36.814 table A.2.1.1-2: 128.1 + 37.6 log10(R/km) at 2 GHz.
    Macro36814,
    /// Macro cells with and without line of sight at 2 GHz, TR 36.814 table A.2.1.1.2-3, model 2.
    SightedMacro36814,
    /// Urban macro, TR 38.901 table 7.4.1-1.
    Uma38901,
    /// Rural macro, TR 38.901 table 7.4.1-1.
    Rma38901 {
        /// Average width of streets (W), 5 to 50 m; the table has 20.
        street_width_m: f64,
        /// Average height of buildings (h), 5 to 50 m; the table has 5.
        building_height_m: f64,
    },
}

/// Path loss for one carrier and one pair of heights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathLoss {
    curve: Curve,
    base_height_m: f64,
    ue_height_m: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Curve {
    /// Line over the distance through space, from the nearest distance on.
    Spatial(Line, f64),
    /// Line over the distance on the ground, never less than the one of free space.
    Ground(Line, Line),
    /// Lines with and without line of sight, over the distance on the ground.
    Sighted(Line, Line),
    Uma(Uma),
    Rma(Rma),
}

/// Straight line over the logarithm of the distance.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Line {
    at_1_m: f64,
    per_decade: f64,
}

impl Line {
    fn free_space(carrier: Carrier) -> Self {
        let at_1_m = 20.0 * libm::log10(4.0 * core::f64::consts::PI / carrier.wavelength_m());
        Self {
            at_1_m,
            per_decade: 20.0,
        }
    }

    /// Makes a line from a formula in kilometres.
    fn over_km(at_1_km: f64, per_decade: f64) -> Self {
        Self {
            at_1_m: at_1_km - 3.0 * per_decade,
            per_decade,
        }
    }

    fn db(&self, distance_m: f64) -> f64 {
        self.at_1_m + self.per_decade * libm::log10(distance_m)
    }
}

/// Least distance in metres; far-field formulas mean nothing below it.
const NEAREST_M: f64 = 1.0;

impl PathLoss {
    /// Returns the `model` on `carrier` between antennas at these heights over ground, in metres.
    pub fn new(
        model: PathLossModel,
        carrier: Carrier,
        base_height_m: f64,
        ue_height_m: f64,
    ) -> Result<Self, ParameterError> {
        ParameterError::range("base station height in m", base_height_m, 1.0, 1e3)?;
        ParameterError::range("UE height in m", ue_height_m, 0.5, 100.0)?;
        let free_space = Line::free_space(carrier);
        let heights = (base_height_m, ue_height_m);
        let curve = match model {
            PathLossModel::Friis => Curve::Spatial(free_space, NEAREST_M),
            PathLossModel::LogDistance {
                exponent,
                reference_m,
            } => {
                ParameterError::range("path-loss exponent", exponent, 1.0, 8.0)?;
                ParameterError::range("reference distance in m", reference_m, NEAREST_M, 1e4)?;
                let per_decade = 10.0 * exponent;
                let at_1_m = free_space.db(reference_m) - per_decade * libm::log10(reference_m);
                let line = Line { at_1_m, per_decade };
                Curve::Spatial(line, reference_m)
            }
            PathLossModel::OkumuraHata(environment) => {
                Curve::Ground(hata::okumura(environment, carrier, heights)?, free_space)
            }
            PathLossModel::Cost231Hata(environment) => {
                Curve::Ground(hata::cost231(environment, carrier, heights)?, free_space)
            }
            PathLossModel::UrbanMacro36942 { above_roofs_m } => {
                Curve::Ground(lte_macro::urban(carrier, above_roofs_m)?, free_space)
            }
            PathLossModel::RuralMacro36942 => {
                Curve::Ground(lte_macro::rural(carrier, base_height_m)?, free_space)
            }
            PathLossModel::Macro36814 => Curve::Ground(lte_macro::at_2_ghz(carrier)?, free_space),
            PathLossModel::SightedMacro36814 => {
                let (line, no_line) = lte_macro::sighted_at_2_ghz(carrier)?;
                Curve::Sighted(line, no_line)
            }
            PathLossModel::Uma38901 => Curve::Uma(Uma::new(carrier, heights)?),
            PathLossModel::Rma38901 {
                street_width_m,
                building_height_m,
            } => Curve::Rma(Rma::new(
                carrier,
                heights,
                street_width_m,
                building_height_m,
            )?),
        };
        Ok(Self {
            curve,
            base_height_m,
            ue_height_m,
        })
    }

    /// Returns the loss in dB at a distance over ground in metres. Models without line of sight ignore `in_sight`.
    /// Below the least distance of a model, that distance counts; beyond its largest one the formula is continued.
    pub(crate) fn loss_db(&self, ground_m: f64, in_sight: bool) -> f64 {
        let through_space =
            |ground: f64| libm::hypot(ground, self.base_height_m - self.ue_height_m);
        match &self.curve {
            Curve::Spatial(line, nearest_m) => line.db(through_space(ground_m).max(*nearest_m)),
            Curve::Ground(line, free_space) => {
                let distance = ground_m.max(NEAREST_M);
                line.db(distance).max(free_space.db(distance))
            }
            Curve::Sighted(line, no_line) => {
                let distance = ground_m.max(lte_macro::NEAREST_M);
                if in_sight { line } else { no_line }.db(distance)
            }
            Curve::Uma(uma) => {
                let ground = ground_m.max(tr38901::NEAREST_M);
                uma.db(ground, through_space(ground), in_sight)
            }
            Curve::Rma(rma) => {
                let ground = ground_m.max(tr38901::NEAREST_M);
                rma.db(ground, through_space(ground), in_sight)
            }
        }
    }

    /// Returns the probability that the base station is in sight at a distance over ground in metres; `None` for
    /// models without line of sight.
    pub(crate) fn sight_probability(&self, ground_m: f64) -> Option<f64> {
        match &self.curve {
            Curve::Spatial(..) | Curve::Ground(..) => None,
            Curve::Sighted(..) => Some(lte_macro::sight_probability(ground_m)),
            Curve::Uma(_) => Some(tr38901::uma_sight_probability(ground_m)),
            Curve::Rma(_) => Some(tr38901::rma_sight_probability(ground_m)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn loss(
        model: PathLossModel,
        mhz: f64,
        heights: (f64, f64),
        ground_m: f64,
        in_sight: bool,
    ) -> f64 {
        PathLoss::new(model, Carrier::from_mhz(mhz).unwrap(), heights.0, heights.1)
            .unwrap()
            .loss_db(ground_m, in_sight)
    }

    #[track_caller]
    pub(super) fn assert_db(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01, "{found} for {expected}");
    }

    /// 32.45 + 20 log10(f/MHz) + 20 log10(d/km), through space.
    #[test]
    fn free_space_follows_friis() {
        let found = loss(PathLossModel::Friis, 2620.0, (1.5, 1.5), 600.0, true);
        assert_db(found, 32.448 + 68.366 - 4.437);
        let above = loss(PathLossModel::Friis, 2620.0, (31.5, 1.5), 40.0, true);
        assert_db(above, 32.448 + 68.366 - 26.021);
    }

    #[test]
    fn log_distance_leaves_free_space_at_its_reference() {
        let model = PathLossModel::LogDistance {
            exponent: 3.5,
            reference_m: 100.0,
        };
        let at = |m| loss(model, 2000.0, (1.5, 1.5), m, true);
        let friis = loss(PathLossModel::Friis, 2000.0, (1.5, 1.5), 100.0, true);
        assert_db(at(100.0), friis);
        assert_db(at(1000.0), friis + 35.0);
        assert_db(at(10.0), friis);
    }

    #[test]
    fn no_model_falls_below_free_space_where_it_is_continued_to_short_distances() {
        for (model, mhz) in [
            (PathLossModel::OkumuraHata(Environment::Open), 900.0),
            (PathLossModel::Cost231Hata(Environment::MediumCity), 1800.0),
            (PathLossModel::RuralMacro36942, 900.0),
            (PathLossModel::Macro36814, 2000.0),
        ] {
            let near = loss(model, mhz, (45.0, 1.5), 1.0, true);
            let free = loss(PathLossModel::Friis, mhz, (1.5, 1.5), 1.0, true);
            assert!(near >= free, "{model:?}: {near} < {free}");
        }
    }
}
