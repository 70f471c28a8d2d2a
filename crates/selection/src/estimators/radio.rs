//! Radio: movement, speed and phase, from the trend of the capacity and hints.

use units::{Duration, Rate};

use super::capacity::{Trend, normal};
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
const SLOW_BELOW: f64 = 1.414;
/// Limit between 120 and 300 km/h, likewise.
const FAST_BELOW: f64 = 3.162;
/// Capacity per dB at 300 km/h, relative to lower speeds. The receiver knows the channel once per slot of 0.5 ms, and
/// the channel changes so much in between that more than about 12 dB gain nothing.
const FASTEST_WORTH: f64 = 0.5;
/// Confidence in hints of the radio: they hold now, but the next second may be different.
const HINT_CONFIDENCE: f64 = 0.95;

/// Converts the probability of the chosen class among `kinds` classes to a confidence: 0 if all are equally probable.
fn confidence(chance: f64, kinds: f64) -> f64 {
    (chance * kinds - 1.0) / (kinds - 1.0)
}

/// Estimates the movement.
pub(super) fn movement(trend: &Trend, hints: &Hints) -> Estimate<Movement> {
    if let Some(change) = hints.sinr_trend {
        // The limit is half of the slowest change that has a class.
        let movement = match change {
            change if change < -DB_PER_SECOND / 2.0 => Movement::Forward,
            change if change > DB_PER_SECOND / 2.0 => Movement::Backward,
            _ => Movement::Static,
        };
        return Estimate::new(movement, HINT_CONFIDENCE);
    }
    let [falls, stays, rises] = trend.probabilities;
    let max_chance = trend.max_chance();
    let movement = match max_chance {
        _ if max_chance == stays => Movement::Static,
        _ if max_chance == falls => Movement::Forward,
        _ if max_chance == rises => Movement::Backward,
        _ => Movement::Static,
    };
    Estimate::new(movement, confidence(max_chance, 3.0))
}

/// Estimates the class of the speed, from the hint or from the speed that would change the SINR as fast on 20 MHz.
pub(super) fn speed(trend: &Trend, movement: Estimate<Movement>, hints: &Hints) -> Estimate<Speed> {
    if let Some(mps) = hints.speed_mps {
        return Estimate::new(Speed::of(mps), HINT_CONFIDENCE);
    }
    if movement.value == Movement::Static {
        return Estimate::new(Speed::default(), 0.0);
    }
    let (change, known) = match hints.sinr_trend {
        Some(change) => (change, HINT_CONFIDENCE),
        None => (trend.mbps_per_second / MBPS_PER_DB, movement.confidence),
    };
    let times = (change.abs() / DB_PER_SECOND).max(f64::MIN_POSITIVE).ln();
    let (relative, fast_below) = match hints.sinr_trend {
        Some(_) => (CARRIER_DEVIATION / 2.0, FAST_BELOW),
        None => {
            let error = (trend.error / trend.slope).hypot(CARRIER_DEVIATION);
            (error, FAST_BELOW * FASTEST_WORTH.sqrt())
        }
    };
    let slow = normal((SLOW_BELOW.ln() - times) / relative);
    let fast = normal((fast_below.ln() - times) / relative) - slow;
    let all = [
        (Speed::Slow, slow),
        (Speed::Fast, fast),
        (Speed::VeryFast, 1.0 - slow - fast),
    ];
    let most_probable = all.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (class, chance) = most_probable.unwrap_or_default();
    Estimate::new(class, known * confidence(chance, 3.0))
}

/// Estimates the phase of the movement.
pub(super) fn phase(
    age: Duration,
    capacity: Estimate<Rate>,
    movement: Estimate<Movement>,
    hints: &Hints,
) -> Estimate<Phase> {
    if age < START_UP {
        return Estimate::new(Phase::StartUp, 1.0);
    }
    let (poor, known) = match hints.sinr_db {
        Some(sinr) => (
            normal((CONSTRAINED_DB - sinr) / REPORTED_DEVIATION_DB),
            HINT_CONFIDENCE,
        ),
        None => {
            let ratio = (CONSTRAINED_MBPS / capacity.value.as_mbps().max(1e-3)).ln();
            (normal(ratio / CONSTRAINED_DEVIATION), capacity.confidence)
        }
    };
    if poor > 0.5 {
        return Estimate::new(Phase::Constrained, known * confidence(poor, 2.0));
    }
    let phase = match movement.value {
        Movement::Backward => Phase::Scaling,
        Movement::Forward | Movement::Static => Phase::Sustainer,
    };
    Estimate::new(
        phase,
        known * confidence(1.0 - poor, 2.0) * movement.confidence,
    )
}
