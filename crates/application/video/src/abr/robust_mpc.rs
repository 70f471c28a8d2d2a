//! RobustMPC: plans the next segments for the best linear QoE under a lower bound of the throughput; from "A
//! Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP" (2015).

use std::collections::VecDeque;

use super::{Abr, AbrState, Choice, SegmentDownload};

/// Segments that are planned.
const HORIZON: usize = 5;
/// Number of latest segments whose throughputs and prediction errors are remembered.
const HISTORY: usize = 5;
/// Maximum difference of QoE between equal plans.
const TOLERANCE: f64 = 1e-9;

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
    if list.len() == HISTORY {
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
    fn choose(&mut self, state: &AbrState) -> Choice {
        let (Some(last), Some(rate)) = (state.last, self.predict()) else {
            return Choice::now(0);
        };
        Choice::now(Plan::new(state, rate, last).best(state.level()))
    }

    fn downloaded(&mut self, _state: &AbrState, download: &SegmentDownload) {
        let Some(rate) = download.throughput_with_latency() else {
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
    /// Duration of a segment, s.
    segment_s: f64,
    /// Maximum of video in the buffer at a request, s: the player waits for room for a segment.
    max_level: f64,
    last: usize,
    /// Best value so far and its first quality.
    value: f64,
    first: usize,
}

impl Plan {
    fn new(state: &AbrState, rate: f64, last: usize) -> Self {
        let manifest = state.manifest;
        let planned = state.segment..state.segments.min(state.segment + HORIZON);
        let qualities = 0..=manifest.top();
        let time =
            |segment, quality| manifest.segment_bytes(segment, quality).get() as f64 * 8.0 / rate;
        Self {
            times: planned
                .map(|segment| {
                    qualities
                        .clone()
                        .map(|quality| time(segment, quality))
                        .collect()
                })
                .collect(),
            rates: qualities
                .map(|quality| manifest.rate(quality) / 1e6)
                .collect(),
            segment_s: state.segment_s(),
            max_level: (state.max_buffer.as_secs_f64() - state.segment_s()).max(0.0),
            last,
            value: f64::NEG_INFINITY,
            first: 0,
        }
    }

    /// Returns the first quality of the best plan; of equal plans, the lowest.
    fn best(mut self, buffer: f64) -> usize {
        // Plans of a single quality first: the best of them lets the search leave out more.
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
        if value > self.value + TOLERANCE || (value > self.value - TOLERANCE && first < self.first)
        {
            self.value = self.value.max(value);
            self.first = first;
        }
    }

    /// Returns value and buffer after one more segment.
    fn step(&self, step: usize, quality: usize, value: f64, level: f64, last: usize) -> (f64, f64) {
        let time = self.times[step][quality];
        let stalled = (time - level).max(0.0);
        let level = ((level - time).max(0.0) + self.segment_s).min(self.max_level);
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
        if value + left as f64 * self.rates[self.rates.len() - 1] < self.value - TOLERANCE {
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
    fn brute_force(state: &AbrState, rate: f64, last: usize) -> usize {
        let plan = Plan::new(state, rate, last);
        let count = plan.rates.len();
        let mut best = (f64::NEG_INFINITY, 0);
        for number in 0..count.pow(plan.times.len() as u32) {
            let (mut value, mut level, mut last, mut rest) = (0.0, state.level(), last, number);
            let first = number % count;
            for step in 0..plan.times.len() {
                (value, level) = plan.step(step, rest % count, value, level, last);
                last = rest % count;
                rest /= count;
            }
            if value > best.0 + TOLERANCE || (value > best.0 - TOLERANCE && first < best.1) {
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
            let state = samples::state(&manifest, draws.uniform() * 20.0, 25.0, last);
            let rate = 2e5 + draws.uniform() * 6e6;
            assert_eq!(
                Plan::new(&state, rate, last).best(state.level()),
                brute_force(&state, rate, last)
            );
        }
    }

    /// One segment left, 4 s of 1 or 3 Mbit/s at 2 Mbit/s, and 5 s in the buffer: 3 Mbit/s take 6 s, so that a stall of
    /// 1 s costs 3 and the change 2, against 1 for the lower rate. With 6 s in the buffer, the change alone makes both
    /// worth 1, and the lower one is used.
    #[test]
    fn a_plan_of_one_segment_by_hand() {
        let manifest = samples::manifest(4, &[1_000, 3_000]);
        let quality = |buffer, last| {
            let state = AbrState {
                segment: 999,
                ..samples::state(&manifest, buffer, 30.0, last)
            };
            Plan::new(&state, 2e6, last).best(state.level())
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
        let state = samples::state(&manifest, 10.0, 30.0, 0);
        let mut rule = RobustMpc::default();
        rule.downloaded(&state, &samples::sample_download(&state, 0, 2.0));
        assert!((rule.predict().unwrap() - 2e6).abs() < 1.0);
        rule.downloaded(&state, &samples::sample_download(&state, 0, 1.0));
        // The harmonic mean of 2 and 1 is 4/3; the error was (2 - 1) / 1.
        assert!((rule.predict().unwrap() - 2e6 / 3.0).abs() < 1.0);
    }

    /// In a live stream 6 s behind the encoder, each request is made with 2 s in the buffer, however fast segments
    /// arrive. A faster download therefore gains nothing for later segments: the highest rate that arrives in 2 s wins.
    #[test]
    fn a_live_plan_fills_the_time_until_the_next_segment() {
        let rates = [363, 503, 688, 878, 1_178, 1_878, 2_478, 3_128, 4_428, 5_928];
        let manifest = samples::manifest(4, &rates);
        let state = samples::state(&manifest, 2.0, 6.0, 0);
        assert_eq!(Plan::new(&state, 2.8e6, 0).best(2.0), 4);
    }
}
