//! How a connection is doing, as its sender can measure it.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::estimators::View;
use crate::requirement::Requirement;

/// What a sender knows of the parts of PM, over time.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When, delivery rate in bit/s, B and C.
    measured: VecDeque<(Instant, f64, f64, f64)>,
    kept: Duration,
}

impl Outcome {
    /// Keeps what is not older than `kept`.
    pub fn new(kept: Duration) -> Self {
        Self {
            measured: VecDeque::new(),
            kept,
        }
    }

    /// The next measure.
    pub fn observe(&mut self, at: Instant, view: &View) {
        let b = 1.0 / (1.0 + view.queue_ratio());
        let c = 1.0 - view.retransmitted;
        let rate = view.rate.bits_per_second() as f64;
        self.measured.push_back((at, rate, b, c));
        while let Some(&(first, ..)) = self.measured.front() {
            if at.saturating_since(first) <= self.kept {
                break;
            }
            self.measured.pop_front();
        }
    }

    /// Mean delivery rate in bit/s, B and C from `from` to `to`; `None` without a measure there.
    pub fn mean(&self, from: Instant, to: Instant) -> Option<(f64, f64, f64)> {
        let within = self
            .measured
            .iter()
            .filter(|each| from <= each.0 && each.0 < to);
        let (mut count, mut sum) = (0.0, (0.0, 0.0, 0.0));
        for &(_, rate, b, c) in within {
            count += 1.0;
            sum = (sum.0 + rate, sum.1 + b, sum.2 + c);
        }
        (count > 0.0).then(|| (sum.0 / count, sum.1 / count, sum.2 / count))
    }

    /// How much of the requirement's measure was lost from one interval to the other, in parts of it; the
    /// faster of both rates stands for the capacity of both.
    pub fn loss(requirement: Requirement, before: (f64, f64, f64), after: (f64, f64, f64)) -> f64 {
        let capacity = before.0.max(after.0).max(1.0);
        let weights = requirement.weights();
        let score = |(rate, b, c): (f64, f64, f64)| weights.score([rate / capacity, b, c]);
        1.0 - score(after) / score(before).max(f64::MIN_POSITIVE)
    }
}
