//! Capacity of the path and its trend.

use std::collections::VecDeque;

use units::Rate;

use super::bins::Bin;
use super::robust_regression::{Line, Point};
use crate::estimate::Estimate;

/// Number of bins over which the current capacity is averaged: a second.
const RECENT_BINS: usize = 10;
/// Numbers of bins to which trends are fitted, the shortest first: 5 s suffice for fast changes, slow changes need 20
/// s.
const SPANS: [usize; 3] = [50, 100, 200];
/// Number of bins between fits of the trends. Decisions are less frequent.
const REFIT_BINS: usize = 2;
/// Number of bins in memory.
const MAX_BINS: usize = SPANS[SPANS.len() - 1];
/// Number of bins without a queue after which the confidence in an earlier capacity has fallen to 1/e. In these 5 s the
/// capacity may fall by a third at 300 km/h.
const FORGET_BINS: f64 = 50.0;
/// Minimum of the standard deviation of ln(rate) of a bin. At 20 Mbit/s a bin has 170 segments, and ACKs come in bursts
/// of about ten.
const MIN_DEVIATION: f64 = 0.05;
/// Difference of ln(rate) by which a rate must exceed the known capacity to replace it: two deviations of a bin.
const MIN_INCREASE: f64 = 0.1;
/// Weight of a bin whose rate replaces the known capacity. The rate is a lower bound of the capacity.
const LOWER_BOUND_WEIGHT: f64 = 0.5;
/// Lower bound of the utilisation by which the rate of a bin is divided.
const MIN_UTILISATION: f64 = 0.1;
/// Change of ln(capacity) per second below which the capacity counts as steady: half of the change at an SINR of 20 dB
/// that changes by 0.25 dB/s (60 km/h). By Shannon, a dB changes ln(capacity) there by 0.23/ln(101) = 0.05.
pub(super) const STEADY_SLOPE: f64 = 0.006;

/// Trend of the capacity.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Trend {
    /// Change of ln(capacity) per second.
    pub(super) slope: f64,
    /// Standard error of the slope.
    pub(super) slope_se: f64,
    /// Probabilities that the capacity falls, stays and rises; all 0 where nothing is known.
    pub(super) probabilities: [f64; 3],
    /// Change of the capacity, Mbit/s per second.
    pub(super) mbps_per_second: f64,
    /// Standard deviation of the capacity around the trend, relative to its mean.
    pub(super) variability: f64,
    /// Share of the bins of the span in which a queue showed the capacity.
    pub(super) queue_share: f64,
}

impl Trend {
    /// Returns the trend of a line. The normal distribution approximates the t-distribution, since there are 50 points
    /// or more.
    fn of(line: &Line, queue_share: f64) -> Self {
        let slope_se = line.slope_se.max(f64::MIN_POSITIVE);
        let falls = normal_cdf((-STEADY_SLOPE - line.slope) / slope_se);
        let rises = normal_cdf((line.slope - STEADY_SLOPE) / slope_se);
        Self {
            slope: line.slope,
            slope_se: line.slope_se,
            mbps_per_second: line.slope * line.mean_y.exp() * 1e-6,
            probabilities: [falls, (1.0 - falls - rises).max(0.0), rises],
            variability: line.deviation,
            queue_share,
        }
    }

    /// Returns the confidence in the slope, from its error relative to the steady range.
    pub(super) fn confidence(&self) -> f64 {
        if self.queue_share > 0.0 {
            STEADY_SLOPE / (STEADY_SLOPE + self.slope_se)
        } else {
            0.0
        }
    }

    /// Returns the highest of the three probabilities.
    pub(super) fn max_probability(&self) -> f64 {
        self.probabilities.iter().copied().fold(0.0, f64::max)
    }
}

/// Returns the cumulative distribution function of the standard normal distribution.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
}

/// Bin with its point of the regression.
#[derive(Clone, Copy, Debug)]
struct WeightedBin {
    point: Point,
    queue_confidence: f64,
}

/// Estimator of the capacity, its trend and its variability.
#[derive(Clone, Debug, Default)]
pub(super) struct CapacityEstimator {
    bins: VecDeque<WeightedBin>,
    /// Capacity of the last bins with a queue, ln(bit/s).
    ln_known: Option<f64>,
    /// Number of bins since the last one with a queue.
    bins_without_queue: f64,
    /// Number of bins since the trend was fitted.
    bins_since_fit: usize,
    pub(super) trend: Trend,
}

impl CapacityEstimator {
    pub(super) fn observe(&mut self, bin: &Bin) {
        let ln_rate = (bin.rate.bits_per_second().max(10_000) as f64).ln();
        // A rate without a queue is a lower bound. It replaces the known capacity if it exceeds it.
        let exceeds_known = self
            .ln_known
            .is_some_and(|ln_known| ln_rate > ln_known + MIN_INCREASE);
        let correction = -bin.utilisation.max(MIN_UTILISATION).ln();
        let (y, weight) = if exceeds_known && bin.queue_confidence < LOWER_BOUND_WEIGHT {
            (ln_rate, LOWER_BOUND_WEIGHT)
        } else {
            (ln_rate + correction, bin.queue_confidence)
        };
        if bin.queue_confidence > 0.5 {
            self.bins_without_queue = 0.0;
            let ln_known = self.ln_known.unwrap_or(y);
            self.ln_known =
                Some(ln_known + bin.queue_confidence / RECENT_BINS as f64 * (y - ln_known));
        } else {
            self.bins_without_queue += 1.0;
        }
        let x = bin.at.as_secs_f64();
        self.bins.push_back(WeightedBin {
            point: Point {
                x,
                y,
                weight,
                correction,
            },
            queue_confidence: bin.queue_confidence,
        });
        if self.bins.len() > MAX_BINS {
            self.bins.pop_front();
        }
        self.bins_since_fit += 1;
        if self.bins_since_fit == REFIT_BINS {
            self.bins_since_fit = 0;
            self.trend = self.fit();
        }
    }

    /// Returns the mean rate of the last second's bins with a queue. Without such a bin, returns the capacity of the last
    /// bins with a queue, or the current rate if it is higher. If the capacity had fallen below the rate since, there
    /// would be a queue.
    pub(super) fn capacity(&self) -> Estimate<Rate> {
        let recent = || self.bins.iter().rev().take(RECENT_BINS);
        let queue_weight: f64 = recent().map(|bin| bin.queue_confidence).sum();
        let (bps, confidence) = if queue_weight < 1.0 {
            let count = recent().count().max(1) as f64;
            let rate = recent().map(|bin| bin.point.y.exp()).sum::<f64>() / count;
            let decay = (-self.bins_without_queue / FORGET_BINS).exp();
            self.ln_known.map_or((rate, 0.0), |ln_known| {
                (rate.max(ln_known.exp()), 0.5 * decay)
            })
        } else {
            let sum: f64 = recent()
                .map(|bin| bin.queue_confidence * bin.point.y.exp())
                .sum();
            (
                sum / queue_weight,
                0.5 + 0.5 * queue_weight / RECENT_BINS as f64,
            )
        };
        Estimate::new(Rate::from_bits_per_second(bps as u64), confidence)
    }

    /// Fits a trend to each span and returns the most probable one; if several are equal, that of the shortest span.
    fn fit(&self) -> Trend {
        let mut best = Trend::default();
        for span in SPANS {
            let first = self.bins.len().saturating_sub(span);
            let points = self.bins.iter().skip(first).map(|bin| bin.point);
            let queue_confidence = self.bins.iter().skip(first).map(|bin| bin.queue_confidence);
            let queue_share = queue_confidence.sum::<f64>() / span as f64;
            let Some(line) = Line::fit(points, MIN_DEVIATION) else {
                continue;
            };
            let trend = Trend::of(&line, queue_share);
            if trend.max_probability() > best.max_probability() {
                best = trend;
            }
            if self.bins.len() <= span || best.max_probability() > 0.99 {
                break;
            }
        }
        best
    }
}
