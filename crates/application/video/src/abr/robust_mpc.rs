//! RobustMPC: plans the next segments for the best linear QoE under a lower bound of the throughput; from "A
//! Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP" (2015).

use std::collections::VecDeque;

use super::{Abr, AbrState, Choice, SegmentDownload};

/// Segments that are planned.
const HORIZON: usize = 5;
/// Segments whose throughput, and whose errors of prediction, count.
const PAST: usize = 5;
/// Difference of plans that does not count.
const EQUAL: f64 = 1e-9;

/// State of a session.
#[derive(Default)]
pub(crate) struct RobustMpc {
    /// Throughput of the latest segments, bit/s.
    throughput: VecDeque<f64>,
    /// Errors of its prediction, relative to the throughput.
    errors: VecDeque<f64>,
    /// Latest prediction, bit/s.
    predicted: Option<f64>,
}

fn remember(list: &mut VecDeque<f64>, value: f64) {
    if list.len() == PAST {
        list.pop_front();
    }
    list.push_back(value);
}

impl RobustMpc {
    /// Predicts the throughput as the harmonic mean, and returns its lower bound.
    fn predict(&mut self) -> Option<f64> {
        if self.throughput.is_empty() {
            return None;
        }
        let inverse: f64 = self.throughput.iter().map(|rate| 1.0 / rate).sum();
        let mean = self.throughput.len() as f64 / inverse;
        self.predicted = Some(mean);
        let error = self.errors.iter().copied().fold(0.0, f64::max);
        Some(mean / (1.0 + error))
    }
}

impl Abr for RobustMpc {
    fn choose(&mut self, view: &AbrState) -> Choice {
        let (Some(last), Some(rate)) = (view.last, self.predict()) else {
            return Choice::now(0);
        };
        Choice::now(Plan::new(view, rate, last).best(view.level()))
    }

    fn downloaded(&mut self, _view: &AbrState, fetched: &SegmentDownload) {
        let Some(rate) = fetched.throughput_with_latency() else {
            return;
        };
        if let Some(predicted) = self.predicted {
            remember(&mut self.errors, (predicted - rate).abs() / rate);
        }
        remember(&mut self.throughput, rate);
    }
}

/// Search of the plan with the best QoE: the sum of the rates in Mbit/s, less their changes, less each second of
/// stalling times the highest rate.
struct Plan {
    /// Download times of the planned segments by quality, s.
    times: Vec<Vec<f64>>,
    /// Rates of the qualities, Mbit/s.
    rates: Vec<f64>,
    segment: f64,
    /// Most video in the buffer at a request, s: it is made with room for a segment, or once a live stream has one.
    room: f64,
    last: usize,
    /// Best value so far and its first quality.
    value: f64,
    first: usize,
}

impl Plan {
    fn new(view: &AbrState, rate: f64, last: usize) -> Self {
        let manifest = view.manifest;
        let planned = view.segment..view.segments.min(view.segment + HORIZON);
        let qualities = 0..=manifest.top();
        let time = |segment, quality| manifest.size(segment, quality).get() as f64 * 8.0 / rate;
        Self {
            times: planned
                .map(|segment| qualities.clone().map(|one| time(segment, one)).collect())
                .collect(),
            rates: qualities.map(|one| manifest.rate(one) / 1e6).collect(),
            segment: view.segment_s(),
            room: (view.max_buffer.as_secs_f64() - view.segment_s()).max(0.0),
            last,
            value: f64::NEG_INFINITY,
            first: 0,
        }
    }

    /// Returns the first quality of the best plan; of equal plans, the lowest.
    fn best(mut self, buffer: f64) -> usize {
        for quality in 0..self.rates.len() {
            let (mut value, mut level, mut last) = (0.0, buffer, self.last);
            for step in 0..self.times.len() {
                (value, level) = self.step(step, quality, value, level, last);
                last = quality;
            }
            self.offer(value, quality);
        }
        self.search(0, 0, 0.0, buffer, self.last);
        self.first
    }

    fn offer(&mut self, value: f64, first: usize) {
        if value > self.value + EQUAL || (value > self.value - EQUAL && first < self.first) {
            self.value = self.value.max(value);
            self.first = first;
        }
    }

    /// Returns value and buffer after one more segment.
    fn step(&self, step: usize, quality: usize, value: f64, level: f64, last: usize) -> (f64, f64) {
        let time = self.times[step][quality];
        let stalled = (time - level).max(0.0);
        let level = ((level - time).max(0.0) + self.segment).min(self.room);
        let rate = self.rates[quality];
        let changed = (rate - self.rates[last]).abs();
        let penalty = self.rates[self.rates.len() - 1];
        (value + rate - changed - penalty * stalled, level)
    }

    /// Searches all plans from a step on, except those that cannot be the best even without stalls and changes.
    fn search(&mut self, step: usize, first: usize, value: f64, level: f64, last: usize) {
        let left = self.times.len() - step;
        if left == 0 {
            return self.offer(value, first);
        }
        if value + left as f64 * self.rates[self.rates.len() - 1] < self.value - EQUAL {
            return;
        }
        for quality in 0..self.rates.len() {
            let (value, level) = self.step(step, quality, value, level, last);
            let first = if step == 0 { quality } else { first };
            self.search(step + 1, first, value, level, quality);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abr::samples;
    use units::random::{Purpose, RngStream};

    /// Returns the first quality of the best of all plans of three segments, by trying each.
    fn brute_force(view: &AbrState, rate: f64, last: usize) -> usize {
        let plan = Plan::new(view, rate, last);
        let count = plan.rates.len();
        let mut best = (f64::NEG_INFINITY, 0);
        for number in 0..count.pow(plan.times.len() as u32) {
            let (mut value, mut level, mut last, mut rest) = (0.0, view.level(), last, number);
            let first = number % count;
            for step in 0..plan.times.len() {
                (value, level) = plan.step(step, rest % count, value, level, last);
                last = rest % count;
                rest /= count;
            }
            if value > best.0 + EQUAL || (value > best.0 - EQUAL && first < best.1) {
                best = (value.max(best.0), first);
            }
        }
        best.1
    }

    #[test]
    fn the_search_finds_what_trying_every_plan_finds() {
        let manifest = samples::manifest(4, &[300, 750, 1_200, 1_850, 2_850, 4_300]);
        let mut draws = RngStream::new(7, Purpose::Workload, 0);
        for _ in 0..60 {
            let last = draws.uniform_u64(6) as usize;
            let view = samples::view(&manifest, draws.uniform() * 20.0, 25.0, last);
            let rate = 2e5 + draws.uniform() * 6e6;
            assert_eq!(
                Plan::new(&view, rate, last).best(view.level()),
                brute_force(&view, rate, last)
            );
        }
    }

    /// One segment left, 4 s of 1 or 3 Mbit/s at 2 Mbit/s, and 5 s in the buffer: 3 Mbit/s take 6 s, so that a stall of
    /// 1 s costs 3 and the change 2, against 1 for the lower rate. With 6 s in the buffer, the change alone makes both
    /// worth 1, and the lower one is taken.
    #[test]
    fn a_plan_of_one_segment_by_hand() {
        let manifest = samples::manifest(4, &[1_000, 3_000]);
        let quality = |buffer, last| {
            let view = AbrState {
                segment: 999,
                ..samples::view(&manifest, buffer, 30.0, last)
            };
            Plan::new(&view, 2e6, last).best(view.level())
        };
        assert_eq!(
            [
                quality(5.0, 0),
                quality(6.0, 0),
                quality(6.0, 1),
                quality(5.0, 1)
            ],
            [0, 0, 1, 1]
        );
        assert_eq!(quality(2.0, 1), 0);
    }

    #[test]
    fn the_prediction_is_lowered_by_the_largest_error() {
        let manifest = samples::manifest(4, &[1_000]);
        let view = samples::view(&manifest, 10.0, 30.0, 0);
        let mut rule = RobustMpc::default();
        rule.downloaded(&view, &samples::fetched(&view, 0, 2.0));
        assert!((rule.predict().unwrap() - 2e6).abs() < 1.0);
        rule.downloaded(&view, &samples::fetched(&view, 0, 1.0));
        // The harmonic mean of 2 and 1 is 4/3; the error was (2 - 1) / 1.
        assert!((rule.predict().unwrap() - 2e6 / 3.0).abs() < 1.0);
    }

    /// Live, 6 s behind, a request is made with 2 s in the buffer, and so is the next one, however fast the segment
    /// arrives. To save time for a higher rate later would be in vain: the highest rate that arrives in 2 s is chosen.
    #[test]
    fn a_plan_does_not_count_on_video_that_is_not_there_yet() {
        let rates = [363, 503, 688, 878, 1_178, 1_878, 2_478, 3_128, 4_428, 5_928];
        let manifest = samples::manifest(4, &rates);
        let view = samples::view(&manifest, 2.0, 6.0, 0);
        assert_eq!(Plan::new(&view, 2.8e6, 0).best(2.0), 4);
    }
}
