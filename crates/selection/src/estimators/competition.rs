//! Competition: whether other flows share the bottleneck.
//!
//! While a queue stands, the rate of a flow alone is the capacity, however large its window is: a smaller window drains
//! the queue. With competing flows, a smaller window leaves the queue to them, and the rate falls with the window. The
//! elasticity of the rate to the window is 0 for a flow alone, and otherwise the share of the competing flows. A rate
//! that changes more than the window does follows the capacity, and makes the estimate uncertain. Only windows that
//! shrink count, because the windows of several flows often grow at the same time.

use units::{Duration, Instant};

use super::capacity::normal_cdf;
use crate::estimate::Estimate;
use crate::sample::Sample;

/// Minimum length of a block: the rate of a round trip is right to within a sample interval.
const MIN_BLOCK: Duration = Duration::from_millis(400);
/// Minimum number of round trips of a block, since deliveries lag behind the window by one.
const MIN_ROUNDS: u32 = 4;
/// Minimum queueing delay of a standing queue, as a share of the RTT without a queue.
const MIN_STANDING_DELAY: f64 = 0.3;
/// Minimum mean number of segments in flight. With fewer, windows with a queue of a few segments follow the capacity.
const MIN_INFLIGHT: f64 = 6.0;
/// Minimum fall of ln(window) between blocks that counts: half of a back-off of CUBIC.
const MIN_WINDOW_FALL: f64 = 0.15;
/// Minimum standard deviation of the difference of ln(rate) between blocks of a flow alone.
const MIN_RATE_DEVIATION: f64 = 0.2;
/// Time after which the weight of a pair of blocks is halved, s.
const HALF_LIFE_S: f64 = 30.0;
/// Minimum elasticity that shows competing flows: the share of a competitor half as large as the flow.
pub(super) const COMPETITION_ELASTICITY: f64 = 0.33;

/// Sums over the samples of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: Instant,
    /// Number of the round trip at its start.
    first_round: u32,
    /// Number of segments delivered before its start.
    delivered: u64,
    inflight_sum: f64,
    samples: f64,
    /// Whether the application or an outage held back data, or slow start had not found the capacity yet.
    is_disturbed: bool,
}

/// Logarithms of the mean window (segments) and the rate (segments per second) of a block with a queue.
#[derive(Clone, Copy, Debug)]
struct BlockSample {
    ln_window: f64,
    ln_rate: f64,
}

/// Estimator of the elasticity of the rate to the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompetitionEstimator {
    block: Option<Block>,
    last: Option<BlockSample>,
    /// Sums over pairs of blocks, of the changes of ln(window) and ln(rate): window squared, window times rate, rate
    /// squared, and the number of pairs.
    sums: [f64; 4],
}

impl CompetitionEstimator {
    /// Adds the next sample, in round trip number `round`; `baseline_rtt` is the RTT without a queue, s.
    pub(super) fn observe(
        &mut self,
        sample: &Sample<'_>,
        round: u32,
        baseline_rtt: f64,
        is_outage: bool,
    ) {
        let sender = sample.sender;
        let new_block = Block {
            start: sample.at,
            first_round: round,
            delivered: sender.delivered,
            inflight_sum: 0.0,
            samples: 0.0,
            is_disturbed: false,
        };
        let block = self.block.get_or_insert(new_block);
        block.inflight_sum += f64::from(sender.inflight);
        block.samples += 1.0;
        block.is_disturbed |= is_outage || sender.slow_start || sender.is_app_limited();
        let length = sample.at.saturating_since(block.start);
        if length < MIN_BLOCK || round < block.first_round + MIN_ROUNDS {
            return;
        }
        let ended = core::mem::replace(block, new_block);
        let seconds = length.as_secs_f64();
        let window = ended.inflight_sum / ended.samples;
        let rate = sender.delivered.saturating_sub(ended.delivered) as f64 / seconds;
        // By Little's law, window over rate is the RTT of the block.
        let has_queue = window > rate * baseline_rtt * (1.0 + MIN_STANDING_DELAY);
        let is_evidence = window > MIN_INFLIGHT && has_queue && rate > 0.0 && !ended.is_disturbed;
        let block_sample = is_evidence.then(|| BlockSample {
            ln_window: window.ln(),
            ln_rate: rate.ln(),
        });
        let decay = 0.5_f64.powf(seconds / HALF_LIFE_S);
        self.sums = self.sums.map(|sum| sum * decay);
        if let (Some(before), Some(after)) = (self.last, block_sample) {
            self.add_pair(
                after.ln_window - before.ln_window,
                after.ln_rate - before.ln_rate,
            );
        }
        self.last = block_sample;
    }

    /// Adds the changes of ln(window) and ln(rate) from one block to the next, if the window shrank.
    fn add_pair(&mut self, window: f64, rate: f64) {
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
        let residual = (rates - 2.0 * products * slope + windows * slope * slope) / pairs.max(1.0);
        let error = (residual.max(MIN_RATE_DEVIATION * MIN_RATE_DEVIATION) / windows).sqrt();
        let certainty = 2.0 * normal_cdf((slope - COMPETITION_ELASTICITY).abs() / error) - 1.0;
        Estimate::new(slope, certainty)
    }
}
