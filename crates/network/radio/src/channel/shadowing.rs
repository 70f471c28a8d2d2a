//! Shadowing by buildings and terrain, correlated over distance.

use units::random::{Purpose, RngStream};

use super::Position;
use super::sinusoids::sine_of_turn;

/// Number of plane waves that make one field.
const WAVES: usize = 64;

/// Maximum product of wave number and correlation distance: finer structure carries less than a thousandth of the
/// variance.
const MAX_WAVE_NUMBER: f64 = 1e3;

/// Field over the plane, normal with mean 0 and variance 1, whose correlation falls exponentially with distance. Its
/// value at a position does not depend on the order of the queries.
///
/// It is a sum of plane waves. Directions and phases are drawn freely, and wave numbers are drawn from the spectrum
/// of the correlation, one from each of equal shares (Cai and Giannakis, "A two-dimensional channel simulation model
/// for shadowing processes", IEEE Trans. Veh. Tech. 52(6), 2003).
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ShadowingField {
    /// Turns per metre towards east and north, and turns at the origin.
    waves: Vec<[f64; 3]>,
}

impl ShadowingField {
    /// Returns the field of `site` for `purpose`; `None` is the field that all sites share.
    pub(crate) fn new(
        seed: u64,
        purpose: Purpose,
        site: Option<u32>,
        correlation_distance_m: f64,
    ) -> Self {
        let entity = site.map_or(0, |site| site + 1);
        let mut stream = RngStream::new(seed, purpose, entity);
        let waves = (0..WAVES)
            .map(|index| {
                // exp(-r/d) in the plane has a spectrum of which the share 1 - 1/sqrt(1 + (kd)²) is
                // below the wave number k.
                let above = 1.0 - (index as f64 + stream.uniform()) / WAVES as f64;
                let wave_number = libm::sqrt(1.0 / (above * above) - 1.0).min(MAX_WAVE_NUMBER);
                let per_m = wave_number / correlation_distance_m / core::f64::consts::TAU;
                let direction = core::f64::consts::TAU * stream.uniform();
                [
                    per_m * libm::cos(direction),
                    per_m * libm::sin(direction),
                    stream.uniform(),
                ]
            })
            .collect();
        Self { waves }
    }

    /// Returns the value at a position. The height has no effect.
    pub fn at(&self, position: &Position) -> f64 {
        /// One turn in steps of 32 bits.
        const TURN: f64 = 4_294_967_296.0;
        let mut sum = 0.0;
        for [east, north, phase] in &self.waves {
            let turns = east * position.x + north * position.y + phase;
            sum += f64::from(sine_of_turn((turns * TURN) as i64 as u32));
        }
        sum * libm::sqrt(2.0 / WAVES as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(seed: u64) -> ShadowingField {
        ShadowingField::new(seed, Purpose::Shadowing, Some(3), 50.0)
    }

    /// Over many draws: variance 1, correlation exp(-d/50 m), in any direction.
    #[test]
    fn correlation_falls_exponentially_with_distance() {
        let draws = 4_000_u32;
        let from = Position::new(-1234.0, 777.0, 0.0);
        for (east, north) in [
            (0.0, 0.0),
            (10.0, 0.0),
            (0.0, 25.0),
            (-30.0, 40.0),
            (150.0, 0.0),
        ] {
            let to = Position::new(from.x + east, from.y + north, 0.0);
            let product = |seed| {
                let field = field(u64::from(seed));
                field.at(&from) * field.at(&to)
            };
            let result = (0..draws).map(product).sum::<f64>() / f64::from(draws);
            let expected = (-east.hypot(north) / 50.0).exp();
            assert!(
                (result - expected).abs() < 0.05,
                "{east}, {north}: {result} for {expected}"
            );
        }
    }

    /// Fourth moment 3, and 2.3 % of the values above two standard deviations.
    #[test]
    fn values_are_normal() {
        let draws = 20_000_u32;
        let position = Position::new(321.0, -50.0, 1.5);
        let values: Vec<f64> = (0..draws)
            .map(|seed| field(u64::from(seed)).at(&position))
            .collect();
        let mean_of =
            |f: &dyn Fn(f64) -> f64| values.iter().map(|&v| f(v)).sum::<f64>() / f64::from(draws);
        assert!(mean_of(&|v| v).abs() < 0.03);
        assert!((mean_of(&|v| v.powi(4)) - 3.0).abs() < 0.2);
        let above = mean_of(&|v| f64::from(u8::from(v > 2.0)));
        assert!((above - 0.0228).abs() < 0.004, "{above}");
    }

    #[test]
    fn sites_differ_and_seeds_repeat() {
        let position = Position::new(10.0, 20.0, 0.0);
        let other = ShadowingField::new(1, Purpose::Shadowing, Some(4), 50.0);
        assert_ne!(field(1).at(&position), other.at(&position));
        assert_eq!(
            field(1).at(&position).to_bits(),
            field(1).at(&position).to_bits()
        );
    }
}
