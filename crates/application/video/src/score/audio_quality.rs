//! Audio quality by ITU-T P.1203.2: a score from the rate of AAC-LC.

use super::mos;

/// Coefficients a1A, a2A (per kbit/s) and a3A of AAC-LC: the degradation is a1A exp(a2A rate) + a3A.
const A1: f64 = 100.0;
const A2: f64 = -0.05;
const A3: f64 = 14.60;

/// Returns the audio score (O.21) of AAC-LC at `kbps`.
pub fn aac_lc_score(kbps: f64) -> f64 {
    let degraded = A1 * libm::exp(A2 * kbps) + A3;
    mos::from_quality((100.0 - degraded).clamp(0.0, 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_rises_with_the_rate_to_that_of_the_codec() {
        assert!(
            aac_lc_score(32.0) < aac_lc_score(64.0) && aac_lc_score(64.0) < aac_lc_score(128.0)
        );
        let transparent = mos::from_quality(100.0 - 14.60);
        assert!((aac_lc_score(1_000.0) - transparent).abs() < 1e-9);
    }
}
