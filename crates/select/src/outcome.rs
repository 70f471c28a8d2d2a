//! How a connection is doing, as its sender can measure it.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::estimators::View;
use crate::requirement::Requirement;

/// What a sender knows of the parts of PM.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Measure {
    /// Delivery rate, bit/s, of which A is the share of the capacity.
    rate: f64,
    /// Lowest RTT over smoothed RTT, as B.
    b: f64,
    /// Share of segments not sent again, as C.
    c: f64,
}

/// Measures over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    measured: VecDeque<(Instant, Measure)>,
    kept: Duration,
}

impl Outcome {
    /// Keeps what is not older than `kept`.
    pub(crate) fn new(kept: Duration) -> Self {
        Self {
            measured: VecDeque::new(),
            kept,
        }
    }

    /// The next measure.
    pub(crate) fn observe(&mut self, at: Instant, view: &View) {
        let measure = Measure {
            rate: view.rate.bits_per_second() as f64,
            b: 1.0 / (1.0 + view.queue_ratio()),
            c: 1.0 - view.retransmitted,
        };
        self.measured.push_back((at, measure));
        while let Some(&(first, _)) = self.measured.front() {
            if at.saturating_since(first) <= self.kept {
                break;
            }
            self.measured.pop_front();
        }
    }

    /// Means from `from` to `to`; `None` without a measure there.
    pub(crate) fn mean(&self, from: Instant, to: Instant) -> Option<Measure> {
        let within = self
            .measured
            .iter()
            .filter(|each| from <= each.0 && each.0 < to);
        let (mut count, mut sum) = (0.0, Measure::default());
        for (_, each) in within {
            count += 1.0;
            sum.rate += each.rate;
            sum.b += each.b;
            sum.c += each.c;
        }
        (count > 0.0).then(|| Measure {
            rate: sum.rate / count,
            b: sum.b / count,
            c: sum.c / count,
        })
    }

    /// How much of the requirement's measure was lost from one interval to the other, in parts of it; the
    /// faster of both rates stands for the capacity of both.
    pub(crate) fn loss(requirement: Requirement, before: Measure, after: Measure) -> f64 {
        let capacity = before.rate.max(after.rate).max(1.0);
        let weights = requirement.weights();
        let score = |of: Measure| weights.score([of.rate / capacity, of.b, of.c]);
        1.0 - score(after) / score(before).max(f64::MIN_POSITIVE)
    }
}
