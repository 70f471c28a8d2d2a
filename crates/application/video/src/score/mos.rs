//! Conversion between scores from 1 to 5 and qualities from 0 to 100, as the modules of ITU-T P.1203 have it.

/// Range of the scores that qualities stand for.
const LOW: f64 = 1.05;
const HIGH: f64 = 4.9;
/// Quality below which scores do not rise with it.
const FLAT: f64 = 3.25;

/// Returns the score of a quality.
pub(crate) fn from_quality(quality: f64) -> f64 {
    let line = LOW + (HIGH - LOW) * quality / 100.0;
    let curve = quality * (quality - 60.0) * (100.0 - quality) * 7e-6;
    (line + curve).clamp(LOW, HIGH)
}

/// Returns the quality of a score: the inverse of [`from_quality`].
pub(crate) fn to_quality(mos: f64) -> f64 {
    if mos <= LOW {
        return 0.0;
    }
    if mos >= HIGH {
        return 100.0;
    }
    let (mut low, mut high) = (FLAT, 100.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if from_quality(middle) < mos {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_gives_the_quality_back() {
        for quality in 4..100 {
            let quality = f64::from(quality);
            assert!((to_quality(from_quality(quality)) - quality).abs() < 1e-9);
        }
        assert_eq!([to_quality(1.0), to_quality(5.0)], [0.0, 100.0]);
    }
}
