//! Queue delay: the RTT above its minimum over time, without the time for which receivers hold ACKs back.

use std::collections::VecDeque;

use super::histogram::Histogram;
use super::rtt::Sample;

/// Number of recent samples stored with their times.
const RECENT_SAMPLES: usize = 1_024;
/// Samples that differ by less than this part of the RTT, in time and in delay, are stored as one.
const STEPS_PER_RTT: u64 = 512;
/// Part of the RTT by which a queue can have changed at most between a loss and the sample next to it.
const NEAR_PER_RTT: u64 = 8;
/// Length of a period whose longest queue is stored, ns.
const PERIOD_NS: u64 = 1_000_000_000;
/// Number of stored periods.
const PERIODS: usize = 64;
/// Time before and after a loss in which the greatest length is the size of the queue, ns.
pub(super) const HORIZON_NS: u64 = 15_000_000_000;

/// Length of a queue, as a delay and in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Length {
    pub(super) delay_ns: u64,
    /// Queued bytes; 0 if the rate is not known.
    pub(super) bytes: u64,
}

impl Length {
    fn min(self, other: Self) -> Self {
        Self {
            delay_ns: self.delay_ns.min(other.delay_ns),
            bytes: self.bytes.min(other.bytes),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            delay_ns: self.delay_ns.max(other.delay_ns),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// Delays of the queue on one side of the capture, in bounded memory.
#[derive(Default)]
pub(super) struct QueueDelays {
    min_ns: Option<u64>,
    recent: VecDeque<Sample>,
    /// Start and greatest length of each period.
    periods: VecDeque<(u64, Length)>,
    delays: Histogram,
    bytes: Histogram,
    last: Length,
}

impl QueueDelays {
    /// Adds the delay of a packet, without time for which a receiver may have held back its ACK.
    pub(super) fn add(&mut self, sample: Sample) {
        let rtt = sample.rtt_ns.max(1);
        self.min_ns = Some(self.min_ns.map_or(rtt, |min| min.min(rtt)));
        let length = self.length(&sample);
        self.delays.add(length.delay_ns);
        self.bytes.add(length.bytes);
        // A queue takes time to fill and to drain, so that two samples in a row have its delay.
        let confirmed = length.min(core::mem::replace(&mut self.last, length));
        match self.periods.back_mut() {
            Some(last) if sample.at_ns < last.0.saturating_add(PERIOD_NS) => {
                last.1 = last.1.max(confirmed);
            }
            _ => {
                if self.periods.len() == PERIODS {
                    self.periods.pop_front();
                }
                self.periods.push_back((sample.at_ns, confirmed));
            }
        }
    }

    /// Returns the queue that a packet met. By Little's law its bytes are the rate in the RTT times the delay: a queue
    /// overflows at the same number of bytes, whatever the rate of the link.
    pub(super) fn length(&self, sample: &Sample) -> Length {
        let delay_ns = sample.rtt_ns.saturating_sub(self.min_ns.unwrap_or(0));
        let share = delay_ns as f64 / sample.rtt_ns.max(1) as f64;
        Length {
            delay_ns,
            bytes: (sample.delivered.unwrap_or(0) as f64 * share) as u64,
        }
    }

    /// Adds the delay of a packet to the recent ones, for the losses next to it.
    pub(super) fn add_recent(&mut self, sample: Sample) {
        let step = sample.rtt_ns / STEPS_PER_RTT;
        if let Some(last) = self.recent.back()
            && sample.at_ns < last.at_ns.saturating_add(step)
            && sample.rtt_ns.abs_diff(last.rtt_ns) < step
        {
            return;
        }
        if self.recent.len() == RECENT_SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back(sample);
    }

    pub(super) fn min_ns(&self) -> Option<u64> {
        self.min_ns
    }

    /// Returns the time within which packets meet about the same queue, beside a packet with this RTT: the lowest RTT, or
    /// a part of this one. In a lab the queue is the whole RTT, and changes no faster for that.
    pub(super) fn near_ns(&self, rtt_ns: u64) -> u64 {
        self.min_ns.unwrap_or(0).max(rtt_ns / NEAR_PER_RTT)
    }

    /// Returns the greatest length within [`HORIZON_NS`] of `at_ns`.
    pub(super) fn max_length_around(&self, at_ns: u64) -> Length {
        let from = at_ns.saturating_sub(HORIZON_NS + PERIOD_NS);
        let until = at_ns.saturating_add(HORIZON_NS);
        let near = self
            .periods
            .iter()
            .filter(|(start, _)| (from..until).contains(start));
        near.map(|(_, length)| *length)
            .fold(Length::default(), Length::max)
    }

    /// Returns the share of the packets that waited for at least `delay_ns`.
    pub(super) fn share_from_delay(&self, delay_ns: u64) -> f64 {
        self.delays.share_from(delay_ns)
    }

    /// Returns the share of the packets that met at least this many queued bytes.
    pub(super) fn share_from_bytes(&self, bytes: u64) -> f64 {
        self.bytes.share_from(bytes)
    }

    /// Returns the sample of the packet that passed last before the one that passed at `at_ns` and begins at `start`, or
    /// else of the first after it.
    pub(super) fn nearest_sample(&self, at_ns: u64, start: u64) -> Option<Sample> {
        let is_before = |sample: &Sample| (sample.at_ns, sample.end) <= (at_ns, start);
        let after = self.recent.partition_point(is_before);
        let before = after.checked_sub(1).map(|index| self.recent[index]);
        let after = self.recent.get(after).copied();
        let is_near = |sample: &Sample| sample.at_ns.abs_diff(at_ns) <= self.near_ns(sample.rtt_ns);
        let [before, after] = [before, after].map(|sample| sample.filter(is_near));
        before.or(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Samples at equal intervals with the given RTTs.
    fn samples(interval_ns: u64, rtts_ns: impl IntoIterator<Item = u64>) -> QueueDelays {
        let mut delays = QueueDelays::default();
        for (number, rtt_ns) in (0..).zip(rtts_ns) {
            let sample = Sample {
                at_ns: number * interval_ns,
                end: 0,
                rtt_ns,
                delivered: None,
            };
            delays.add(sample);
            delays.add_recent(sample);
        }
        delays
    }

    fn delays(rtts_ms: impl IntoIterator<Item = u64>) -> QueueDelays {
        samples(10 * MS, rtts_ms.into_iter().map(|rtt| rtt * MS))
    }

    /// A first packet without a queue, then a full one.
    fn long_queue(interval_ns: u64, packets: usize) -> QueueDelays {
        let queued = std::iter::repeat_n(300 * MS, packets - 1);
        samples(interval_ns, std::iter::once(MS / 50).chain(queued))
    }

    fn rtt_beside(delays: &QueueDelays, at_ns: u64, start: u64) -> Option<u64> {
        delays
            .nearest_sample(at_ns, start)
            .map(|sample| sample.rtt_ns)
    }

    #[test]
    fn the_rtt_beside_a_time_is_that_of_the_packet_before_it() {
        let delays = delays([20, 30, 40]);
        assert_eq!(rtt_beside(&delays, 15 * MS, 0), Some(30 * MS));
        assert_eq!(rtt_beside(&delays, 45 * MS, 0), None);
        assert_eq!(QueueDelays::default().nearest_sample(1, 0), None);
    }

    #[test]
    fn the_packets_of_a_burst_are_told_apart() {
        let mut delays = delays([20]);
        for number in 1..10 {
            delays.add_recent(Sample {
                at_ns: 0,
                end: number,
                rtt_ns: (20 + number) * MS,
                delivered: None,
            });
        }
        assert_eq!(rtt_beside(&delays, 0, 4), Some(24 * MS));
    }

    #[test]
    fn a_queue_far_longer_than_the_lowest_rtt_is_beside_a_loss() {
        let delays = long_queue(10 * MS, 20);
        assert_eq!(rtt_beside(&delays, 104 * MS, 0), Some(300 * MS));
        assert_eq!(rtt_beside(&delays, 215 * MS, 0), Some(300 * MS));
        assert_eq!(rtt_beside(&delays, 300 * MS, 0), None);
    }

    #[test]
    fn samples_of_a_round_trip_are_stored_whatever_the_lowest_rtt() {
        let delays = long_queue(MS / 50, 50_000);
        assert_eq!(rtt_beside(&delays, 600 * MS, 0), Some(300 * MS));
    }

    #[test]
    fn a_delay_of_one_sample_is_no_queue() {
        assert_eq!(delays([20, 20, 60, 20]).max_length_around(0).delay_ns, 0);
        assert_eq!(
            delays([20, 20, 60, 50, 20]).max_length_around(0).delay_ns,
            30 * MS
        );
    }

    #[test]
    fn the_longest_delay_is_that_of_the_time_around() {
        let rtts = (0..5_000).map(|number| if number < 10 { 80 } else { 20 });
        let delays = delays(core::iter::once(20).chain(rtts));
        assert_eq!(delays.max_length_around(10_000 * MS).delay_ns, 60 * MS);
        assert_eq!(delays.max_length_around(49_000 * MS).delay_ns, 0);
    }
}
