//! Sums of rotating phasors, exact in time and the same on every machine.
//!
//! A phase is a 64-bit fraction of a turn, and a frequency is turns per nanosecond in the same fractions (steps of
//! 5e-11 Hz). Wrapping integer arithmetic therefore gives the phase at any nanosecond without rounding. Sine and
//! cosine are a polynomial in plain 32-bit operations, which compilers vectorise and no machine rounds differently.

/// 2^64 / 10^9: hertz to fractions of a turn per nanosecond.
const TURN_PER_NS_PER_HZ: f64 = 18_446_744_073.709_553;

/// One turn: 2^64.
const TURN: f64 = 18_446_744_073_709_551_616.0;

/// Phasors that are summed up together: the width that vectorises well.
pub(crate) const WAVES: usize = 16;

/// Converts a phase in turns to a 64-bit fraction of a turn.
pub(crate) fn wrapped_phase(turns: f64) -> u64 {
    ((turns - libm::floor(turns)) * TURN) as u64
}

/// [`WAVES`] phasors of unit length, each with its own frequency and phase.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sinusoids {
    phase: [u64; WAVES],
    per_ns: [u64; WAVES],
}

impl Sinusoids {
    /// Returns phasors with these frequencies in hertz (of either sign) and phases in turns.
    pub(crate) fn new(waves: [(f64, f64); WAVES]) -> Self {
        Self {
            phase: waves.map(|(_, phase)| wrapped_phase(phase)),
            per_ns: waves.map(|(hz, _)| libm::round(hz * TURN_PER_NS_PER_HZ) as i64 as u64),
        }
    }

    /// Returns the real and the imaginary part of the sum of the phasors at `ns` nanoseconds.
    pub(crate) fn sum(&self, ns: u64) -> (f32, f32) {
        let mut turn = [0_u32; WAVES];
        for ((turn, &phase), &per_ns) in turn.iter_mut().zip(&self.phase).zip(&self.per_ns) {
            *turn = (phase.wrapping_add(per_ns.wrapping_mul(ns)) >> 32) as u32;
        }
        let (mut re, mut im) = ([0.0_f32; WAVES], [0.0_f32; WAVES]);
        for i in 0..WAVES {
            re[i] = sine_of_turn(turn[i].wrapping_add(QUARTER));
            im[i] = sine_of_turn(turn[i]);
        }
        (pairwise(re), pairwise(im))
    }
}

/// A quarter of a turn.
const QUARTER: u32 = 1 << 30;

/// Sums the values in a fixed order that keeps lanes apart.
fn pairwise(mut values: [f32; WAVES]) -> f32 {
    let mut half = WAVES / 2;
    while half > 0 {
        for i in 0..half {
            values[i] += values[i + half];
        }
        half /= 2;
    }
    values[0]
}

/// Returns sin 2π(turn/2^32), within 6e-7.
///
/// With x in half turns from -1 to 1, sin πx is odd, and its size is symmetric around 1/2. It is therefore a smooth
/// function of y = 4|x|(1-|x|): y times the cubic that interpolates sin(πx)/y in the Chebyshev nodes of 0 to 1.
pub(crate) fn sine_of_turn(turn: u32) -> f32 {
    let x = turn as i32 as f32 * (1.0 / 2_147_483_648.0);
    let size = x.abs();
    let y = 4.0 * (size - size * size);
    let cubic =
        core::f32::consts::FRAC_PI_4 + y * (0.196_355_38 + y * (0.017_400_145 + y * 8.463_062e-4));
    (y * cubic).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_a_sine() {
        for step in 0..100_000_u32 {
            let turn = step.wrapping_mul(42_949);
            let exact = libm::sin(core::f64::consts::TAU * f64::from(turn) / 4_294_967_296.0);
            let error = (f64::from(sine_of_turn(turn)) - exact).abs();
            assert!(error < 6e-7, "{turn}: {error}");
        }
    }

    #[test]
    fn a_wave_is_where_its_frequency_says_even_after_a_week() {
        let mut waves = [(0.0, 0.25); WAVES];
        waves[0] = (-147.25, 0.1);
        let waves = Sinusoids::new(waves);
        for second in [0.0, 0.001, 1.0, 604_800.125] {
            let (re, im) = waves.sum((second * 1e9) as u64);
            let angle = core::f64::consts::TAU * (0.1 - (147.25 * second) % 1.0);
            let others = (WAVES - 1) as f64;
            assert!((f64::from(re) - libm::cos(angle)).abs() < 2e-4, "{second}");
            assert!(
                (f64::from(im) - others - libm::sin(angle)).abs() < 2e-4,
                "{second}"
            );
        }
    }
}
