//! How much the path carries, and where that goes.

use std::collections::VecDeque;

use units::Rate;

use super::bins::Bin;
use crate::estimate::Estimate;

/// A queue stood in a bin whose RTT was this many times the lowest: what was delivered is the capacity.
const QUEUED: f64 = 1.1;
/// Bins of the present capacity: a second.
const PRESENT: usize = 10;
/// Bins that the trend is fitted to: ten seconds.
const FITTED: usize = 100;

/// Capacity level, trend and variability.
#[derive(Clone, Debug)]
pub(super) struct CapacityEstimator {
    /// Seconds and ln(bit/s) of bins, and whether a queue stood.
    bins: VecDeque<(f64, f64, bool)>,
}

impl CapacityEstimator {
    pub(super) fn new() -> Self {
        Self {
            bins: VecDeque::with_capacity(FITTED + 1),
        }
    }

    pub(super) fn observe(&mut self, bin: &Bin) {
        let bits = bin.rate.bits_per_second().max(1) as f64;
        let queued = bin.rtt_ratio > QUEUED;
        self.bins
            .push_back((bin.at.as_secs_f64(), bits.ln(), queued));
        if self.bins.len() > FITTED {
            self.bins.pop_front();
        }
    }

    /// Mean rate of the last second's bins with a queue; else the fastest of them, which is a lower bound.
    pub(super) fn capacity(&self) -> Estimate<Rate> {
        let present = || self.bins.iter().rev().take(PRESENT);
        let queued: Vec<f64> = present().filter(|b| b.2).map(|b| b.1.exp()).collect();
        let (bits, confidence) = if queued.is_empty() {
            (present().map(|b| b.1.exp()).fold(0.0, f64::max), 0.2)
        } else {
            let share = queued.len() as f64 / PRESENT as f64;
            (queued.iter().sum::<f64>() / queued.len() as f64, share)
        };
        Estimate::new(Rate::from_bits_per_second(bits as u64), confidence)
    }

    /// Slope of the line through ln(rate) by least squares, 1/s.
    pub(super) fn trend(&self) -> Estimate<f64> {
        let fit = self.fit();
        Estimate::new(fit.0, fit.2)
    }

    /// Standard deviation about that line.
    pub(super) fn variability(&self) -> Estimate<f64> {
        let fit = self.fit();
        Estimate::new(fit.1, fit.2)
    }

    fn fit(&self) -> (f64, f64, f64) {
        let points = || self.bins.iter().map(|b| (b.0, b.1));
        let n = self.bins.len() as f64;
        if n < 10.0 {
            return (0.0, 0.0, 0.0);
        }
        let mean_t = points().map(|p| p.0).sum::<f64>() / n;
        let mean_y = points().map(|p| p.1).sum::<f64>() / n;
        let (mut tt, mut ty, mut yy) = (0.0, 0.0, 0.0);
        for (t, y) in points() {
            tt += (t - mean_t) * (t - mean_t);
            ty += (t - mean_t) * (y - mean_y);
            yy += (y - mean_y) * (y - mean_y);
        }
        let slope = if tt > 0.0 { ty / tt } else { 0.0 };
        let rest = (yy - slope * ty).max(0.0) / n;
        (slope, rest.sqrt(), n / FITTED as f64)
    }
}
