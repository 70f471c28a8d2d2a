//! Samples summed up in short intervals.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant, Rate};

use crate::sample::Sample;

/// Length of a bin.
const BIN: Duration = Duration::from_millis(100);
/// Bins over which rates are smoothed: a second.
const SMOOTHED: usize = 10;

/// What happened in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// Its end.
    pub(crate) at: Instant,
    /// Segments delivered per second, as a rate of payload.
    pub(crate) rate: Rate,
    /// Mean of the smoothed RTT over the lowest RTT.
    pub(crate) rtt_ratio: f64,
    delivered: u64,
    retransmissions: u64,
}

/// The present bin and the last ones.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    start: Option<Sample>,
    rtt_ratios: f64,
    count: u32,
    last: VecDeque<Bin>,
}

impl Bins {
    pub(crate) fn new() -> Self {
        Self {
            start: None,
            rtt_ratios: 0.0,
            count: 0,
            last: VecDeque::with_capacity(SMOOTHED + 1),
        }
    }

    /// Takes a sample; answers the bin that it ends.
    pub(crate) fn observe(&mut self, sample: &Sample) -> Option<Bin> {
        let start = *self.start.get_or_insert(*sample);
        let ratio = sample.srtt.as_secs_f64() / sample.min_rtt.as_secs_f64().max(1e-6);
        self.rtt_ratios += ratio;
        self.count += 1;
        let length = sample.at.saturating_since(start.at);
        if length < BIN {
            return None;
        }
        let delivered = sample.delivered - start.delivered;
        let bin = Bin {
            at: sample.at,
            rate: Rate::of(Bytes::new(delivered * u64::from(sample.mss)), length),
            rtt_ratio: self.rtt_ratios / f64::from(self.count),
            delivered,
            retransmissions: sample.retransmissions - start.retransmissions,
        };
        self.start = Some(*sample);
        (self.rtt_ratios, self.count) = (0.0, 0);
        self.last.push_back(bin);
        if self.last.len() > SMOOTHED {
            self.last.pop_front();
        }
        Some(bin)
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
}
