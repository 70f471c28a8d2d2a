//! Audio quality by ITU-T P.1203.2: a score from the rate of AAC-LC.

use super::mos;

/// Degradation by the codec, an exponential function of the rate: factor, exponent per kbit/s, constant.
const AAC_LC: [f64; 3] = [100.0, -0.05, 14.60];

/// Returns the score O.21 of a rate in kbit/s.
pub fn aac_lc(kbps: f64) -> f64 {
    let degraded = AAC_LC[0] * libm::exp(AAC_LC[1] * kbps) + AAC_LC[2];
    mos::from_quality((100.0 - degraded).clamp(0.0, 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_rises_with_the_rate_to_that_of_the_codec() {
        assert!(aac_lc(32.0) < aac_lc(64.0) && aac_lc(64.0) < aac_lc(128.0));
        let transparent = mos::from_quality(100.0 - 14.60);
        assert!((aac_lc(1_000.0) - transparent).abs() < 1e-9);
    }
}
