//! What two taps tell of a connection: one next to the server, one next to the phone.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::Delays;

/// A data segment that passed the server's tap and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Passed {
    end: u64,
    at: Instant,
    repeated: bool,
    sampled: bool,
}

/// Counts of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlotCounts {
    /// Payload delivered in order to the application, bytes.
    pub delivered: u64,
    /// Data packets that arrived, bytes at the IP layer.
    pub arrived: u64,
    /// Sum and number of the RTT samples.
    pub rtt: (Duration, u64),
    /// Sum and number of the one-way delays.
    pub one_way: (Duration, u64),
    /// Data segments sent again.
    pub retransmissions: u64,
}

/// Measures one connection. Sequence numbers are 64-bit.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    passed: VecDeque<Passed>,
    highest: u64,
    /// RTT samples of the run.
    pub rtt: Delays,
    /// One-way delays of the run.
    pub one_way: Delays,
    /// TCP's own smoothed RTT at each ACK.
    pub srtt: Delays,
    /// First data byte at the server's tap.
    pub first_data: Option<Instant>,
    /// Data segments at the server's tap.
    pub segments: u64,
    /// Data segments that passed it before.
    pub retransmissions: u64,
    /// Payload delivered, bytes.
    pub delivered: u64,
    /// Latest delivery.
    pub last_delivery: Option<Instant>,
    slot: SlotCounts,
}

impl Meter {
    /// A data segment passes the server's tap.
    pub fn data_sent(&mut self, now: Instant, seq: u64, len: u32) {
        self.first_data.get_or_insert(now);
        self.segments += 1;
        let end = seq + u64::from(len);
        if end > self.highest {
            self.highest = end;
            self.passed.push_back(Passed {
                end,
                at: now,
                repeated: false,
                sampled: false,
            });
            return;
        }
        self.retransmissions += 1;
        self.slot.retransmissions += 1;
        let index = self.passed.partition_point(|passed| passed.end < end);
        if let Some(passed) = self.passed.get_mut(index) {
            passed.repeated = true;
        }
    }

    /// An ACK passes the server's tap, with its SACK blocks. The RTT sample is that of the newest segment
    /// that was sent once only and is newly covered (Karn's rule).
    pub fn ack_arrived(
        &mut self,
        now: Instant,
        ack: u64,
        sacks: impl IntoIterator<Item = (u64, u64)>,
    ) {
        let mut newest = None;
        while let Some(passed) = self.passed.front() {
            if passed.end > ack {
                break;
            }
            if !passed.repeated && !passed.sampled {
                newest = Some(passed.at);
            }
            self.passed.pop_front();
        }
        // An ACK that stands for several segments may tell of new ones in any block; a block below the
        // ACK tells of a duplicate (RFC 2883).
        for (left, right) in sacks.into_iter().filter(|(left, _)| *left >= ack) {
            let end = self.passed.partition_point(|passed| passed.end <= right);
            for passed in self.passed.range_mut(..end).rev() {
                if passed.end <= left || passed.sampled {
                    break;
                }
                passed.sampled = true;
                if !passed.repeated {
                    newest = newest.max(Some(passed.at));
                }
            }
        }
        if let Some(at) = newest {
            let rtt = now.saturating_since(at);
            self.rtt.push(rtt);
            self.slot.rtt.0 += rtt;
            self.slot.rtt.1 += 1;
        }
    }

    /// A data packet of `size` bytes at the IP layer reaches the phone's tap.
    pub fn data_arrived(&mut self, now: Instant, sent_at: Instant, size: u32) {
        let delay = now.saturating_since(sent_at);
        self.one_way.push(delay);
        self.slot.one_way.0 += delay;
        self.slot.one_way.1 += 1;
        self.slot.arrived += u64::from(size);
    }

    /// Payload is delivered in order to the application.
    pub fn data_delivered(&mut self, now: Instant, bytes: u64) {
        self.delivered += bytes;
        self.last_delivery = Some(now);
        self.slot.delivered += bytes;
    }

    /// How long the oldest unacknowledged segment has been out.
    pub fn oldest_age(&self, now: Instant) -> Option<Duration> {
        self.passed
            .iter()
            .find(|passed| !passed.sampled)
            .map(|p| now.saturating_since(p.at))
    }

    /// The counts since the last call: a slot ends.
    pub fn end_slot(&mut self) -> SlotCounts {
        core::mem::take(&mut self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn an_ack_is_timed_by_the_newest_segment_it_covers() {
        let mut meter = Meter::default();
        meter.data_sent(at(0), 0, 100);
        meter.data_sent(at(10), 100, 100);
        meter.ack_arrived(at(50), 200, None);
        assert_eq!(meter.rtt.lowest(), Some(Duration::from_millis(40)));
        assert_eq!(meter.rtt.len(), 1);
    }

    /// Karn and Partridge: what was sent twice is not timed.
    #[test]
    fn a_segment_sent_twice_is_not_timed() {
        let mut meter = Meter::default();
        meter.data_sent(at(0), 0, 100);
        meter.data_sent(at(30), 0, 100);
        meter.ack_arrived(at(50), 100, None);
        assert!(meter.rtt.is_empty());
        assert_eq!(meter.retransmissions, 1);
    }

    /// Receivers compress ACKs: what is new may be in any block.
    #[test]
    fn every_block_of_an_ack_counts() {
        let mut meter = Meter::default();
        for n in 0..6 {
            meter.data_sent(at(n), n * 100, 100);
        }
        meter.ack_arrived(at(40), 0, [(500, 600), (300, 400), (100, 200)]);
        assert_eq!(meter.rtt.lowest(), Some(Duration::from_millis(35)));
        meter.data_sent(at(45), 0, 100);
        meter.data_sent(at(45), 200, 100);
        meter.ack_arrived(at(90), 400, [(500, 600)]);
        assert_eq!(meter.rtt.len(), 1);
    }

    #[test]
    fn a_sack_is_timed_once_and_not_again_by_the_cumulative_ack() {
        let mut meter = Meter::default();
        for n in 0..3 {
            meter.data_sent(at(n), n * 100, 100);
        }
        meter.ack_arrived(at(40), 0, Some((100, 200)));
        meter.ack_arrived(at(41), 0, Some((100, 300)));
        assert_eq!(meter.rtt.len(), 2);
        meter.data_sent(at(45), 0, 100);
        meter.ack_arrived(at(90), 300, None);
        assert_eq!(meter.rtt.len(), 2);
    }
}
