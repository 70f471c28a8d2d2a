//! Bins: means of samples over short intervals.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant, Rate};

use crate::estimate::Estimate;
use crate::sample::Sample;

/// Length of a bin: more than an RTT of 4G without a queue, so that bursts of a window even out.
const BIN: Duration = Duration::from_millis(100);
/// Number of bins over which rates are averaged: a second.
const RATE_BINS: usize = 10;
/// Number of bins over which queueing delays are averaged, since they jump by 8 ms with each retransmitted block.
const RECENT_BINS: usize = 5;
/// Mean delay of packets on a radio link above the lowest RTT with hardly any queue, s. It is half a transmission
/// interval of 1 ms and, for one block in ten, 8 ms until its retransmission.
const RADIO_WAIT: f64 = 0.5e-3 + 0.1 * 8e-3;
/// The same on a link without jitter: two segments, which one ACK acknowledges.
const WIRED_WAIT_SEGMENTS: f64 = 2.0;
/// Difference between the RTT without a queue and the lowest RTT above which the path has the jitter of a radio, s.
const RADIO_JITTER: f64 = 1e-3;
/// Standard deviation of ln(rate / capacity) of a bin under a standing queue.
const LN_RATE_SD: f64 = 0.07;
/// Error of an RTT computed by Little's law, relative to the RTT without a queue: the rate of a bin is right to within
/// 5 %.
const LITTLE_LAW_ERROR: f64 = 0.1;
/// Minimum queue that counts during slow start, in RTTs. Slow start sends bursts at twice the rate, which queue without
/// filling the pipe.
const SLOW_START_QUEUE: f64 = 0.5;

/// Summary of one interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// End of the interval.
    pub(crate) at: Instant,
    /// Segments delivered per second, as a rate of payload.
    pub(crate) rate: Rate,
    /// Utilisation of the path: share of the time during which a queue stood.
    pub(crate) utilisation: f64,
    /// Confidence in `utilisation`, from 0 to 1.
    pub(crate) queue_confidence: f64,
    delivered: u64,
    retransmissions: u64,
}

/// Time and counters at the start of a bin.
#[derive(Clone, Copy, Debug)]
struct BinStart {
    at: Instant,
    delivered: u64,
    retransmissions: u64,
}

impl BinStart {
    fn of(sample: &Sample<'_>) -> Self {
        Self {
            at: sample.at,
            delivered: sample.sender.delivered,
            retransmissions: sample.sender.retransmissions,
        }
    }
}

/// Means of a bin.
#[derive(Clone, Copy, Debug)]
struct BinMeans {
    queueing_delay_s: f64,
    inflight: f64,
    segments_per_s: f64,
}

/// The current bin and the latest ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bins {
    start: Option<BinStart>,
    /// Sums over the samples of the current bin.
    srtt_sum_s: f64,
    inflight_sum: f64,
    count: u32,
    had_slow_start: bool,
    was_app_limited: bool,
    /// Lowest smoothed RTT, s: the RTT without a queue, jitter included.
    baseline_rtt: Option<f64>,
    /// Means of the latest bins.
    recent: VecDeque<BinMeans>,
    /// Number of bins without a queue.
    queueless_bins: u32,
    /// The latest complete bins, up to [`RATE_BINS`].
    last: VecDeque<Bin>,
}

impl Bins {
    /// Adds a sample; returns the bin that it completes.
    pub(crate) fn observe(&mut self, sample: &Sample<'_>) -> Option<Bin> {
        let sender = sample.sender;
        let start = *self.start.get_or_insert(BinStart::of(sample));
        let srtt = sample.srtt.as_secs_f64();
        let baseline_rtt = self
            .baseline_rtt_s()
            .min(srtt)
            .max(sample.min_rtt.as_secs_f64())
            .max(1e-6);
        self.baseline_rtt = Some(baseline_rtt);
        self.srtt_sum_s += srtt;
        self.inflight_sum += f64::from(sender.inflight);
        self.count += 1;
        self.had_slow_start |= sender.slow_start;
        self.was_app_limited |= sender.app_limited;
        let length = sample.at.saturating_since(start.at);
        if length < BIN {
            return None;
        }
        let delivered = sender.delivered.saturating_sub(start.delivered);
        let retransmissions = sender.retransmissions.saturating_sub(start.retransmissions);
        let utilisation =
            self.estimate_utilisation(sample, delivered as f64 / length.as_secs_f64());
        let bin = Bin {
            at: sample.at,
            rate: Rate::of(Bytes::new(delivered * u64::from(sender.mss)), length),
            utilisation: utilisation.value,
            queue_confidence: utilisation.confidence,
            delivered,
            retransmissions,
        };
        self.start = Some(BinStart::of(sample));
        (self.srtt_sum_s, self.inflight_sum, self.count) = (0.0, 0.0, 0);
        (self.had_slow_start, self.was_app_limited) = (false, false);
        self.last.push_back(bin);
        if self.last.len() > RATE_BINS {
            self.last.pop_front();
        }
        Some(bin)
    }

    /// Returns the share of the current bin during which a queue stood; `rate` is in segments delivered per second.
    ///
    /// If the queue is empty for a share u of the time, packets wait for about w/u; w is the delay with hardly any
    /// queue. This holds for M/M/1, and for radio links, whose packets wait for whole transmission intervals. The error
    /// of w is assumed to be w itself.
    fn estimate_utilisation(&mut self, sample: &Sample<'_>, rate: f64) -> Estimate<f64> {
        let baseline_rtt = self.baseline_rtt_s();
        let count = f64::from(self.count);
        let (srtt, inflight) = (self.srtt_sum_s / count, self.inflight_sum / count);
        if self.recent.len() == RECENT_BINS {
            self.recent.pop_front();
        }
        let queueing_delay = srtt - baseline_rtt;
        self.recent.push_back(BinMeans {
            queueing_delay_s: queueing_delay,
            inflight,
            segments_per_s: rate.max(1.0),
        });
        let sum = |of: fn(&BinMeans) -> f64| self.recent.iter().map(of).sum::<f64>();
        let mean_delay = sum(|bin| bin.queueing_delay_s) / self.recent.len() as f64;
        let jitter_ratio = (baseline_rtt - sample.min_rtt.as_secs_f64()) / RADIO_JITTER;
        let radio_wait = RADIO_WAIT * jitter_ratio.clamp(0.0, 1.0);
        let wait = radio_wait.max(WIRED_WAIT_SEGMENTS / rate.max(1.0));
        if mean_delay <= wait {
            self.queueless_bins = self.queueless_bins.saturating_add(1);
            return Estimate::new(0.0, 0.0);
        }
        let utilisation = 1.0 - radio_wait / mean_delay;
        let is_burst = self.had_slow_start && mean_delay < SLOW_START_QUEUE * baseline_rtt;
        // By Little's law, the data in flight divided by the rate is the actual RTT. The smoothed RTT lags behind it
        // just after a reduction of the window.
        let recent_rtt = sum(|bin| bin.inflight) / sum(|bin| bin.segments_per_s);
        let littles_delay = (inflight / rate.max(1.0)).min(recent_rtt) - baseline_rtt;
        let srtt_lags = queueing_delay < mean_delay / 2.0
            || littles_delay < mean_delay / 2.0 - LITTLE_LAW_ERROR * baseline_rtt;
        if self.was_app_limited || is_burst || srtt_lags {
            return Estimate::new(utilisation, 0.0);
        }
        let error = wait * wait / (mean_delay * mean_delay * (1.0 - wait / mean_delay));
        let error_ratio = error / LN_RATE_SD;
        Estimate::new(utilisation, 1.0 / (1.0 + error_ratio * error_ratio))
    }

    /// Returns the mean delivery rate of the last second.
    pub(crate) fn rate(&self) -> Rate {
        let sum: u64 = self.last.iter().map(|bin| bin.rate.bits_per_second()).sum();
        Rate::from_bits_per_second(sum / self.last.len().max(1) as u64)
    }

    /// Returns the number of retransmitted segments over those delivered, in the last second.
    pub(crate) fn retransmitted(&self) -> f64 {
        let retransmissions: u64 = self.last.iter().map(|bin| bin.retransmissions).sum();
        let delivered: u64 = self.last.iter().map(|bin| bin.delivered).sum();
        (retransmissions as f64 / delivered.max(1) as f64).min(1.0)
    }

    /// Returns the number of bins without a queue so far.
    pub(crate) fn queueless_bins(&self) -> f64 {
        f64::from(self.queueless_bins)
    }

    /// Returns the RTT without a queue, jitter included, s; infinite before the first bin.
    pub(crate) fn baseline_rtt_s(&self) -> f64 {
        self.baseline_rtt.unwrap_or(f64::INFINITY)
    }
}
