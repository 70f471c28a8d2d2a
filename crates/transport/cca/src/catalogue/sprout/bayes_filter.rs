//! Bayes filter of the delivery rate: a probability for each rate of a grid. The model moves it with time, and
//! deliveries sharpen it (NSDI 2013 §3).

use super::config::SproutConfig;

/// Standard deviations at which the drift within a tick is truncated.
const MAX_DEVIATIONS: f64 = 4.0;
/// Probability below which a rate is left out of sums.
const MIN_PROBABILITY: f64 = 1e-9;
/// Probability beyond an eighth of the grid below which the grid is halved.
const MAX_TAIL_PROBABILITY: f64 = 1e-2;

/// Distribution over the rates of 0, 1, … bin widths.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    mass: Vec<f64>,
    /// Buffer for the drift of a tick, including the margins beyond the grid.
    spread: Vec<f64>,
    /// Probability of a drift by … −1, 0, 1, … bins in a tick.
    drift: Vec<f64>,
    /// Natural logarithms of 1, 2, ….
    logarithms: Vec<f64>,
    /// Probability that an outage lasts for another tick.
    outage_persistence: f64,
    /// Highest rate of the grid, segments per second, and its lower bound.
    top: f64,
    least_top: f64,
}

impl Belief {
    /// Creates a belief in which all rates up to the highest are equally likely.
    pub(super) fn new(config: &SproutConfig) -> Self {
        let bins = config.bins as usize;
        let tick = config.tick.as_secs_f64();
        let width = config.max_rate / (bins - 1) as f64;
        let deviation = config.sigma * tick.sqrt() / width;
        let reach = ((MAX_DEVIATIONS * deviation).ceil() as usize).clamp(1, bins - 1);
        let below = |x: f64| 0.5 * libm::erfc(-x / (deviation * core::f64::consts::SQRT_2));
        let mut drift: Vec<f64> = (0..=2 * reach)
            .map(|to| to.abs_diff(reach) as f64)
            .map(|by| below(by + 0.5) - below(by - 0.5))
            .collect();
        let sum: f64 = drift.iter().sum();
        drift.iter_mut().for_each(|share| *share /= sum);
        Self {
            mass: vec![1.0 / bins as f64; bins],
            spread: vec![0.0; bins + 2 * reach],
            drift,
            logarithms: (1..bins).map(|bin| libm::log(bin as f64)).collect(),
            outage_persistence: libm::exp(-config.outage_escape * tick),
            top: config.max_rate,
            least_top: config.max_rate,
        }
    }

    fn width(&self) -> f64 {
        self.top / (self.mass.len() - 1) as f64
    }

    /// Returns the size of the grid relative to that of the parameters; the drift is proportional to it.
    pub(super) fn scale(&self) -> f64 {
        self.top / self.least_top
    }

    /// Returns the highest rate of the grid, segments per second.
    pub(super) fn top(&self) -> f64 {
        self.top
    }

    /// Returns the rates that are not negligible, segments per second, with their probabilities.
    pub(super) fn rates(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let width = self.width();
        let masses = self.mass.iter().enumerate();
        masses
            .filter(|(_, mass)| **mass > MIN_PROBABILITY)
            .map(move |(bin, mass)| (bin as f64 * width, *mass))
    }

    /// Returns the expected rate, segments per second.
    pub(super) fn mean(&self) -> f64 {
        self.rates().map(|(rate, mass)| rate * mass).sum()
    }

    /// Advances by a tick: the rate drifts as Brownian motion, never below zero, and an outage tends to last.
    pub(super) fn predict(&mut self) {
        let (bins, reach) = (self.mass.len(), self.drift.len() / 2);
        self.spread.fill(0.0);
        let staying = self.mass[0] * self.outage_persistence;
        self.mass[0] -= staying;
        for (bin, &mass) in self.mass.iter().enumerate() {
            if mass > MIN_PROBABILITY {
                let around = &mut self.spread[bin..=bin + 2 * reach];
                for (to, share) in around.iter_mut().zip(&self.drift) {
                    *to += mass * share;
                }
            }
        }
        // Reflect what is below zero, and keep what is beyond the grid at its end.
        let (below, inside) = self.spread.split_at(reach);
        let (inside, beyond) = inside.split_at(bins);
        self.mass.copy_from_slice(inside);
        for (by, share) in (1..).zip(below.iter().rev()) {
            self.mass[by] += share;
        }
        self.mass[bins - 1] += beyond.iter().sum::<f64>();
        self.mass[0] += staying;
    }

    /// Observes `count` segments in `seconds`, in which the path always had some to deliver: a Poisson
    /// process.
    pub(super) fn observe(&mut self, count: u32, seconds: f64) {
        let count = f64::from(count);
        let per_bin = self.width() * seconds;
        let unit = libm::log(per_bin);
        // The likelihood is relative to its largest value over all rates.
        let largest = if count > 0.0 {
            count * libm::log(count) - count
        } else {
            0.0
        };
        self.update(|bin, logarithms| match bin {
            0 if count > 0.0 => 0.0,
            0 => 1.0,
            _ => {
                let logarithm = unit + logarithms[bin - 1];
                libm::exp(count * logarithm - bin as f64 * per_bin - largest)
            }
        });
    }

    /// Observes that the path would have delivered at least `count` segments in `seconds`, if it had had more
    /// to deliver. The tail of the Poisson distribution is approximated by the normal one with the same mean
    /// and variance.
    pub(super) fn observe_at_least(&mut self, count: u32, seconds: f64) {
        if count == 0 {
            return;
        }
        let wanted = f64::from(count) - 0.5;
        let per_bin = self.width() * seconds;
        self.update(|bin, _| {
            let mean = bin as f64 * per_bin;
            if bin == 0 {
                0.0
            } else {
                0.5 * libm::erfc((wanted - mean) / (2.0 * mean).sqrt())
            }
        });
    }

    /// Applies Bayes' rule: multiplies the belief by the likelihood of the observation. If no believed rate
    /// explains the observation, the likelihood alone becomes the belief.
    fn update(&mut self, likelihood: impl Fn(usize, &[f64]) -> f64) {
        let mut sum = 0.0;
        for (bin, mass) in self.mass.iter_mut().enumerate() {
            *mass = if *mass > MIN_PROBABILITY {
                *mass * likelihood(bin, &self.logarithms)
            } else {
                0.0
            };
            sum += *mass;
        }
        if sum <= MIN_PROBABILITY {
            sum = 0.0;
            for (bin, mass) in self.mass.iter_mut().enumerate() {
                *mass = likelihood(bin, &self.logarithms);
                sum += *mass;
            }
        }
        if sum > 0.0 {
            self.mass.iter_mut().for_each(|mass| *mass /= sum);
        } else {
            let even = 1.0 / self.mass.len() as f64;
            self.mass.fill(even);
        }
    }

    /// Sets the belief to a bell curve around `rate` with this relative deviation.
    pub(super) fn expect(&mut self, rate: f64, deviation: f64) {
        while rate > self.top / 2.0 {
            self.top *= 2.0;
        }
        let width = self.width();
        let spread = (rate * deviation).max(width);
        self.mass.fill(1.0);
        self.update(|bin, _| {
            let away = (bin as f64 * width - rate) / spread;
            libm::exp(-0.5 * away * away)
        });
    }

    /// Resizes the grid so that the delivered rate, segments per second, is in its lower half, and so that
    /// the belief uses more than an eighth of it.
    pub(super) fn fit(&mut self, delivered: f64) {
        while delivered > self.top / 2.0 {
            self.double();
        }
        let eighth = self.mass.len() / 8;
        let beyond: f64 = self.mass[eighth..].iter().sum();
        if beyond < MAX_TAIL_PROBABILITY && delivered < self.top / 8.0 && self.top > self.least_top
        {
            self.halve();
        }
    }

    /// Doubles the bin width: the odd bins are shared out to their neighbours, which keeps the mean.
    fn double(&mut self) {
        self.spread.fill(0.0);
        for (bin, mass) in self.mass.iter().enumerate() {
            self.spread[bin / 2] += mass / 2.0;
            self.spread[bin.div_ceil(2)] += mass / 2.0;
        }
        self.take_spread();
        self.top *= 2.0;
    }

    /// Halves the bin width: each bin is spread over three. Probability beyond the middle moves to the top
    /// bin.
    fn halve(&mut self) {
        let last = self.mass.len() - 1;
        self.spread.fill(0.0);
        for (bin, mass) in self.mass.iter().enumerate() {
            let at = 2 * bin;
            if bin == 0 {
                self.spread[0] += mass;
                continue;
            }
            self.spread[(at - 1).min(last)] += mass / 4.0;
            self.spread[at.min(last)] += mass / 2.0;
            self.spread[(at + 1).min(last)] += mass / 4.0;
        }
        self.take_spread();
        self.top /= 2.0;
    }

    fn take_spread(&mut self) {
        let bins = self.mass.len();
        self.mass.copy_from_slice(&self.spread[..bins]);
    }
}

#[cfg(test)]
mod tests;
