//! Meter: measures of a connection at two taps, one next to the server, one next to the phone.

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::delays::{DelaySum, Delays};
use crate::early_acks::EarlyAcks;
use crate::rtt_increments::Increments;

/// Data segment that passed the server's tap and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    end: u64,
    at: Instant,
    is_retransmitted: bool,
    /// Whether a SACK block has covered it.
    is_sacked: bool,
}

/// Acknowledgement as it reaches the server's tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Acknowledgement number.
    pub number: u64,
    /// Highest number that the receiver has acknowledged: its own, or the far acknowledgement that a middlebox passes on.
    /// `None` if the ACK says nothing about the receiver.
    pub delivered: Option<u64>,
    /// Window field of the header.
    pub window: u16,
    /// Whether the segment has neither payload nor SYN or FIN, nor a far acknowledgement.
    pub is_pure_ack: bool,
}

/// Measures of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlotCounts {
    /// Payload delivered in order to the application, bytes.
    pub delivered: u64,
    /// Data packets that arrived, bytes at the IP layer.
    pub arrived: u64,
    /// RTT samples.
    pub rtt: DelaySum,
    /// One-way delays.
    pub one_way: DelaySum,
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Duplicate ACKs.
    pub duplicate_acks: u64,
    /// Increments of the RTT.
    pub increments: Increments,
}

/// Meter of one connection. Sequence numbers are 64-bit.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    outstanding: VecDeque<SentSegment>,
    /// End of the data that has passed the server's tap.
    sent_end: u64,
    /// Highest acknowledgement number; before the first ACK, the first byte sent.
    acknowledged: Option<u64>,
    /// Window of the latest ACK.
    window: Option<u16>,
    latest_rtt: Option<Duration>,
    /// Payload sent, retransmissions included, bytes.
    sent: u64,
    /// Payload sent before the first exit from slow start, retransmissions included, bytes.
    sent_before_exit: Option<u64>,
    /// RTT samples of the connection.
    pub rtt: Delays,
    /// One-way delays of the connection.
    pub one_way: Delays,
    /// TCP's own smoothed RTT at each ACK.
    pub srtt: Delays,
    /// Time of the first data byte at the server's tap.
    pub first_data: Option<Instant>,
    /// Data segments at the server's tap.
    pub segments: u64,
    /// Data segments that had passed the server's tap before.
    pub retransmissions: u64,
    /// Duplicate ACKs at the server's tap.
    pub duplicate_acks: u64,
    /// Increments of the RTT over the connection.
    pub increments: Increments,
    /// Payload delivered, bytes.
    pub delivered: u64,
    /// Payload that was acknowledged before it was delivered.
    pub early_acks: EarlyAcks,
    /// Time of the first delivery.
    pub first_delivery: Option<Instant>,
    /// Time of the latest delivery.
    pub last_delivery: Option<Instant>,
    /// Time of the latest ACK at the server's tap.
    pub last_ack: Option<Instant>,
    first_byte: u64,
    slot: SlotCounts,
}

impl Meter {
    /// Processes a data segment that passes the server's tap.
    pub fn on_data_sent(&mut self, now: Instant, seq: u64, len: u32) {
        if self.first_data.is_none() {
            self.first_data = Some(now);
            self.first_byte = seq;
        }
        self.acknowledged.get_or_insert(seq);
        self.segments += 1;
        self.slot.segments += 1;
        self.sent += u64::from(len);
        let end = seq + u64::from(len);
        self.early_acks.on_sent(seq, end);
        if end > self.sent_end {
            self.sent_end = end;
            self.outstanding.push_back(SentSegment {
                end,
                at: now,
                is_retransmitted: false,
                is_sacked: false,
            });
            return;
        }
        self.retransmissions += 1;
        self.slot.retransmissions += 1;
        let index = self
            .outstanding
            .partition_point(|segment| segment.end < end);
        if let Some(segment) = self.outstanding.get_mut(index) {
            segment.is_retransmitted = true;
        }
    }

    /// Processes an ACK that passes the server's tap, with its SACK blocks. The RTT sample is that of the newest segment
    /// that was sent only once and is newly covered (Karn's algorithm).
    pub fn on_ack(&mut self, now: Instant, ack: Ack, sacks: impl IntoIterator<Item = (u64, u64)>) {
        self.last_ack = Some(now);
        self.count_duplicate(ack);
        if let Some(number) = ack.delivered {
            self.early_acks.on_ack(number, self.delivered);
        }
        let ack = ack.number;
        let mut newest = None;
        while let Some(segment) = self.outstanding.front() {
            if segment.end > ack {
                break;
            }
            if !segment.is_retransmitted && !segment.is_sacked {
                newest = Some(segment.at);
            }
            self.outstanding.pop_front();
        }
        // An ACK for several segments may report new ones in any block; one below the ACK is a D-SACK (RFC 2883).
        for (left, right) in sacks.into_iter().filter(|(left, _)| *left >= ack) {
            let end = self
                .outstanding
                .partition_point(|segment| segment.end <= right);
            for segment in self.outstanding.range_mut(..end).rev() {
                if segment.end <= left || segment.is_sacked {
                    break;
                }
                segment.is_sacked = true;
                if !segment.is_retransmitted {
                    newest = newest.max(Some(segment.at));
                }
            }
        }
        if let Some(at) = newest {
            let rtt = now.saturating_since(at);
            self.rtt.push(rtt);
            self.slot.rtt.add(rtt);
            if let Some(before) = self.latest_rtt.replace(rtt) {
                self.increments.push(before, rtt);
                self.slot.increments.push(before, rtt);
            }
        }
    }

    /// Counts a duplicate ACK (RFC 5681 §2): data is outstanding, there is no payload, SYN or FIN, and number and window
    /// are those of the ACK before.
    fn count_duplicate(&mut self, ack: Ack) {
        let before = self.window.replace(ack.window);
        let is_window_same = before.is_none_or(|window| window == ack.window);
        let greatest = self.acknowledged.unwrap_or(ack.number);
        if ack.is_pure_ack
            && is_window_same
            && ack.number == greatest
            && !self.outstanding.is_empty()
        {
            self.duplicate_acks += 1;
            self.slot.duplicate_acks += 1;
        }
        self.acknowledged = Some(greatest.max(ack.number));
    }

    /// Processes an exit of the sender from slow start; only the first one counts.
    pub fn on_slow_start_exit(&mut self) {
        self.sent_before_exit.get_or_insert(self.sent);
    }

    /// Returns the payload sent before the first exit from slow start, retransmissions included, bytes.
    pub(crate) fn sent_before_exit(&self) -> Option<u64> {
        self.sent_before_exit
    }

    /// Processes a data packet of `size` bytes at the IP layer, with payload to before `end`, that reaches the phone's tap.
    /// `sent_at` is `None` where it has a queue before it that the tap does not see. A packet whose payload was delivered
    /// before gives no delay.
    pub fn on_data_arrived(&mut self, now: Instant, sent_at: Option<Instant>, end: u64, size: u32) {
        let is_new = end > self.first_byte + self.delivered;
        if let Some(sent_at) = sent_at.filter(|_| is_new) {
            let delay = now.saturating_since(sent_at);
            self.one_way.push(delay);
            self.slot.one_way.add(delay);
        }
        self.slot.arrived += u64::from(size);
    }

    /// Processes payload that is delivered in order to the application.
    pub fn on_delivery(&mut self, now: Instant, bytes: u64) {
        self.delivered += bytes;
        self.first_delivery.get_or_insert(now);
        self.last_delivery = Some(now);
        self.slot.delivered += bytes;
    }

    /// Returns the end of the data that has passed the server's tap.
    pub fn sent_end(&self) -> u64 {
        self.sent_end
    }

    /// Returns the greatest acknowledgement number at the server's tap; before the first one, the first byte.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.unwrap_or_default()
    }

    /// Returns the payload that was delivered in order and is not acknowledged at the server's tap, bytes.
    pub fn unreported_bytes(&self) -> u64 {
        let reported = self.acknowledged() - self.first_byte;
        self.delivered.saturating_sub(reported)
    }

    /// Returns the time since the oldest unacknowledged segment was sent.
    pub(crate) fn oldest_age(&self, now: Instant) -> Option<Duration> {
        self.outstanding
            .iter()
            .find(|segment| !segment.is_sacked)
            .map(|segment| now.saturating_since(segment.at))
    }

    /// Ends a slot: returns its measures.
    pub(crate) fn end_slot(&mut self) -> SlotCounts {
        core::mem::take(&mut self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Two segments on a path of 20 ms; a middlebox sends a copy of the first one, which comes 480 ms later.
    #[test]
    fn a_late_duplicate_is_no_sample_of_the_one_way_delay() {
        let mut meter = Meter::default();
        meter.on_data_sent(at(0), 1, 1_000);
        meter.on_data_sent(at(10), 1_001, 1_000);
        for (now, sent, end) in [(20, 0, 1_001), (30, 10, 2_001), (500, 0, 1_001)] {
            meter.on_data_arrived(at(now), Some(at(sent)), end, 1_052);
            meter.on_delivery(at(now), if now < 500 { 1_000 } else { 0 });
        }
        assert_eq!(meter.one_way.mean_ms(), 20.0);
    }

    fn ack(number: u64) -> Ack {
        Ack {
            number,
            delivered: Some(number),
            window: 100,
            is_pure_ack: true,
        }
    }

    #[test]
    fn an_ack_is_timed_by_the_newest_segment_it_covers() {
        let mut meter = Meter::default();
        meter.on_data_sent(at(0), 0, 100);
        meter.on_data_sent(at(10), 100, 100);
        meter.on_ack(at(50), ack(200), None);
        assert_eq!(meter.rtt.lowest(), Some(Duration::from_millis(40)));
        assert_eq!(meter.slot.rtt.count, 1);
    }

    /// Karn and Partridge: a segment that was sent twice gives no sample.
    #[test]
    fn a_segment_sent_twice_is_not_timed() {
        let mut meter = Meter::default();
        meter.on_data_sent(at(0), 0, 100);
        meter.on_data_sent(at(30), 0, 100);
        meter.on_ack(at(50), ack(100), None);
        assert!(meter.rtt.lowest().is_none());
        assert_eq!(meter.retransmissions, 1);
    }

    /// Receivers compress ACKs, so that any block may cover new segments.
    #[test]
    fn every_block_of_an_ack_counts() {
        let mut meter = Meter::default();
        for n in 0..6 {
            meter.on_data_sent(at(n), n * 100, 100);
        }
        meter.on_ack(at(40), ack(0), [(500, 600), (300, 400), (100, 200)]);
        assert_eq!(meter.rtt.lowest(), Some(Duration::from_millis(35)));
        meter.on_data_sent(at(45), 0, 100);
        meter.on_data_sent(at(45), 200, 100);
        meter.on_ack(at(90), ack(400), [(500, 600)]);
        assert_eq!(meter.slot.rtt.count, 1);
    }

    #[test]
    fn a_sack_is_timed_once_and_not_again_by_the_cumulative_ack() {
        let mut meter = Meter::default();
        for n in 0..3 {
            meter.on_data_sent(at(n), n * 100, 100);
        }
        meter.on_ack(at(40), ack(0), Some((100, 200)));
        meter.on_ack(at(41), ack(0), Some((100, 300)));
        assert_eq!(meter.slot.rtt.count, 2);
        meter.on_data_sent(at(45), 0, 100);
        meter.on_ack(at(90), ack(300), None);
        assert_eq!(meter.slot.rtt.count, 2);
    }

    /// RFC 5681 §2: a window update, an ACK with payload and one without outstanding data are no duplicates.
    #[test]
    fn duplicate_acks_are_those_of_rfc_5681() {
        let mut meter = Meter::default();
        for n in 0..5 {
            meter.on_data_sent(at(n), n * 100, 100);
        }
        // The first segment is lost: the first ACK repeats that of the handshake.
        meter.on_ack(at(50), ack(0), Some((100, 200)));
        meter.on_ack(at(51), ack(0), Some((100, 300)));
        assert_eq!(meter.duplicate_acks, 2);
        let update = Ack {
            window: 200,
            ..ack(0)
        };
        meter.on_ack(at(52), update, None);
        let payload = Ack {
            is_pure_ack: false,
            ..update
        };
        meter.on_ack(at(53), payload, None);
        assert_eq!(meter.duplicate_acks, 2);
        meter.on_ack(at(54), update, None);
        assert_eq!(meter.duplicate_acks, 3);
        // All is acknowledged.
        for _ in 0..2 {
            meter.on_ack(
                at(60),
                Ack {
                    number: 500,
                    ..update
                },
                None,
            );
        }
        assert_eq!(meter.end_slot().duplicate_acks, 3);
        assert_eq!(meter.end_slot().duplicate_acks, 0);
    }

    #[test]
    fn increments_are_between_successive_samples_also_of_different_slots() {
        let mut meter = Meter::default();
        for (n, rtt) in (0..).zip([40, 45, 30, 60]) {
            meter.on_data_sent(at(n * 100), n * 100, 100);
            meter.on_ack(at(n * 100 + rtt), ack(n * 100 + 100), None);
            if n == 2 {
                assert!((meter.end_slot().increments.mean_ms() - 5.0).abs() < 1e-9);
            }
        }
        assert!((meter.end_slot().increments.mean_ms() - 30.0).abs() < 1e-9);
        assert!((meter.increments.mean_ms() - 17.5).abs() < 1e-9);
        assert!((meter.increments.largest_ms() - 30.0).abs() < 1e-9);
    }

    #[test]
    fn bytes_before_the_exit_are_those_before_the_first_one() {
        let mut meter = Meter::default();
        meter.on_data_sent(at(0), 0, 100);
        meter.on_data_sent(at(1), 0, 100);
        assert_eq!(meter.sent_before_exit(), None);
        meter.on_slow_start_exit();
        meter.on_data_sent(at(2), 100, 100);
        meter.on_slow_start_exit();
        assert_eq!(meter.sent_before_exit(), Some(200));
        assert_eq!(meter.end_slot().segments, 3);
    }
}
