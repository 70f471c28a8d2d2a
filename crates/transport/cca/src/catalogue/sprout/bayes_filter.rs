//! Bayes filter of the delivery rate: a probability for each rate of a grid, predicted over time and updated by
//! deliveries (NSDI 2013 §3).

use super::config::SproutConfig;

/// Standard deviations at which the drift within a tick is truncated.
const MAX_DEVIATIONS: f64 = 4.0;
/// Probability below which a rate is left out of sums.
const MIN_PROBABILITY: f64 = 1e-9;
/// Probability beyond an eighth of the grid below which the grid is halved.
const MAX_TAIL_PROBABILITY: f64 = 1e-2;

/// Distribution over the rates of 0, 1, … bin widths.
#[derive(Clone, Debug)]
pub(super) struct RateDistribution {
    /// Probability of each rate.
    probabilities: Vec<f64>,
    /// Buffer for new probabilities, including the margins beyond the grid.
    buffer: Vec<f64>,
    /// Probability of a drift by … −1, 0, 1, … bins in a tick.
    drift: Vec<f64>,
    /// Natural logarithms of 1, 2, ….
    logarithms: Vec<f64>,
    /// Probability that an outage lasts for another tick.
    outage_persistence: f64,
    /// Highest rate of the grid, segments per second.
    max_rate: f64,
    /// Lower bound of `max_rate`.
    initial_max_rate: f64,
}

impl RateDistribution {
    /// Creates a distribution in which all rates up to the highest are equally likely.
    pub(super) fn new(config: &SproutConfig) -> Self {
        let bins = config.bins as usize;
        let tick = config.tick.as_secs_f64();
        let width = config.max_rate / (bins - 1) as f64;
        let deviation = config.sigma * tick.sqrt() / width;
        let reach = ((MAX_DEVIATIONS * deviation).ceil() as usize).clamp(1, bins - 1);
        let normal_cdf = |x: f64| 0.5 * libm::erfc(-x / (deviation * core::f64::consts::SQRT_2));
        let mut drift: Vec<f64> = (0..=2 * reach)
            .map(|to| to.abs_diff(reach) as f64)
            .map(|by| normal_cdf(by + 0.5) - normal_cdf(by - 0.5))
            .collect();
        let sum: f64 = drift.iter().sum();
        drift.iter_mut().for_each(|share| *share /= sum);
        Self {
            probabilities: vec![1.0 / bins as f64; bins],
            buffer: vec![0.0; bins + 2 * reach],
            drift,
            logarithms: (1..bins).map(|bin| libm::log(bin as f64)).collect(),
            outage_persistence: libm::exp(-config.outage_escape * tick),
            max_rate: config.max_rate,
            initial_max_rate: config.max_rate,
        }
    }

    /// Returns the width of a bin, segments per second.
    fn width(&self) -> f64 {
        self.max_rate / (self.probabilities.len() - 1) as f64
    }

    /// Returns the size of the grid relative to that of the parameters; the drift is proportional to it.
    pub(super) fn scale(&self) -> f64 {
        self.max_rate / self.initial_max_rate
    }

    /// Returns the highest rate of the grid, segments per second.
    pub(super) fn max_rate(&self) -> f64 {
        self.max_rate
    }

    /// Returns the rates that are not negligible, segments per second, with their probabilities.
    pub(super) fn rates(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let width = self.width();
        let bins = self.probabilities.iter().enumerate();
        bins.filter(|(_, probability)| **probability > MIN_PROBABILITY)
            .map(move |(bin, probability)| (bin as f64 * width, *probability))
    }

    /// Returns the expected rate, segments per second.
    pub(super) fn mean(&self) -> f64 {
        self.rates()
            .map(|(rate, probability)| rate * probability)
            .sum()
    }

    /// Advances by a tick: the rate drifts as Brownian motion, never below zero, and an outage tends to last.
    pub(super) fn predict(&mut self) {
        let (bins, reach) = (self.probabilities.len(), self.drift.len() / 2);
        self.buffer.fill(0.0);
        let lasting_outage = self.probabilities[0] * self.outage_persistence;
        self.probabilities[0] -= lasting_outage;
        for (bin, &probability) in self.probabilities.iter().enumerate() {
            if probability > MIN_PROBABILITY {
                let around = &mut self.buffer[bin..=bin + 2 * reach];
                for (to, share) in around.iter_mut().zip(&self.drift) {
                    *to += probability * share;
                }
            }
        }
        // Probability below zero is reflected, and probability beyond the grid stays at its end.
        let (below, inside) = self.buffer.split_at(reach);
        let (inside, beyond) = inside.split_at(bins);
        self.probabilities.copy_from_slice(inside);
        for (by, share) in (1..).zip(below.iter().rev()) {
            self.probabilities[by] += share;
        }
        self.probabilities[bins - 1] += beyond.iter().sum::<f64>();
        self.probabilities[0] += lasting_outage;
    }

    /// Updates by `count` segments delivered in `seconds`, in which the path always had some to deliver: a Poisson
    /// process.
    pub(super) fn observe(&mut self, count: u32, seconds: f64) {
        let count = f64::from(count);
        let per_bin = self.width() * seconds;
        let ln_per_bin = libm::log(per_bin);
        // The likelihood is relative to its largest value over all rates.
        let ln_max = if count > 0.0 {
            count * libm::log(count) - count
        } else {
            0.0
        };
        self.update(|bin, logarithms| match bin {
            0 if count > 0.0 => 0.0,
            0 => 1.0,
            _ => {
                let ln_mean = ln_per_bin + logarithms[bin - 1];
                libm::exp(count * ln_mean - bin as f64 * per_bin - ln_max)
            }
        });
    }

    /// Updates by the lower bound `count` of the segments that the path could have delivered in `seconds`. The tail of the
    /// Poisson distribution is approximated by the normal one with the same mean and variance.
    pub(super) fn observe_at_least(&mut self, count: u32, seconds: f64) {
        if count == 0 {
            return;
        }
        let threshold = f64::from(count) - 0.5;
        let per_bin = self.width() * seconds;
        self.update(|bin, _| {
            let mean = bin as f64 * per_bin;
            if bin == 0 {
                0.0
            } else {
                0.5 * libm::erfc((threshold - mean) / (2.0 * mean).sqrt())
            }
        });
    }

    /// Applies Bayes' rule: multiplies the probabilities by the likelihood of the observation. If no probable rate
    /// explains the observation, the likelihoods replace the probabilities.
    fn update(&mut self, likelihood: impl Fn(usize, &[f64]) -> f64) {
        let mut sum = 0.0;
        for (bin, probability) in self.probabilities.iter_mut().enumerate() {
            *probability = if *probability > MIN_PROBABILITY {
                *probability * likelihood(bin, &self.logarithms)
            } else {
                0.0
            };
            sum += *probability;
        }
        if sum <= MIN_PROBABILITY {
            sum = 0.0;
            for (bin, probability) in self.probabilities.iter_mut().enumerate() {
                *probability = likelihood(bin, &self.logarithms);
                sum += *probability;
            }
        }
        if sum > 0.0 {
            self.probabilities.iter_mut().for_each(|each| *each /= sum);
        } else {
            let uniform = 1.0 / self.probabilities.len() as f64;
            self.probabilities.fill(uniform);
        }
    }

    /// Sets a normal distribution around `rate`, segments per second, with this relative deviation.
    pub(super) fn set_normal(&mut self, rate: f64, deviation: f64) {
        while rate > self.max_rate / 2.0 {
            self.max_rate *= 2.0;
        }
        let width = self.width();
        let sd = (rate * deviation).max(width);
        self.probabilities.fill(1.0);
        self.update(|bin, _| {
            let z = (bin as f64 * width - rate) / sd;
            libm::exp(-0.5 * z * z)
        });
    }

    /// Resizes the grid so that the delivered rate, segments per second, is in its lower half, and so that more than an
    /// eighth of the grid is in use.
    pub(super) fn resize_grid(&mut self, delivered: f64) {
        while delivered > self.max_rate / 2.0 {
            self.double();
        }
        let eighth = self.probabilities.len() / 8;
        let tail: f64 = self.probabilities[eighth..].iter().sum();
        let is_too_large = tail < MAX_TAIL_PROBABILITY && delivered < self.max_rate / 8.0;
        if is_too_large && self.max_rate > self.initial_max_rate {
            self.halve();
        }
    }

    /// Doubles the bin width: the odd bins are split between their neighbours, which keeps the mean.
    fn double(&mut self) {
        self.buffer.fill(0.0);
        for (bin, probability) in self.probabilities.iter().enumerate() {
            self.buffer[bin / 2] += probability / 2.0;
            self.buffer[bin.div_ceil(2)] += probability / 2.0;
        }
        self.copy_from_buffer();
        self.max_rate *= 2.0;
    }

    /// Halves the bin width: each bin is spread over three. Probability beyond the middle moves to the top
    /// bin.
    fn halve(&mut self) {
        let last = self.probabilities.len() - 1;
        self.buffer.fill(0.0);
        for (bin, probability) in self.probabilities.iter().enumerate() {
            let at = 2 * bin;
            if bin == 0 {
                self.buffer[0] += probability;
                continue;
            }
            self.buffer[(at - 1).min(last)] += probability / 4.0;
            self.buffer[at.min(last)] += probability / 2.0;
            self.buffer[(at + 1).min(last)] += probability / 4.0;
        }
        self.copy_from_buffer();
        self.max_rate /= 2.0;
    }

    fn copy_from_buffer(&mut self) {
        let bins = self.probabilities.len();
        self.probabilities.copy_from_slice(&self.buffer[..bins]);
    }
}

#[cfg(test)]
mod tests;
