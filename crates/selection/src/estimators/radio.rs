//! Radio: movement, speed and phase, from the trend of the capacity and hints.

use units::{Duration, Rate};

use super::capacity::{Trend, normal_cdf};
use crate::estimate::{Estimate, Movement, Phase, Speed};
use crate::sample::Hints;

/// Length of the start-up phase (atxutegi2018 §6.3).
const START_UP: Duration = Duration::from_secs(2);
/// Capacity below which conditions are poor, Mbit/s. It is that of MCS 9, the fastest scheme with QPSK, on the 20 MHz
/// of atxutegi2018: 15.84 Mbit/s (TS 36.213 table 7.1.7.2.1-1), with one block in ten sent twice, without headers.
const CONSTRAINED_MBPS: f64 = 15.84 * 0.9 * 1448.0 / 1500.0;
/// Standard deviation of ln(capacity) around the value of a place, from fading and from the error of the estimate.
const CONSTRAINED_DEVIATION: f64 = 0.1;
/// SINR below which conditions are poor, dB: within 2.5 dB of the 5 dB at the cell edge of atxutegi2018 §6.3.
const CONSTRAINED_DB: f64 = 7.5;
/// Standard deviation of a reported SINR from its mean, dB: reports have steps of about 2 dB, as CQI has, and fade.
const REPORTED_DEVIATION_DB: f64 = 2.0;
/// Change of the capacity per dB on 20 MHz, Mbit/s: 0.6 of Shannon's 0.332 bit/s/Hz (TR 36.942 annex A) on 18 MHz, a
/// fifth of which is for control.
const MBPS_PER_DB: f64 = 0.6 * 0.332 * 18.0 * 0.8;
/// Standard deviation of the logarithm of that. Carriers of 10 MHz or 40 MHz are two deviations away.
const CARRIER_DEVIATION: f64 = 0.35;
/// Change of the mean SINR at 60 km/h, dB/s: 15 dB in 1000 m (atxutegi2018 §4.4.3).
const DB_PER_SECOND: f64 = 0.25;
/// Limit between 60 and 120 km/h (their geometric mean), in multiples of the change at 60 km/h.
const SLOW_LIMIT: f64 = 1.414;
/// Limit between 120 and 300 km/h, likewise.
const FAST_LIMIT: f64 = 3.162;
/// Capacity per dB at 300 km/h, relative to lower speeds. The receiver estimates the channel once per slot of 0.5 ms,
/// and the channel changes so much in between that more than about 12 dB gain nothing.
const VERY_FAST_CAPACITY: f64 = 0.5;
/// Confidence in hints of the radio: they hold now, but the next second may be different.
const HINT_CONFIDENCE: f64 = 0.95;

/// Converts the probability of the most probable of `classes` classes to a confidence: 0 if all are equally probable.
fn confidence(probability: f64, classes: f64) -> f64 {
    (probability * classes - 1.0) / (classes - 1.0)
}

/// Estimates the movement.
pub(super) fn estimate_movement(trend: &Trend, hints: &Hints) -> Estimate<Movement> {
    if let Some(change) = hints.sinr_trend {
        // The limit is half of the change at the slowest speed, 60 km/h.
        let movement = match change {
            change if change < -DB_PER_SECOND / 2.0 => Movement::Forward,
            change if change > DB_PER_SECOND / 2.0 => Movement::Backward,
            _ => Movement::Static,
        };
        return Estimate::new(movement, HINT_CONFIDENCE);
    }
    let [falls, stays, rises] = trend.probabilities;
    let max_probability = trend.max_probability();
    let movement = match max_probability {
        _ if max_probability == stays => Movement::Static,
        _ if max_probability == falls => Movement::Forward,
        _ if max_probability == rises => Movement::Backward,
        _ => Movement::Static,
    };
    Estimate::new(movement, confidence(max_probability, 3.0))
}

/// Estimates the class of the speed, from the hint or from the speed that would change the SINR as fast on 20 MHz.
pub(super) fn estimate_speed(
    trend: &Trend,
    movement: Estimate<Movement>,
    hints: &Hints,
) -> Estimate<Speed> {
    if let Some(mps) = hints.speed_mps {
        return Estimate::new(Speed::from_mps(mps), HINT_CONFIDENCE);
    }
    if movement.value == Movement::Static {
        return Estimate::new(Speed::default(), 0.0);
    }
    let (db_per_second, trend_confidence, ln_sd, fast_limit) = match hints.sinr_trend {
        Some(change) => (change, HINT_CONFIDENCE, CARRIER_DEVIATION / 2.0, FAST_LIMIT),
        None => (
            trend.mbps_per_second / MBPS_PER_DB,
            movement.confidence,
            (trend.slope_se / trend.slope).hypot(CARRIER_DEVIATION),
            FAST_LIMIT * VERY_FAST_CAPACITY.sqrt(),
        ),
    };
    let ln_ratio = (db_per_second.abs() / DB_PER_SECOND)
        .max(f64::MIN_POSITIVE)
        .ln();
    let slow = normal_cdf((SLOW_LIMIT.ln() - ln_ratio) / ln_sd);
    let fast = normal_cdf((fast_limit.ln() - ln_ratio) / ln_sd) - slow;
    let very_fast = 1.0 - slow - fast;
    let (class, probability) = if very_fast > slow.max(fast) {
        (Speed::VeryFast, very_fast)
    } else if fast > slow {
        (Speed::Fast, fast)
    } else {
        (Speed::Slow, slow)
    };
    Estimate::new(class, trend_confidence * confidence(probability, 3.0))
}

/// Estimates the phase of the movement.
pub(super) fn estimate_phase(
    age: Duration,
    capacity: Estimate<Rate>,
    movement: Estimate<Movement>,
    hints: &Hints,
) -> Estimate<Phase> {
    if age < START_UP {
        return Estimate::new(Phase::StartUp, 1.0);
    }
    let (poor, source_confidence) = match hints.sinr_db {
        Some(sinr) => (
            normal_cdf((CONSTRAINED_DB - sinr) / REPORTED_DEVIATION_DB),
            HINT_CONFIDENCE,
        ),
        None => {
            let ratio = (CONSTRAINED_MBPS / capacity.value.as_mbps().max(1e-3)).ln();
            (
                normal_cdf(ratio / CONSTRAINED_DEVIATION),
                capacity.confidence,
            )
        }
    };
    if poor > 0.5 {
        return Estimate::new(
            Phase::Constrained,
            source_confidence * confidence(poor, 2.0),
        );
    }
    let phase = match movement.value {
        Movement::Backward => Phase::Scaling,
        Movement::Forward | Movement::Static => Phase::Sustainer,
    };
    Estimate::new(
        phase,
        source_confidence * confidence(1.0 - poor, 2.0) * movement.confidence,
    )
}
