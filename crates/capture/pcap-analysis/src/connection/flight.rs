//! Flight: the segments of one direction that have passed and are not yet acknowledged.

use std::collections::VecDeque;

use tcp::SackBlocks;

use super::rtt::Sample;
use super::sack_history::SackHistory;
use crate::sequence;

/// Maximum number of stored segments; an older one counts as acknowledged.
const MAX_SEGMENTS: usize = 1 << 17;
/// Maximum number of acknowledged segments in the history.
const MAX_ACKED: usize = 1 << 10;
/// Maximum number of stored ranges that were acknowledged before they passed.
const MAX_MISSED: usize = 1 << 10;

/// A range of sequence numbers that has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SentRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Time at which it passed last.
    pub(super) last_ns: u64,
    /// Number of times that it has passed.
    pub(super) times: u16,
    pub(super) is_sacked: bool,
    /// It passed for the first time after later ranges, in a gap that is a loss already.
    pub(super) is_late: bool,
    /// Bytes delivered before it passed.
    pub(super) delivered: u64,
}

impl SentRange {
    /// Returns a range that passes for the first time, with nothing delivered before it.
    pub(super) fn new(start: u64, end: u64, at_ns: u64) -> Self {
        Self {
            start,
            end,
            last_ns: at_ns,
            times: 1,
            is_sacked: false,
            is_late: false,
            delivered: 0,
        }
    }
}

/// Range of sequence numbers that was acknowledged before it passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MissedRange {
    start: u64,
    end: u64,
}

/// Result of an ACK.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct AckResult {
    /// Bytes by which the cumulative acknowledgement advanced.
    pub(super) advanced: u64,
    /// Bytes acknowledged cumulatively or selectively for the first time.
    pub(super) delivered: u64,
    /// RTT of the newest segment that passed once only.
    pub(super) sample: Option<Sample>,
    /// The sample is of a SACK block: an ACK for data out of order is never delayed (RFC 5681 §4.2).
    pub(super) is_selective: bool,
    /// Time from the newest segment acknowledged cumulatively to the next one, if that had passed.
    pub(super) followed_after_ns: Option<u64>,
    /// Segments that passed once and were reported after later ones.
    pub(super) reordered: Vec<SentRange>,
    /// Bytes acknowledged that never passed.
    pub(super) uncaptured: u64,
}

/// Segments in flight, by sequence number.
#[derive(Default)]
pub(super) struct Flight {
    sent: VecDeque<SentRange>,
    /// End of what has passed.
    pub(super) highest: u64,
    /// Cumulative acknowledgement.
    pub(super) acked: u64,
    /// End of the highest selective acknowledgement.
    pub(super) highest_sacked: u64,
    sacked_bytes: u64,
    /// Bytes acknowledged, cumulatively or selectively.
    delivered: u64,
    /// Length of the longest segment that was acknowledged.
    pub(super) longest_acked: u64,
    /// SACK blocks of the last ACK.
    last_blocks: [(u64, u64); 4],
    sack_history: SackHistory,
    /// The latest acknowledged segments.
    recently_acked: VecDeque<SentRange>,
    /// Missed ranges, by sequence number.
    missed: VecDeque<MissedRange>,
}

impl Flight {
    /// Begins at the first known sequence number.
    pub(super) fn begin(&mut self, at: u64) {
        self.highest = at;
        self.acked = at;
        self.highest_sacked = at;
    }

    /// Returns the bytes that passed and are neither acknowledged nor selectively acknowledged.
    pub(super) fn bytes(&self) -> u64 {
        self.highest
            .saturating_sub(self.acked)
            .saturating_sub(self.sacked_bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.highest <= self.acked
    }

    /// Adds new data, behind everything that has passed.
    pub(super) fn push(&mut self, start: u64, end: u64, at_ns: u64) {
        if self.sent.len() == MAX_SEGMENTS {
            self.sent.pop_front();
        }
        self.sent.push_back(SentRange {
            delivered: self.delivered,
            ..SentRange::new(start, end, at_ns)
        });
        self.highest = self.highest.max(end);
    }

    /// Adds a range that passed for the first time after later ones.
    pub(super) fn insert(&mut self, start: u64, end: u64, at_ns: u64) {
        let index = self.sent.partition_point(|sent| sent.start < start);
        let sent = SentRange {
            is_late: true,
            delivered: self.delivered,
            ..SentRange::new(start, end, at_ns)
        };
        self.sent.insert(index, sent);
    }

    /// Processes a retransmitted range; returns its state before, if it was in flight.
    pub(super) fn on_retransmission(
        &mut self,
        start: u64,
        end: u64,
        at_ns: u64,
    ) -> Option<SentRange> {
        self.split_at(start);
        self.split_at(end);
        let mut before = None;
        let mut index = self.sent.partition_point(|sent| sent.end <= start);
        while let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < end) {
            let first = before.get_or_insert(*sent);
            first.is_sacked &= sent.is_sacked;
            first.end = sent.end;
            sent.last_ns = at_ns;
            sent.times = sent.times.saturating_add(1);
            index += 1;
        }
        before
    }

    /// Returns the recently acknowledged segment that begins at `start`.
    pub(super) fn recently_acked_at(&self, start: u64) -> Option<SentRange> {
        let mut recently_acked = self.recently_acked.iter().rev();
        recently_acked.find(|sent| sent.start == start).copied()
    }

    /// Splits the range around a sequence number in two.
    fn split_at(&mut self, number: u64) {
        if self.sent.len() >= MAX_SEGMENTS {
            return;
        }
        let index = self.sent.partition_point(|sent| sent.end <= number);
        let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < number) else {
            return;
        };
        let second = SentRange {
            start: number,
            ..*sent
        };
        sent.end = number;
        self.sent.insert(index + 1, second);
    }

    /// Removes and returns the first range, or the part of it before `ack`.
    fn pop_until(&mut self, ack: u64) -> Option<SentRange> {
        let first = self.sent.front_mut().filter(|first| first.start < ack)?;
        if first.end <= ack {
            return self.sent.pop_front();
        }
        let part = SentRange { end: ack, ..*first };
        first.start = ack;
        Some(part)
    }

    /// Processes an ACK; `sack` are its blocks.
    pub(super) fn on_ack(&mut self, ack: u64, sack: &SackBlocks, at_ns: u64) -> AckResult {
        let mut result = AckResult::default();
        let highest_before = self.highest_sacked;
        let blocks = sack.as_slice();
        if !blocks.is_empty() {
            self.on_sack_blocks(ack, blocks, at_ns, &mut result);
        }
        if ack > self.acked {
            result.advanced = ack - self.acked;
            self.on_cumulative_ack(ack, highest_before, at_ns, &mut result);
            self.acked = ack;
            self.highest = self.highest.max(ack);
            self.highest_sacked = self.highest_sacked.max(ack);
        }
        if self.highest_sacked > highest_before {
            self.sack_history.add(at_ns, self.highest_sacked);
        }
        self.delivered += result.delivered;
        if let Some(before) = result.sample.and_then(|sample| sample.delivered) {
            let delivered = Some(self.delivered.saturating_sub(before));
            result.sample = result.sample.map(|sample| Sample {
                delivered,
                ..sample
            });
        }
        result
    }

    /// Returns the end of the highest byte that had been reported at `at_ns`.
    pub(super) fn reported_until(&self, at_ns: u64) -> u64 {
        self.sack_history.highest_at(at_ns)
    }

    fn on_cumulative_ack(&mut self, ack: u64, sacked: u64, at_ns: u64, result: &mut AckResult) {
        let mut seen_end = self.acked;
        let mut has_retransmission = false;
        let mut newest = None;
        while let Some(sent) = self.pop_until(ack) {
            if self.recently_acked.len() == MAX_ACKED {
                self.recently_acked.pop_front();
            }
            self.recently_acked.push_back(sent);
            result.uncaptured += self.add_missed(seen_end, sent.start);
            seen_end = seen_end.max(sent.end);
            let len = sent.end - sent.start;
            self.longest_acked = self.longest_acked.max(len);
            if sent.is_sacked {
                self.sacked_bytes = self.sacked_bytes.saturating_sub(len);
                continue;
            }
            result.delivered += len;
            has_retransmission |= sent.times > 1;
            newest = Some(sent);
            if sent.times == 1 && sent.end < sacked && !sent.is_late {
                result.reordered.push(sent);
            }
        }
        result.uncaptured += self.add_missed(seen_end, ack);
        // Karn's algorithm (RFC 6298 §3): an ACK of a retransmission is no sample.
        if let (Some(sent), false, true, None) = (
            newest,
            has_retransmission,
            result.reordered.is_empty(),
            result.sample,
        ) {
            result.sample = Some(sample(&sent, at_ns));
            let next = self.sent.front().filter(|next| next.times == 1);
            result.followed_after_ns = next.map(|next| next.last_ns.saturating_sub(sent.last_ns));
        }
    }

    /// Adds a range that was acknowledged before it passed; returns its length.
    fn add_missed(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        match self.missed.back_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => {
                if self.missed.len() >= MAX_MISSED {
                    self.missed.pop_front();
                }
                self.missed.push_back(MissedRange { start, end });
            }
        }
        end - start
    }

    /// Processes a range that passes after its acknowledgement; returns its bytes that had not passed before.
    pub(super) fn on_late_capture(&mut self, start: u64, end: u64) -> u64 {
        let mut index = self.missed.partition_point(|missed| missed.end <= start);
        let mut late_bytes = 0;
        while let Some(&missed) = self.missed.get(index).filter(|missed| missed.start < end) {
            let (from, to) = (missed.start.max(start), missed.end.min(end));
            late_bytes += to - from;
            self.missed.remove(index);
            for (start, end) in [(missed.start, from), (to, missed.end)] {
                if start < end && self.missed.len() < MAX_MISSED {
                    self.missed.insert(index, MissedRange { start, end });
                    index += 1;
                }
            }
        }
        late_bytes
    }

    fn on_sack_blocks(
        &mut self,
        ack: u64,
        blocks: &[(u32, u32)],
        at_ns: u64,
        result: &mut AckResult,
    ) {
        let highest_before = self.highest_sacked;
        let mut new_blocks = [(0, 0); 4];
        for (new_block, block) in new_blocks.iter_mut().zip(blocks) {
            let edge = |wire| sequence::near(self.highest, wire);
            let (left, right) = (edge(block.0), edge(block.1));
            // A block below the cumulative acknowledgement is a D-SACK (RFC 2883 §4).
            if left >= right || right <= ack.max(self.acked) || right > self.highest {
                continue;
            }
            *new_block = (left, right);
            // Only the part that the last ACK did not report is new.
            let reported = self
                .last_blocks
                .iter()
                .find(|(start, end)| *start < right && left < *end)
                .copied();
            match reported {
                Some((start, end)) => {
                    self.sack(left, start.min(right), highest_before, at_ns, result);
                    self.sack(end.max(left), right, highest_before, at_ns, result);
                }
                None => self.sack(left, right, highest_before, at_ns, result),
            }
            self.highest_sacked = self.highest_sacked.max(right);
        }
        self.last_blocks = new_blocks;
    }

    /// Marks the segments from `left` to `right` as selectively acknowledged; `highest` is the end of those before this ACK.
    fn sack(&mut self, left: u64, right: u64, highest: u64, at_ns: u64, result: &mut AckResult) {
        if left >= right {
            return;
        }
        // Segments that the network card has yet to cut (TSO) can be reported in part.
        self.split_at(left);
        self.split_at(right);
        let mut index = self.sent.partition_point(|sent| sent.start < left);
        while let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.end <= right) {
            index += 1;
            if core::mem::replace(&mut sent.is_sacked, true) {
                continue;
            }
            self.sacked_bytes += sent.end - sent.start;
            self.longest_acked = self.longest_acked.max(sent.end - sent.start);
            result.delivered += sent.end - sent.start;
            if sent.times > 1 || sent.is_late {
                continue;
            }
            if sent.end < highest {
                result.reordered.push(*sent);
            } else {
                result.sample = Some(sample(sent, at_ns));
                result.is_selective = true;
            }
        }
    }
}

fn sample(sent: &SentRange, at_ns: u64) -> Sample {
    Sample {
        at_ns: sent.last_ns,
        end: sent.end,
        rtt_ns: at_ns.saturating_sub(sent.last_ns),
        delivered: Some(sent.delivered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1 << 32;

    /// Segments of 100 bytes, one per ms.
    fn flight(segments: u64) -> Flight {
        let mut flight = Flight::default();
        flight.begin(START);
        for number in 0..segments {
            flight.push(
                START + number * 100,
                START + (number + 1) * 100,
                number * 1_000_000,
            );
        }
        flight
    }

    fn blocks(ranges: &[(u64, u64)]) -> SackBlocks {
        let mut sack = SackBlocks::EMPTY;
        for (left, right) in ranges {
            sack.push((START + left) as u32, (START + right) as u32);
        }
        sack
    }

    #[test]
    fn an_ack_gives_the_rtt_of_the_newest_segment() {
        let mut flight = flight(3);
        let result = flight.on_ack(START + 200, &SackBlocks::EMPTY, 21_000_000);
        assert_eq!(result.advanced, 200);
        assert_eq!(result.sample.unwrap().rtt_ns, 20_000_000);
        assert_eq!(flight.bytes(), 100);
    }

    /// RFC 6298 §3: "RTT samples MUST NOT be made using segments that were retransmitted".
    #[test]
    fn what_passed_twice_gives_no_rtt() {
        let mut flight = flight(3);
        let before = flight
            .on_retransmission(START, START + 100, 50_000_000)
            .unwrap();
        assert_eq!((before.times, before.last_ns), (1, 0));
        let result = flight.on_ack(START + 300, &SackBlocks::EMPTY, 60_000_000);
        assert_eq!(result.sample, None);
    }

    #[test]
    fn a_part_of_a_segment_can_pass_again() {
        let mut flight = flight(1);
        flight.on_retransmission(START + 20, START + 50, 9).unwrap();
        let times: Vec<_> = flight.sent.iter().map(|sent| sent.times).collect();
        assert_eq!(times, [1, 2, 1]);
    }

    #[test]
    fn sacked_bytes_leave_the_flight_once() {
        let mut flight = flight(5);
        let result = flight.on_ack(START, &blocks(&[(200, 300)]), 30_000_000);
        assert_eq!((result.delivered, flight.bytes()), (100, 400));
        let result = flight.on_ack(START, &blocks(&[(200, 400)]), 31_000_000);
        assert_eq!((result.delivered, flight.bytes()), (100, 300));
        let result = flight.on_ack(START + 400, &SackBlocks::EMPTY, 40_000_000);
        assert_eq!((result.delivered, flight.bytes()), (200, 100));
    }

    #[test]
    fn a_hole_that_closes_by_itself_was_overtaken() {
        let mut flight = flight(4);
        flight.on_ack(START, &blocks(&[(100, 200)]), 30_000_000);
        let result = flight.on_ack(START + 200, &SackBlocks::EMPTY, 31_000_000);
        assert_eq!(result.reordered.len(), 1);
        assert_eq!(result.reordered[0].start, START);
    }

    #[test]
    fn what_passes_after_its_ack_is_late_once() {
        let mut flight = flight(1);
        let ack = flight.on_ack(START + 600, &SackBlocks::EMPTY, 40_000_000);
        assert_eq!(ack.uncaptured, 500);
        assert_eq!(flight.on_late_capture(START + 200, START + 300), 100);
        assert_eq!(flight.on_late_capture(START + 200, START + 300), 0);
        assert_eq!(flight.on_late_capture(START, START + 500), 300);
        assert_eq!(flight.on_late_capture(START, START + 900), 100);
    }

    #[test]
    fn a_part_of_a_segment_can_be_reported() {
        let mut flight = Flight::default();
        flight.begin(START);
        flight.push(START, START + 1_000, 0);
        let result = flight.on_ack(START, &blocks(&[(100, 400)]), 20_000_000);
        assert_eq!((result.delivered, flight.bytes()), (300, 700));
        let result = flight.on_ack(START, &blocks(&[(100, 1_000)]), 21_000_000);
        assert_eq!((result.delivered, flight.bytes()), (600, 100));
        flight.on_retransmission(START, START + 100, 22_000_000);
        let result = flight.on_ack(START + 1_000, &SackBlocks::EMPTY, 42_000_000);
        assert_eq!((result.delivered, result.reordered.len()), (100, 0));
    }

    #[test]
    fn acknowledged_bytes_that_never_passed_are_counted() {
        let mut flight = flight(1);
        flight.push(START + 300, START + 400, 5);
        let result = flight.on_ack(START + 400, &SackBlocks::EMPTY, 40_000_000);
        assert_eq!(result.uncaptured, 200);
    }
}
