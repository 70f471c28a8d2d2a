//! Buffer: size of the bottleneck's buffer, from the queue at which it overflows.
//!
//! Only an overflow shows the size. A CCA that never fills the buffer has other losses: random ones, or overflows by
//! other flows. Random losses hit any segment with the same probability. Losses of an overflow hit the round trips with
//! the longest queues. So the peak of the queue in a round trip with a loss is ranked among those of all round trips,
//! weighted by segments. If losses are random, the rank is uniform and minus its logarithm exponential. A sum of n such
//! terms has a gamma distribution, which gives the probability that the losses are overflows.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::estimate::Estimate;
use crate::sample::Sample;

/// Number of smoothed RTTs for which losses belong to the same overflow: one to notice it, one for the data in flight,
/// one for retransmissions that were lost.
pub(super) const OVERFLOW_RTTS: u64 = 3;
/// Number of round trips among which a peak is ranked.
const MAX_PEAKS: usize = 128;
/// Minimum number of round trips before a loss that counts.
const MIN_ROUNDS: usize = 4;
/// Number of the latest losses that count; older ones may concern another path.
const MAX_LOSSES: usize = 16;
/// Minimum queueing delay of an overflowing buffer, as a share of the RTT without a queue.
const MIN_OVERFLOW_DELAY: f64 = 0.1;
/// Minimum queueing delay of an overflowing buffer, in deviations of the jitter. The baseline is the lowest smoothed
/// RTT; jitter alone puts the highest one that far above it.
const MIN_OVERFLOW_JITTERS: f64 = 2.0;
/// Tolerance factor of the size; the confidence is the probability that the size is within it.
const SIZE_TOLERANCE: f64 = 1.5;
/// Prior standard deviation of ln(peak) of single overflows.
const PRIOR_SD: f64 = 0.3;
/// Number of overflows that the prior counts as.
const PRIOR_COUNT: f64 = 2.0;
/// Standard deviation of ln(peak) of the overflow that ends slow start. In slow start the queue grows by half its length
/// in a round trip, and the rate lags behind.
const SLOW_START_SD: f64 = 0.7;
/// Deviations of ln(peak) per deviation of the jitter over the queueing delay.
const LN_PEAK_SD_PER_JITTER: f64 = 1.5;
/// Maximum relative difference of two equal peaks.
const PEAK_TOLERANCE: f64 = 0.02;
/// Minimum peak of a queue that may have overflowed, segments.
const MIN_OVERFLOW_PEAK: f64 = 5.0;
/// Standard deviation of ln(size) that no number of overflows removes, as the smoothed RTT lags behind the queue.
const LAG_SD: f64 = 0.15;

/// Loss: by an overflow, or at random.
#[derive(Clone, Copy, Debug)]
struct LossSample {
    /// Minus the logarithm of the rank of its round trip.
    evidence: f64,
    /// ln(peak) of the queue, segments.
    ln_peak: f64,
    /// Variance of ln(peak) from jitter, changes of the capacity, and slow start.
    variance: f64,
}

/// Round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Peak of the queue, segments.
    peak: f64,
    /// Longest queueing delay, s.
    queueing_delay: f64,
    /// Number of segments delivered at its start.
    delivered: u64,
}

/// Queue that a sample shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueSample {
    /// Queue, segments.
    pub(super) segments: f64,
    /// Queueing delay, s.
    pub(super) queueing_delay: f64,
    /// RTT without a queue, s.
    pub(super) baseline_rtt: f64,
    /// Deviation of the RTT of single packets, s.
    pub(super) jitter: f64,
    /// Standard deviation of the capacity, relative to its mean.
    pub(super) variability: f64,
}

/// Longest queue of a round trip.
#[derive(Clone, Copy, Debug)]
struct QueuePeak {
    peak: f64,
    /// Segments delivered in the round trip.
    segments: f64,
}

/// Estimator of the size of the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferEstimator {
    peaks: VecDeque<QueuePeak>,
    current: Round,
    previous: Round,
    /// Start of the current round trip.
    start: Option<Instant>,
    /// Time until which losses belong to the last overflow.
    overflowing_until: Instant,
    /// Time until which the queue may be that of slow start.
    slow_start_until: Instant,
    losses: VecDeque<LossSample>,
    /// Size of the buffer, segments.
    pub(super) estimate: Estimate<f64>,
}

impl BufferEstimator {
    /// Adds the next sample; `retransmitted` is the number of segments retransmitted since the previous one.
    pub(super) fn observe(
        &mut self,
        sample: &Sample<'_>,
        queue: QueueSample,
        retransmitted: u64,
        is_outage: bool,
    ) {
        let episode: Duration = sample.srtt * OVERFLOW_RTTS;
        let start = *self.start.get_or_insert(sample.at);
        if sample.at >= start + sample.srtt {
            let is_undisturbed = sample.at >= self.overflowing_until && !is_outage;
            self.end_round(sample, is_undisturbed);
        }
        // By Little's law, the queue's share of the RTT is its share of the segments in flight. Right after an overflow,
        // lost segments still count as in flight, so `queue.segments` limits the peak.
        let queue_segments = f64::from(sample.sender.inflight) * queue.queueing_delay
            / (queue.queueing_delay + queue.baseline_rtt);
        self.current.peak = self.current.peak.max(queue_segments.min(queue.segments));
        self.current.queueing_delay = self.current.queueing_delay.max(queue.queueing_delay);
        if sample.sender.slow_start {
            self.slow_start_until = sample.at + episode;
        }
        if retransmitted == 0 || is_outage || sample.at < self.overflowing_until {
            return;
        }
        self.end_round(sample, true);
        self.on_loss(&queue, sample.at < self.slow_start_until);
        self.overflowing_until = sample.at + episode;
    }

    /// Ends a round trip; its peak is kept if it `is_undisturbed`.
    fn end_round(&mut self, sample: &Sample<'_>, is_undisturbed: bool) {
        let delivered = sample.sender.delivered;
        if is_undisturbed {
            if self.peaks.len() == MAX_PEAKS {
                self.peaks.pop_front();
            }
            let segments = delivered.saturating_sub(self.current.delivered) as f64;
            let peak = self.previous.peak.max(self.current.peak);
            self.peaks.push_back(QueuePeak { peak, segments });
        }
        self.previous = self.current;
        self.current = Round {
            delivered,
            ..Round::default()
        };
        self.start = Some(sample.at);
    }

    /// Processes a loss in the round trip that has just ended, perhaps after slow start (`in_slow_start`).
    fn on_loss(&mut self, queue: &QueueSample, in_slow_start: bool) {
        let last = self.peaks.back().filter(|_| self.peaks.len() > MIN_ROUNDS);
        let Some(&QueuePeak { peak, .. }) = last else {
            return;
        };
        // An equal peak counts half.
        let is_above = |each: &QueuePeak| match each.peak / peak.max(f64::MIN_POSITIVE) {
            ratio if ratio > 1.0 + PEAK_TOLERANCE => 1.0,
            ratio if ratio < 1.0 - PEAK_TOLERANCE => 0.0,
            _ => 0.5,
        };
        let above = self.peaks.iter().map(|each| is_above(each) * each.segments);
        let total: f64 = self.peaks.iter().map(|each| each.segments).sum();
        let rank = above.sum::<f64>() / total.max(1.0);
        let queueing_delay = self.previous.queueing_delay.max(f64::MIN_POSITIVE);
        let min_delay =
            MIN_OVERFLOW_DELAY * queue.baseline_rtt + MIN_OVERFLOW_JITTERS * queue.jitter;
        let may_be_overflow = queueing_delay > min_delay && peak > MIN_OVERFLOW_PEAK;
        let slow_start_sd = if in_slow_start { SLOW_START_SD } else { 0.0 };
        if self.losses.len() == MAX_LOSSES {
            self.losses.pop_front();
        }
        // The smoothed RTT misses a part of a queueing delay that is short compared to the jitter. It also misses what a
        // change of the capacity adds within a round trip.
        let jitter_sd = LN_PEAK_SD_PER_JITTER * queue.jitter / queueing_delay;
        let capacity_sd = queue.variability * queue.baseline_rtt / queueing_delay;
        self.losses.push_back(LossSample {
            evidence: if may_be_overflow {
                -rank.clamp(1e-3, 1.0).ln()
            } else {
                0.0
            },
            ln_peak: peak.max(f64::MIN_POSITIVE).ln(),
            variance: jitter_sd * jitter_sd
                + capacity_sd * capacity_sd
                + slow_start_sd * slow_start_sd,
        });
        self.estimate = self.estimate_size();
    }

    /// Returns the size estimated from the losses so far, segments.
    fn estimate_size(&self) -> Estimate<f64> {
        let count = self.losses.len() as f64;
        let evidence: f64 = self.losses.iter().map(|loss| loss.evidence).sum();
        if evidence == 0.0 {
            return Estimate::default();
        }
        let overflow_probability = gamma_cdf(self.losses.len(), evidence);
        let prior_variance = PRIOR_SD * PRIOR_SD;
        // Each peak counts by its evidence, since some losses among overflows are random, and by its precision.
        let weight = |loss: &LossSample| loss.evidence / (prior_variance + loss.variance);
        let total: f64 = self.losses.iter().map(weight).sum();
        let weighted_mean = |of: &dyn Fn(&LossSample) -> f64| {
            let term = |loss: &LossSample| weight(loss) * of(loss);
            self.losses.iter().map(term).sum::<f64>() / total
        };
        let mean = weighted_mean(&|loss| loss.ln_peak);
        let spread = weighted_mean(&|loss| (loss.ln_peak - mean) * (loss.ln_peak - mean));
        let variance = (spread * count + prior_variance * PRIOR_COUNT) / (count + PRIOR_COUNT);
        let mean_variance = weighted_mean(&|loss| loss.variance);
        let deviation = (variance / count + LAG_SD * LAG_SD + mean_variance).sqrt();
        let within_tolerance =
            libm::erf(SIZE_TOLERANCE.ln() / deviation / core::f64::consts::SQRT_2);
        Estimate::new(mean.exp(), overflow_probability * within_tolerance)
    }
}

/// Returns the probability that a sum of `count` terms with a standard exponential distribution is below `sum`.
fn gamma_cdf(count: usize, sum: f64) -> f64 {
    let mut term = (-sum).exp();
    let mut above = 0.0;
    for k in 1..=count {
        above += term;
        term *= sum / k as f64;
    }
    (1.0 - above).clamp(0.0, 1.0)
}
