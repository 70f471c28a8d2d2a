//! Path loss: attenuation over distance.

mod hata;
mod lte_macro;
mod tr38901;

use units::Frequency;

use super::{ParameterError, wavelength_m};
use crate::settings::PathLoss;
use tr38901::{Rma, Uma};

/// Path loss for one carrier and one pair of heights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LossCurve {
    curve: Curve,
    base_height_m: f64,
    ue_height_m: f64,
}

/// Formula of a model.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Curve {
    /// Line over the distance through space, and the minimum distance that counts.
    Spatial(Line, f64),
    /// Line over the distance on the ground, and the line of free space below which the loss never is.
    Ground(Line, Line),
    /// Lines with and without line of sight, over the distance on the ground.
    LosNlos(Line, Line),
    Uma(Uma),
    Rma(Rma),
}

/// Loss in dB as a straight line over the logarithm of the distance.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Line {
    at_1_m: f64,
    per_decade: f64,
}

impl Line {
    fn free_space(carrier: Frequency) -> Self {
        let at_1_m = 20.0 * libm::log10(4.0 * core::f64::consts::PI / wavelength_m(carrier));
        Self {
            at_1_m,
            per_decade: 20.0,
        }
    }

    /// Returns the line of a formula in kilometres.
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

/// Heights of base station and UE over ground, m.
type Heights = (f64, f64);

fn mhz(carrier: Frequency) -> f64 {
    carrier.hertz() * 1e-6
}

fn ghz(carrier: Frequency) -> f64 {
    carrier.hertz() * 1e-9
}

/// Minimum distance in metres; far-field formulas mean nothing below it.
const MIN_DISTANCE_M: f64 = 1.0;

impl LossCurve {
    /// Returns the `model` on `carrier` between antennas at these heights over ground, in metres.
    pub fn new(
        model: &PathLoss,
        carrier: Frequency,
        base_height_m: f64,
        ue_height_m: f64,
    ) -> Result<Self, ParameterError> {
        let free_space = Line::free_space(carrier);
        let heights = (base_height_m, ue_height_m);
        let curve = match model {
            PathLoss::Friis => Curve::Spatial(free_space, MIN_DISTANCE_M),
            PathLoss::LogDistance(log) => {
                let reference_m = log.reference.metres();
                let per_decade = 10.0 * log.exponent;
                let at_1_m = free_space.db(reference_m) - per_decade * libm::log10(reference_m);
                Curve::Spatial(Line { at_1_m, per_decade }, reference_m)
            }
            PathLoss::OkumuraHata(hata) => {
                let line = hata::okumura(hata.environment, carrier, heights)?;
                Curve::Ground(line, free_space)
            }
            PathLoss::Cost231Hata(hata) => {
                let line = hata::cost231(hata.environment, carrier, heights)?;
                Curve::Ground(line, free_space)
            }
            PathLoss::Tr36942Urban(roofs) => {
                let line = lte_macro::urban(carrier, roofs.above_roofs.metres());
                Curve::Ground(line, free_space)
            }
            PathLoss::Tr36942Rural => {
                Curve::Ground(lte_macro::rural(carrier, base_height_m)?, free_space)
            }
            PathLoss::Tr36814Macro => Curve::Ground(lte_macro::at_2_ghz(carrier)?, free_space),
            PathLoss::Tr36814Sighted => {
                let (los, nlos) = lte_macro::los_and_nlos_at_2_ghz(carrier)?;
                Curve::LosNlos(los, nlos)
            }
            PathLoss::Tr38901Uma => Curve::Uma(Uma::new(carrier, heights)?),
            PathLoss::Tr38901Rma(streets) => Curve::Rma(Rma::new(carrier, heights, streets)?),
        };
        Ok(Self {
            curve,
            base_height_m,
            ue_height_m,
        })
    }

    /// Returns the loss in dB at a distance over ground in metres. Models without line of sight ignore `is_los`.
    /// Shorter distances than the minimum of a model count as that; beyond its maximum the formula is continued.
    pub fn loss_db(&self, ground_m: f64, is_los: bool) -> f64 {
        let through_space =
            |ground: f64| libm::hypot(ground, self.base_height_m - self.ue_height_m);
        match &self.curve {
            Curve::Spatial(line, min_distance_m) => {
                line.db(through_space(ground_m).max(*min_distance_m))
            }
            Curve::Ground(line, free_space) => {
                let distance = ground_m.max(MIN_DISTANCE_M);
                line.db(distance).max(free_space.db(distance))
            }
            Curve::LosNlos(los, nlos) => {
                let distance = ground_m.max(lte_macro::MIN_DISTANCE_M);
                if is_los { los } else { nlos }.db(distance)
            }
            Curve::Uma(uma) => {
                let ground = ground_m.max(tr38901::MIN_DISTANCE_M);
                uma.db(ground, through_space(ground), is_los)
            }
            Curve::Rma(rma) => {
                let ground = ground_m.max(tr38901::MIN_DISTANCE_M);
                rma.db(ground, through_space(ground), is_los)
            }
        }
    }

    /// Returns the probability that the base station is in sight at a distance over ground in metres; `None` for
    /// models without line of sight.
    pub(crate) fn los_probability(&self, ground_m: f64) -> Option<f64> {
        match &self.curve {
            Curve::Spatial(..) | Curve::Ground(..) => None,
            Curve::LosNlos(..) => Some(lte_macro::los_probability(ground_m)),
            Curve::Uma(_) => Some(tr38901::uma_los_probability(ground_m)),
            Curve::Rma(_) => Some(tr38901::rma_los_probability(ground_m)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Environment, Hata, LogDistance};

    pub(super) fn loss(
        model: &PathLoss,
        mhz: f64,
        heights: (f64, f64),
        ground_m: f64,
        is_los: bool,
    ) -> f64 {
        LossCurve::new(
            model,
            Frequency::from_hertz(mhz * 1e6),
            heights.0,
            heights.1,
        )
        .unwrap()
        .loss_db(ground_m, is_los)
    }

    #[track_caller]
    pub(super) fn assert_db(result: f64, expected: f64) {
        assert!((result - expected).abs() < 0.01, "{result} for {expected}");
    }

    /// 32.45 + 20 log10(f/MHz) + 20 log10(d/km), through space.
    #[test]
    fn free_space_follows_friis() {
        let result = loss(&PathLoss::Friis, 2620.0, (1.5, 1.5), 600.0, true);
        assert_db(result, 32.448 + 68.366 - 4.437);
        let above = loss(&PathLoss::Friis, 2620.0, (31.5, 1.5), 40.0, true);
        assert_db(above, 32.448 + 68.366 - 26.021);
    }

    #[test]
    fn log_distance_leaves_free_space_at_its_reference() {
        let model = PathLoss::LogDistance(LogDistance::default());
        let at = |m| loss(&model, 2000.0, (1.5, 1.5), m, true);
        let friis = loss(&PathLoss::Friis, 2000.0, (1.5, 1.5), 100.0, true);
        assert_db(at(100.0), friis);
        assert_db(at(1000.0), friis + 35.0);
        assert_db(at(10.0), friis);
    }

    #[test]
    fn no_model_falls_below_free_space_where_it_is_continued_to_short_distances() {
        for (model, mhz) in [
            (
                PathLoss::OkumuraHata(Hata {
                    environment: Environment::Open,
                }),
                900.0,
            ),
            (PathLoss::Cost231Hata(Hata::default()), 1800.0),
            (PathLoss::Tr36942Rural, 900.0),
            (PathLoss::Tr36814Macro, 2000.0),
        ] {
            let near = loss(&model, mhz, (45.0, 1.5), 1.0, true);
            let free = loss(&PathLoss::Friis, mhz, (1.5, 1.5), 1.0, true);
            assert!(near >= free, "{model:?}: {near} < {free}");
        }
    }
}
