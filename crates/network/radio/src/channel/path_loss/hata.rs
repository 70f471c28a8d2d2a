//! Path loss by Hata's formulas and their extension by COST 231.

use units::Frequency;

use super::{Heights, Line, mhz};
use crate::channel::ParameterError;
use crate::settings::Environment;

fn check_heights((base, ue): Heights) -> Result<(), ParameterError> {
    ParameterError::range(
        "base station height in m for Hata's model",
        base,
        30.0,
        200.0,
    )?;
    ParameterError::range("UE height in m for Hata's model", ue, 1.0, 10.0)?;
    Ok(())
}

/// Returns the slope 44.9 - 6.55 log10(hb), dB per decade of distance.
pub(super) fn per_decade(base_height_m: f64) -> f64 {
    44.9 - 6.55 * libm::log10(base_height_m)
}

/// Returns a(hm) for small and medium cities.
fn medium_city_correction(mhz: f64, ue_height_m: f64) -> f64 {
    let log = libm::log10(mhz);
    (1.1 * log - 0.7) * ue_height_m - (1.56 * log - 0.8)
}

/// Returns a(hm) for large cities. Hata gives the first formula up to 200 MHz and the second from 400 MHz on. The
/// boundary is set to the middle.
fn large_city_correction(mhz: f64, ue_height_m: f64) -> f64 {
    let square = |factor: f64| {
        let log = libm::log10(factor * ue_height_m);
        log * log
    };
    if mhz <= 300.0 {
        8.29 * square(1.54) - 1.1
    } else {
        3.2 * square(11.75) - 4.97
    }
}

/// Returns the loss that open country has less than a city: 4.78 log10(f)² - 18.33 log10(f) + 40.94.
pub(super) fn open_area_gain(mhz: f64) -> f64 {
    let log = libm::log10(mhz);
    4.78 * log * log - 18.33 * log + 40.94
}

/// Returns the line of Okumura-Hata.
pub(super) fn okumura(
    environment: Environment,
    carrier: Frequency,
    heights: Heights,
) -> Result<Line, ParameterError> {
    check_heights(heights)?;
    let field = "carrier in MHz for Okumura-Hata";
    let mhz = ParameterError::range(field, mhz(carrier), 150.0, 1500.0)?;
    let (base, ue) = heights;
    let city = 69.55 + 26.16 * libm::log10(mhz) - 13.82 * libm::log10(base);
    let at_1_km = match environment {
        Environment::LargeCity => city - large_city_correction(mhz, ue),
        Environment::MediumCity => city - medium_city_correction(mhz, ue),
        Environment::Suburban => {
            let log = libm::log10(mhz / 28.0);
            city - medium_city_correction(mhz, ue) - 2.0 * log * log - 5.4
        }
        Environment::Open => city - medium_city_correction(mhz, ue) - open_area_gain(mhz),
    };
    Ok(Line::over_km(at_1_km, per_decade(base)))
}

/// Returns the line of COST 231 Hata.
pub(super) fn cost231(
    environment: Environment,
    carrier: Frequency,
    heights: Heights,
) -> Result<Line, ParameterError> {
    check_heights(heights)?;
    let field = "carrier in MHz for COST 231 Hata";
    let mhz = ParameterError::range(field, mhz(carrier), 1500.0, 2000.0)?;
    let metropolitan = match environment {
        Environment::LargeCity => 3.0,
        Environment::MediumCity | Environment::Suburban => 0.0,
        Environment::Open => {
            return Err(ParameterError::new(
                "environment of COST 231 Hata",
                "open",
                "must be a city or suburbs: the model has no open country",
            ));
        }
    };
    let (base, ue) = heights;
    let at_1_km = 46.3 + 33.9 * libm::log10(mhz)
        - 13.82 * libm::log10(base)
        - medium_city_correction(mhz, ue)
        + metropolitan;
    Ok(Line::over_km(at_1_km, per_decade(base)))
}

#[cfg(test)]
mod tests {
    use super::super::LossCurve;
    use super::super::tests::{assert_db, loss};
    use super::*;
    use crate::settings::{Hata, PathLoss};

    /// By hand: 69.55 + 77.281 - 20.414 = 126.42 at 900 MHz, 30 m, 1 km; a(1.5 m) = 0.016 in a medium
    /// city, -0.0009 in a large one; slope 35.22 dB.
    #[test]
    fn okumura_hata_at_900_mhz() {
        let at = |environment, m| {
            let model = PathLoss::OkumuraHata(Hata { environment });
            loss(&model, 900.0, (30.0, 1.5), m, false)
        };
        assert_db(at(Environment::MediumCity, 1_000.0), 126.40);
        assert_db(at(Environment::LargeCity, 1_000.0), 126.42);
        assert_db(at(Environment::MediumCity, 10_000.0), 126.40 + 35.22);
        assert_db(at(Environment::Suburban, 1_000.0), 126.40 - 9.94);
        assert_db(at(Environment::Open, 1_000.0), 126.40 - 28.51);
    }

    /// By hand: 46.3 + 33.9 log10(1800) - 13.82 log10(30) - a(1.5 m).
    #[test]
    fn cost_231_hata_at_1800_mhz() {
        let at = |environment| {
            let model = PathLoss::Cost231Hata(Hata { environment });
            loss(&model, 1800.0, (30.0, 1.5), 1_000.0, false)
        };
        assert_db(at(Environment::MediumCity), 46.3 + 110.353 - 20.414 - 0.043);
        assert_db(
            at(Environment::LargeCity),
            46.3 + 110.353 - 20.414 - 0.043 + 3.0,
        );
    }

    #[test]
    fn a_carrier_outside_the_model_is_rejected() {
        let model = PathLoss::Cost231Hata(Hata::default());
        let carrier = Frequency::from_hertz(2620e6);
        let error = LossCurve::new(&model, carrier, 30.0, 1.5).unwrap_err();
        assert_eq!(
            error.to_string(),
            "carrier in MHz for COST 231 Hata = 2620 must be from 1500 to 2000"
        );
    }
}
