//! Bins: samples summed up in short intervals.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant, Rate};

use crate::sample::Sample;

/// Length of a bin: more than an RTT of 4G without a queue, so that bursts of a window even out.
const BIN: Duration = Duration::from_millis(100);
/// Number of bins over which rates are smoothed: a second.
const SMOOTHED: usize = 10;
/// Number of bins over which waiting times are averaged, since they jump by 8 ms with each block that is retransmitted.
const RECENT_BINS: usize = 5;
/// Mean waiting time of packets where hardly any queue stands, s, above the lowest RTT. It is half a transmission
/// interval of 1 ms and, for one block in ten, 8 ms until its retransmission.
const RADIO_WAIT: f64 = 0.5e-3 + 0.1 * 8e-3;
/// The same on a link without jitter: two segments, which one ACK acknowledges.
const WIRED_WAIT_SEGMENTS: f64 = 2.0;
/// Difference between the RTT without a queue and the lowest RTT above which the path has the jitter of a radio, s.
const RADIO_JITTER: f64 = 1e-3;
/// Standard deviation of ln(rate) of a bin from ln(capacity), even if there is always a queue.
const DEVIATION: f64 = 0.07;
/// Error of an RTT computed by Little's law, relative to the RTT without a queue: the rate of a bin is right to within
/// 5 %.
const LITTLE: f64 = 0.1;
/// Least queue that counts during slow start, in RTTs. Slow start sends bursts at twice the rate, which queue without
/// filling the pipe.
const SLOW_START_QUEUE: f64 = 0.5;

/// Summary of one interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// End of the interval.
    pub(crate) at: Instant,
    /// Segments delivered per second, as a rate of payload.
    pub(crate) rate: Rate,
    /// Share of the time during which a queue stood, so that the path was in full use.
    pub(crate) used: f64,
    /// Confidence in `used`, from 0 to 1.
    pub(crate) queue_confidence: f64,
    delivered: u64,
    retransmissions: u64,
}

/// Time and counts at the start of a bin.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: Instant,
    delivered: u64,
    retransmissions: u64,
}

impl Start {
    fn of(sample: &Sample<'_>) -> Self {
        Self {
            at: sample.at,
            delivered: sample.sender.delivered,
            retransmissions: sample.sender.retransmissions,
        }
    }
}

/// The present bin and the latest ones.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    start: Option<Start>,
    /// Sums over the samples of the present bin: smoothed RTT in s, segments in flight.
    sums: (f64, f64),
    count: u32,
    slow_start: bool,
    app_limited: bool,
    /// Lowest smoothed RTT, s: the RTT without a queue, jitter included.
    baseline_rtt: f64,
    /// Mean RTT above the floor (s), segments in flight, and segments per second of the latest bins.
    lately: VecDeque<[f64; 3]>,
    /// Number of bins without a queue.
    calm: u32,
    last: VecDeque<Bin>,
}

impl Default for Bins {
    fn default() -> Self {
        Self {
            start: None,
            sums: (0.0, 0.0),
            count: 0,
            slow_start: false,
            app_limited: false,
            baseline_rtt: f64::INFINITY,
            lately: VecDeque::with_capacity(RECENT_BINS),
            calm: 0,
            last: VecDeque::with_capacity(SMOOTHED + 1),
        }
    }
}

impl Bins {
    /// Takes a sample; returns the bin that it ends.
    pub(crate) fn observe(&mut self, sample: &Sample<'_>) -> Option<Bin> {
        let sender = sample.sender;
        let start = *self.start.get_or_insert(Start::of(sample));
        let srtt = sample.srtt.as_secs_f64();
        self.baseline_rtt = self
            .baseline_rtt
            .min(srtt)
            .max(sample.min_rtt.as_secs_f64())
            .max(1e-6);
        self.sums.0 += srtt;
        self.sums.1 += f64::from(sender.inflight);
        self.count += 1;
        self.slow_start |= sender.slow_start;
        self.app_limited |= sender.app_limited;
        let length = sample.at.saturating_since(start.at);
        if length < BIN {
            return None;
        }
        let delivered = sender.delivered.saturating_sub(start.delivered);
        let retransmissions = sender.retransmissions.saturating_sub(start.retransmissions);
        let (used, standing) = self.standing(sample, delivered as f64 / length.as_secs_f64());
        let bin = Bin {
            at: sample.at,
            rate: Rate::of(Bytes::new(delivered * u64::from(sender.mss)), length),
            used,
            queue_confidence: standing,
            delivered,
            retransmissions,
        };
        self.start = Some(Start::of(sample));
        (self.sums, self.count) = ((0.0, 0.0), 0);
        (self.slow_start, self.app_limited) = (false, false);
        self.last.push_back(bin);
        if self.last.len() > SMOOTHED {
            self.last.pop_front();
        }
        Some(bin)
    }

    /// Returns the share of the present bin during which a queue stood, and the confidence in it. `rate` is the number
    /// of segments that arrived per second.
    ///
    /// If the queue is empty for a share u of the time, packets wait for about w/u; w is the time with hardly any
    /// queue. This holds for M/M/1, and for radio links, whose packets wait for whole transmission
    /// intervals. The error of w is taken to be w itself.
    fn standing(&mut self, sample: &Sample<'_>, rate: f64) -> (f64, f64) {
        let count = f64::from(self.count);
        let (srtt, inflight) = (self.sums.0 / count, self.sums.1 / count);
        if self.lately.len() == RECENT_BINS {
            self.lately.pop_front();
        }
        let now = srtt - self.baseline_rtt;
        self.lately.push_back([now, inflight, rate.max(1.0)]);
        let sum = |of: usize| self.lately.iter().map(|each| each[of]).sum::<f64>();
        let waiting = sum(0) / self.lately.len() as f64;
        let jitter = (self.baseline_rtt - sample.min_rtt.as_secs_f64()) / RADIO_JITTER;
        let radio = RADIO_WAIT * jitter.clamp(0.0, 1.0);
        let wait = radio.max(WIRED_WAIT_SEGMENTS / rate.max(1.0));
        if waiting <= wait {
            self.calm = self.calm.saturating_add(1);
            return (0.0, 0.0);
        }
        let used = 1.0 - radio / waiting;
        let burst = self.slow_start && waiting < SLOW_START_QUEUE * self.baseline_rtt;
        // By Little's law, the data in flight divided by the rate is the actual RTT. The smoothed RTT lags behind it
        // just after a reduction of the window.
        let real = (inflight / rate.max(1.0)).min(sum(1) / sum(2)) - self.baseline_rtt;
        let late = now < waiting / 2.0 || real < waiting / 2.0 - LITTLE * self.baseline_rtt;
        if self.app_limited || burst || late {
            return (used, 0.0);
        }
        let error = wait * wait / (waiting * waiting * (1.0 - wait / waiting));
        (
            used,
            1.0 / (1.0 + (error / DEVIATION) * (error / DEVIATION)),
        )
    }

    /// Returns the mean delivery rate of the last second.
    pub(crate) fn rate(&self) -> Rate {
        let sum: u64 = self.last.iter().map(|bin| bin.rate.bits_per_second()).sum();
        Rate::from_bits_per_second(sum / self.last.len().max(1) as u64)
    }

    /// Returns the number of retransmitted segments over those delivered, in the last second.
    pub(crate) fn retransmitted(&self) -> f64 {
        let again: u64 = self.last.iter().map(|bin| bin.retransmissions).sum();
        let delivered: u64 = self.last.iter().map(|bin| bin.delivered).sum();
        (again as f64 / delivered.max(1) as f64).min(1.0)
    }

    /// Returns the number of bins without a queue so far.
    pub(crate) fn queueless_bins(&self) -> f64 {
        f64::from(self.calm)
    }

    /// Returns the RTT without a queue, jitter included, s; infinite before the first bin.
    pub(crate) fn floor(&self) -> f64 {
        self.baseline_rtt
    }
}
