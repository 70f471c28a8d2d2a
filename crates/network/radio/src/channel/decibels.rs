//! Conversion of powers to decibels, fast and the same on every machine.

/// Lowest power, -120 dB; smaller ones count as this one.
const FLOOR: f32 = 1e-12;

/// Bits of the mantissa of a 32-bit number.
const MANTISSA: u32 = 23;

/// Bits of sqrt(1/2).
const ROOT_OF_HALF: u32 = 0x3f35_04f3;

/// Returns 10 log10 of `power`, within 3e-5 dB and never below -120 dB.
///
/// The power is split into 2^e (1 + t) with 1 + t from sqrt(1/2) to sqrt(2). The logarithm of 1 + t is t times the
/// polynomial that interpolates 10 log10(1 + t)/t in the Chebyshev nodes.
pub(crate) fn to_db(power: f32) -> f32 {
    let bits = power.max(FLOOR).to_bits().wrapping_sub(ROOT_OF_HALF);
    let exponent = (bits as i32 >> MANTISSA) as f32;
    let fraction = f32::from_bits((bits & ((1 << MANTISSA) - 1)) + ROOT_OF_HALF);
    let t = fraction - 1.0;
    let inner = 0.891_408_7 + t * (-0.806_651_65 + t * 0.506_292_1);
    let slope =
        4.342_949_4 + t * (-2.171_510_5 + t * (1.446_789_7 + t * (-1.082_276_5 + t * inner)));
    10.0 * core::f32::consts::LOG10_2 * exponent + t * slope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_a_logarithm() {
        let mut power = 1.1e-12_f64;
        while power < 1e6 {
            let exact = 10.0 * libm::log10(f64::from(power as f32));
            let error = (f64::from(to_db(power as f32)) - exact).abs();
            assert!(error < 3e-5, "{power}: {error}");
            power *= 1.003;
        }
    }

    #[test]
    fn no_power_is_the_floor() {
        assert!((to_db(0.0) + 120.0).abs() < 1e-4);
        assert_eq!(to_db(1.0), 0.0);
    }
}
