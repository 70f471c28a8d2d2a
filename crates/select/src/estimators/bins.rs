//! Samples summed up in short intervals.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant, Rate};

use crate::sample::Sample;

/// Length of a bin: more than an RTT of 4G without a queue, so that bursts of a window even out.
const BIN: Duration = Duration::from_millis(100);
/// Bins over which rates are smoothed: a second.
const SMOOTHED: usize = 10;
/// Above the lowest smoothed RTT by this share, a queue may stand: less is the jitter of HARQ and of grants
/// (one retransmission in ten is 8 ms of LTE, 0.8 ms on average, or 2 % of a low RTT; and as much upward).
const JITTER: f64 = 0.04;
/// Above it by so much more, a queue certainly stands.
const CERTAIN: f64 = 0.08;
/// Share of a pipe that must at least be in flight where a queue stands: whoever has cut the window below
/// that is emptying the queue, as BBR does to see the lowest RTT.
const FILLED: f64 = 0.75;
/// Slow start sends bursts of twice the rate, which queue without filling the pipe: there, only a queue of
/// half an RTT counts.
const SLOW_START_QUEUE: f64 = 0.5;

/// What happened in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// Its end.
    pub(crate) at: Instant,
    /// Segments delivered per second, as a rate of payload.
    pub(crate) rate: Rate,
    /// How surely a queue stood all the time, so that the rate is the capacity: from 0 to 1.
    pub(crate) standing: f64,
    delivered: u64,
    retransmissions: u64,
}

/// The present bin and the last ones.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    start: Option<Sample>,
    /// Sums over the samples of the present bin: smoothed RTT in s, segments in flight.
    sums: (f64, f64),
    count: u32,
    slow_start: bool,
    app_limited: bool,
    /// Lowest mean of the smoothed RTT in a bin, s: what the RTT is without a queue, jitter included.
    floor: f64,
    /// Bins without a queue.
    calm: u32,
    last: VecDeque<Bin>,
}

impl Bins {
    pub(crate) fn new() -> Self {
        Self {
            start: None,
            sums: (0.0, 0.0),
            count: 0,
            slow_start: false,
            app_limited: false,
            floor: f64::INFINITY,
            calm: 0,
            last: VecDeque::with_capacity(SMOOTHED + 1),
        }
    }

    /// Takes a sample; answers the bin that it ends.
    pub(crate) fn observe(&mut self, sample: &Sample) -> Option<Bin> {
        let start = *self.start.get_or_insert(*sample);
        self.sums.0 += sample.srtt.as_secs_f64();
        self.sums.1 += f64::from(sample.inflight);
        self.count += 1;
        self.slow_start |= sample.slow_start;
        self.app_limited |= sample.app_limited;
        let length = sample.at.saturating_since(start.at);
        if length < BIN {
            return None;
        }
        let delivered = sample.delivered.saturating_sub(start.delivered);
        let retransmissions = sample.retransmissions.saturating_sub(start.retransmissions);
        let bin = Bin {
            at: sample.at,
            rate: Rate::of(Bytes::new(delivered * u64::from(sample.mss)), length),
            standing: self.standing(sample, delivered as f64 / length.as_secs_f64()),
            delivered,
            retransmissions,
        };
        self.start = Some(*sample);
        (self.sums, self.count) = ((0.0, 0.0), 0);
        (self.slow_start, self.app_limited) = (false, false);
        self.last.push_back(bin);
        if self.last.len() > SMOOTHED {
            self.last.pop_front();
        }
        Some(bin)
    }

    /// How surely a queue stood in the present bin, in which so many segments arrived per second.
    fn standing(&mut self, sample: &Sample, rate: f64) -> f64 {
        let (srtt, inflight) = (
            self.sums.0 / f64::from(self.count),
            self.sums.1 / f64::from(self.count),
        );
        self.floor = self
            .floor
            .min(srtt)
            .max(sample.min_rtt.as_secs_f64())
            .max(1e-6);
        if self.app_limited || inflight < FILLED * rate * self.floor {
            return 0.0;
        }
        let excess = srtt / self.floor - 1.0;
        if excess < JITTER {
            self.calm = self.calm.saturating_add(1);
        }
        if self.slow_start {
            return f64::from(u8::from(excess > SLOW_START_QUEUE));
        }
        ((excess - JITTER) / CERTAIN).clamp(0.0, 1.0)
    }

    /// Mean delivery rate of the last second.
    pub(crate) fn rate(&self) -> Rate {
        let sum: u64 = self.last.iter().map(|bin| bin.rate.bits_per_second()).sum();
        Rate::from_bits_per_second(sum / self.last.len().max(1) as u64)
    }

    /// Share of what was delivered in the last second that was sent again.
    pub(crate) fn retransmitted(&self) -> f64 {
        let again: u64 = self.last.iter().map(|bin| bin.retransmissions).sum();
        let delivered: u64 = self.last.iter().map(|bin| bin.delivered).sum();
        (again as f64 / delivered.max(1) as f64).min(1.0)
    }

    /// Bins without a queue so far.
    pub(crate) fn calm(&self) -> f64 {
        f64::from(self.calm)
    }

    /// RTT without a queue, jitter included, s; infinite before the first bin.
    pub(crate) fn floor(&self) -> f64 {
        self.floor
    }
}
