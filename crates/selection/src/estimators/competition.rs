//! Competition: whether other flows share the bottleneck.
//!
//! While a queue stands, the rate of a flow alone is the capacity, however large its window is: a smaller window drains
//! the queue. Beside others, a smaller window leaves the queue to them, and the rate falls with it. The elasticity of
//! the rate to the window is therefore 0 alone, and otherwise the share of the competing flows. A rate that changes
//! more than the window does follows the capacity, and makes the estimate uncertain. Only windows that get smaller
//! count, because the windows of several flows often grow side by side.

use units::{Duration, Instant};

use super::capacity::normal;
use crate::estimate::Estimate;
use crate::sample::Sample;

/// Minimum length of a block: the rate of a round trip is right to within a sample interval.
const BLOCK: Duration = Duration::from_millis(400);
/// Minimum number of round trips of a block, since deliveries lag behind the window by one.
const ROUNDS: u32 = 4;
/// Minimum queueing delay of a standing queue, as a share of the RTT without a queue.
const MIN_STANDING_DELAY: f64 = 0.3;
/// Minimum mean number of segments in flight. With fewer, windows with a queue of a few segments follow the capacity.
const MIN_INFLIGHT: f64 = 6.0;
/// Minimum fall of ln(window) between blocks that counts: half of a back-off of CUBIC.
const MIN_WINDOW_FALL: f64 = 0.15;
/// Minimum standard deviation of the difference of ln(rate) between blocks of a flow alone.
const MIN_RATE_DEVIATION: f64 = 0.2;
/// Time after which what was seen counts half.
const HALF_LIFE: f64 = 30.0;
/// Minimum elasticity that shows competing flows: the share of one that is half as large as the flow.
pub(super) const COMPETITION_ELASTICITY: f64 = 0.33;

/// Sums over the samples of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: Instant,
    round: u32,
    delivered: u64,
    inflight: f64,
    samples: f64,
    /// Whether the application or an outage held back what was sent, or slow start had not found the capacity yet.
    disturbed: bool,
}

/// Logarithms of window and rate of a block with a queue.
#[derive(Clone, Copy, Debug)]
struct BlockSample {
    window: f64,
    rate: f64,
}

/// Estimator of the elasticity of the rate to the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompetitionEstimator {
    block: Option<Block>,
    last: Option<BlockSample>,
    /// Sums over pairs of blocks: squares of the change of the window, products, squares of that of the rate, pairs.
    sums: [f64; 4],
}

impl CompetitionEstimator {
    /// Adds the next sample, in round trip number `round`; `floor` is the RTT without a queue, s.
    pub(super) fn observe(&mut self, sample: &Sample<'_>, round: u32, floor: f64, outage: bool) {
        let sender = sample.sender;
        let fresh = Block {
            start: sample.at,
            round,
            delivered: sender.delivered,
            inflight: 0.0,
            samples: 0.0,
            disturbed: false,
        };
        let block = self.block.get_or_insert(fresh);
        block.inflight += f64::from(sender.inflight);
        block.samples += 1.0;
        block.disturbed |= outage || sender.slow_start || sender.is_app_limited();
        let length = sample.at.saturating_since(block.start);
        if length < BLOCK || round < block.round + ROUNDS {
            return;
        }
        let ended = *block;
        self.block = Some(fresh);
        let seconds = length.as_secs_f64();
        let window = ended.inflight / ended.samples;
        let rate = sender.delivered.saturating_sub(ended.delivered) as f64 / seconds;
        // By Little's law, window over rate is the RTT of the block.
        let stands = window > MIN_INFLIGHT && window > rate * floor * (1.0 + MIN_STANDING_DELAY);
        let is_evidence = stands && rate > 0.0 && !ended.disturbed;
        let seen = is_evidence.then(|| BlockSample {
            window: window.ln(),
            rate: rate.ln(),
        });
        let decay = 0.5_f64.powf(seconds / HALF_LIFE);
        self.sums = self.sums.map(|sum| sum * decay);
        if let (Some(before), Some(after)) = (self.last, seen) {
            self.pair(after.window - before.window, after.rate - before.rate);
        }
        self.last = seen;
    }

    fn pair(&mut self, window: f64, rate: f64) {
        if window > -MIN_WINDOW_FALL {
            return;
        }
        let new = [window * window, window * rate, rate * rate, 1.0];
        for (sum, new) in self.sums.iter_mut().zip(new) {
            *sum += new;
        }
    }

    /// Returns the elasticity; the confidence is the certainty with which it is above or below
    /// [`COMPETITION_ELASTICITY`].
    pub(super) fn competition(&self) -> Estimate<f64> {
        let [windows, products, rates, pairs] = self.sums;
        if windows < MIN_WINDOW_FALL * MIN_WINDOW_FALL {
            return Estimate::default();
        }
        let slope = (products / windows).clamp(0.0, 1.0);
        let rest = (rates - 2.0 * products * slope + windows * slope * slope) / pairs.max(1.0);
        let error = (rest.max(MIN_RATE_DEVIATION * MIN_RATE_DEVIATION) / windows).sqrt();
        let certain = 2.0 * normal((slope - COMPETITION_ELASTICITY).abs() / error) - 1.0;
        Estimate::new(slope, certain)
    }
}
