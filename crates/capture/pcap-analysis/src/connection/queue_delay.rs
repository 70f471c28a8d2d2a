//! Queue delay: the RTT above its minimum over time, without the time for which receivers hold ACKs back.

use std::collections::VecDeque;

use super::delay_histogram::DelayHistogram;
use super::rtt::Sample;

/// Samples kept with their times.
const RECENT: usize = 1_024;
/// Steps per RTT in time and delay within which two samples are one.
const PER_RTT: u64 = 512;
/// Length of a period of which the longest delay is kept, ns.
const PERIOD_NS: u64 = 1_000_000_000;
/// Periods that are kept.
const PERIODS: usize = 64;
/// Time before and after a loss in which the longest delay tells the size of the queue, ns.
pub(super) const HORIZON_NS: u64 = 15_000_000_000;

/// Delays of the queue on one side of the capture, in bounded memory.
#[derive(Default)]
pub(super) struct QueueDelays {
    min_ns: Option<u64>,
    recent: VecDeque<Sample>,
    /// Start and longest delay of each period.
    periods: VecDeque<(u64, u64)>,
    delays: DelayHistogram,
    last_ns: u64,
}

impl QueueDelays {
    /// Adds the delay of a packet, which is no longer than that of the queue.
    pub(super) fn add(&mut self, sample: Sample) {
        let rtt = sample.rtt_ns.max(1);
        let min = self.min_ns.map_or(rtt, |min| min.min(rtt));
        self.min_ns = Some(min);
        let delay_ns = rtt - min;
        self.delays.add(delay_ns);
        // A delay of one sample alone is none of a queue, which takes time to fill and to drain.
        let held_ns = delay_ns.min(core::mem::replace(&mut self.last_ns, delay_ns));
        match self.periods.back_mut() {
            Some(last) if sample.at_ns < last.0.saturating_add(PERIOD_NS) => {
                last.1 = last.1.max(held_ns);
            }
            _ => {
                if self.periods.len() == PERIODS {
                    self.periods.pop_front();
                }
                self.periods.push_back((sample.at_ns, held_ns));
            }
        }
    }

    /// Notes the delay of a packet, for the losses beside it.
    pub(super) fn note(&mut self, sample: Sample) {
        let step = self.min_ns.unwrap_or(0) / PER_RTT;
        if let Some(last) = self.recent.back()
            && sample.at_ns < last.at_ns.saturating_add(step)
            && sample.rtt_ns.abs_diff(last.rtt_ns) < step
        {
            return;
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(sample);
    }

    pub(super) fn min_ns(&self) -> Option<u64> {
        self.min_ns
    }

    /// Returns the longest delay around `at_ns`.
    pub(super) fn ceiling_ns(&self, at_ns: u64) -> u64 {
        let from = at_ns.saturating_sub(HORIZON_NS + PERIOD_NS);
        let until = at_ns.saturating_add(HORIZON_NS);
        let near = self
            .periods
            .iter()
            .filter(|(start, _)| (from..until).contains(start));
        near.map(|(_, delay)| *delay).max().unwrap_or(0)
    }

    /// Returns the share of the packets that waited for at least `delay_ns`.
    pub(super) fn share_from(&self, delay_ns: u64) -> f64 {
        self.delays.share_from(delay_ns)
    }

    /// Returns the RTT of the packet that passed last before the one that passed at `at_ns` and begins at `start`, or
    /// else of the first after it.
    pub(super) fn rtt_beside(&self, at_ns: u64, start: u64) -> Option<u64> {
        let is_before = |sample: &Sample| (sample.at_ns, sample.end) <= (at_ns, start);
        let after = self.recent.partition_point(is_before);
        let before = after.checked_sub(1).map(|index| self.recent[index]);
        let after = self.recent.get(after).copied();
        let far = self.min_ns?;
        let is_near = |sample: &Sample| sample.at_ns.abs_diff(at_ns) <= far;
        let [before, after] = [before, after].map(|sample| sample.filter(is_near));
        before.or(after).map(|sample| sample.rtt_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn delays(rtts_ms: impl IntoIterator<Item = u64>) -> QueueDelays {
        let mut delays = QueueDelays::default();
        for (number, rtt) in rtts_ms.into_iter().enumerate() {
            let sample = Sample {
                at_ns: number as u64 * 10 * MS,
                end: 0,
                rtt_ns: rtt * MS,
            };
            delays.add(sample);
            delays.note(sample);
        }
        delays
    }

    #[test]
    fn the_rtt_beside_a_time_is_that_of_the_packet_before_it() {
        let delays = delays([20, 30, 40]);
        assert_eq!(delays.rtt_beside(15 * MS, 0), Some(30 * MS));
        assert_eq!(delays.rtt_beside(45 * MS, 0), None);
        assert_eq!(QueueDelays::default().rtt_beside(1, 0), None);
    }

    #[test]
    fn the_packets_of_a_burst_are_told_apart() {
        let mut delays = delays([20]);
        for number in 1..10 {
            delays.note(Sample {
                at_ns: 0,
                end: number,
                rtt_ns: (20 + number) * MS,
            });
        }
        assert_eq!(delays.rtt_beside(0, 4), Some(24 * MS));
    }

    #[test]
    fn a_delay_of_one_sample_is_no_queue() {
        assert_eq!(delays([20, 20, 60, 20]).ceiling_ns(0), 0);
        assert_eq!(delays([20, 20, 60, 50, 20]).ceiling_ns(0), 30 * MS);
    }

    #[test]
    fn the_longest_delay_is_that_of_the_time_around() {
        let rtts = (0..5_000).map(|number| if number < 10 { 80 } else { 20 });
        let delays = delays(core::iter::once(20).chain(rtts));
        assert_eq!(delays.ceiling_ns(10_000 * MS), 60 * MS);
        assert_eq!(delays.ceiling_ns(49_000 * MS), 0);
    }
}
