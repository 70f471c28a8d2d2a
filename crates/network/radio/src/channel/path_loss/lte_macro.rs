//! Path loss of the macro cells of TR 36.942 and TR 36.814.

use units::Frequency;

use super::{Line, hata, mhz};
use crate::channel::ParameterError;

/// Minimum distance between UE and base station, TR 36.814 table A.2.1.1-2, in metres.
pub(super) const MIN_DISTANCE_M: f64 = 35.0;

/// Returns the line of TR 36.942 §4.5.2: 40(1 - 0.004 Dhb) log10(R) - 18 log10(Dhb) + 21 log10(f) + 80.
pub(super) fn urban(carrier: Frequency, above_roofs_m: f64) -> Line {
    let at_1_km = 80.0 - 18.0 * libm::log10(above_roofs_m) + 21.0 * libm::log10(mhz(carrier));
    Line::over_km(at_1_km, 40.0 * (1.0 - 4e-3 * above_roofs_m))
}

/// Returns the line of TR 36.942 §4.5.3: Hata's city minus the gain of open country, without correction for the UE.
pub(super) fn rural(carrier: Frequency, base_height_m: f64) -> Result<Line, ParameterError> {
    let field = "base station height in m for TR 36.942";
    let base = ParameterError::range(field, base_height_m, 10.0, 200.0)?;
    let mhz = mhz(carrier);
    let at_1_km =
        69.55 + 26.16 * libm::log10(mhz) - 13.82 * libm::log10(base) - hata::open_area_gain(mhz);
    Ok(Line::over_km(at_1_km, hata::per_decade(base)))
}

fn check_2_ghz(carrier: Frequency) -> Result<(), ParameterError> {
    let field = "carrier in MHz for TR 36.814";
    ParameterError::range(field, mhz(carrier), 1900.0, 2200.0).map(|_| ())
}

/// Returns the line of TR 36.814 table A.2.1.1-2.
pub(super) fn at_2_ghz(carrier: Frequency) -> Result<Line, ParameterError> {
    check_2_ghz(carrier)?;
    Ok(Line::over_km(128.1, 37.6))
}

/// Returns the lines with and without line of sight of TR 36.814 table A.2.1.1.2-3, model 2.
pub(super) fn los_and_nlos_at_2_ghz(carrier: Frequency) -> Result<(Line, Line), ParameterError> {
    check_2_ghz(carrier)?;
    Ok((Line::over_km(103.4, 24.2), Line::over_km(131.1, 42.8)))
}

/// Returns the probability of line of sight of TR 36.814 table A.2.1.1.2-3, model 2, case 1: min(0.018/R, 1)(1 -
/// exp(-R/0.063)) + exp(-R/0.063), R in km.
pub(super) fn los_probability(ground_m: f64) -> f64 {
    let far = libm::exp(-ground_m / 63.0);
    (18.0 / ground_m.max(MIN_DISTANCE_M)).min(1.0) * (1.0 - far) + far
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_db, loss};
    use crate::settings::{PathLoss, Roofs};

    /// TR 36.942 §4.5.2 gives 128.1 + 37.6 log10(R) at 2 GHz and 120.9 + 37.6 log10(R) at 900 MHz for
    /// an antenna 15 m above the roofs.
    #[test]
    fn urban_macro_cells_have_the_lines_that_tr_36_942_prints() {
        let model = PathLoss::Tr36942Urban(Roofs::default());
        for (mhz, at_1_km) in [(2000.0, 128.15), (900.0, 120.87)] {
            assert_db(loss(&model, mhz, (30.0, 1.5), 1_000.0, false), at_1_km);
            let far = loss(&model, mhz, (30.0, 1.5), 10_000.0, false);
            assert_db(far, at_1_km + 37.6);
        }
    }

    /// TR 36.942 §4.5.3: 95.5 + 34.1 log10(R) at 900 MHz with an antenna at 45 m.
    #[test]
    fn rural_macro_cells_have_the_line_that_tr_36_942_prints() {
        let model = PathLoss::Tr36942Rural;
        let at = |m| loss(&model, 900.0, (45.0, 1.5), m, false);
        assert!((at(1_000.0) - 95.5).abs() < 0.05, "{}", at(1_000.0));
        assert!((at(10_000.0) - at(1_000.0) - 34.1).abs() < 0.05);
    }

    #[test]
    fn tr_36_814_tells_line_of_sight_apart() {
        let model = PathLoss::Tr36814Sighted;
        let heights = (32.0, 1.5);
        assert_db(loss(&model, 2000.0, heights, 1_000.0, true), 103.4);
        assert_db(loss(&model, 2000.0, heights, 100.0, false), 131.1 - 42.8);
        assert_db(
            loss(&PathLoss::Tr36814Macro, 2000.0, heights, 500.0, false),
            116.78,
        );
    }

    #[test]
    fn near_base_stations_have_los() {
        assert!(super::los_probability(1.0) > 0.98);
        let far = super::los_probability(1_000.0);
        assert!((far - 0.018).abs() < 1e-4, "{far}");
    }
}
