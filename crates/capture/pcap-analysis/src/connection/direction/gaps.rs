//! Gaps: ranges that have not passed, though later ones have, and the segments that fill them.

use super::super::loss::{Loss, Queue, Repair};
use super::{Direction, SeenSegment, SegmentKind};
use crate::sequence;

/// Maximum number of stored gaps.
const GAPS: usize = 1_024;
/// Time within which a segment fills a gap by reordering, unless other evidence decides, ns. Wireshark has the same.
const REORDERING_NS: u64 = 3_000_000;
/// Duplicate ACKs that a fast retransmission takes (RFC 5681 §3.2).
const DUPLICATES: u64 = 3;
/// Maximum difference of identifications that count the packets of a sender, and are not random.
const MAX_ID_STEP: u16 = 1_024;

/// A range that has not passed, though later ones have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    start: u64,
    pub(super) end: u64,
    at_ns: u64,
    /// Timestamp of the segment that showed it, and its identification.
    timestamp: Option<u32>,
    identification: u16,
    /// Duplicate ACKs before it.
    duplicates: u64,
    /// Whether it is of an outage before the capture.
    is_outage: bool,
}

impl Gap {
    /// Returns the part of the range between `start` and `end`.
    fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (from, to) = (self.start.max(start), self.end.min(end));
        (from < to).then_some((from, to))
    }
}

impl Direction {
    /// Notes a gap between `from` and the segment that shows it; `is_outage` if the path stood still before.
    pub(super) fn open_gap(&mut self, shown_by: &SeenSegment, from: u64, is_outage: bool) {
        if from < shown_by.start && self.gaps.len() < GAPS {
            self.gaps.push(Gap {
                start: from,
                end: shown_by.start,
                at_ns: shown_by.at_ns,
                timestamp: shown_by.timestamp,
                identification: shown_by.identification,
                duplicates: self.duplicates,
                is_outage,
            });
        }
    }

    /// Processes a segment up to `end` that fills gaps: reordered before the capture, or lost there and sent again.
    /// Returns `None` if it fills none.
    pub(super) fn fill(&mut self, segment: &SeenSegment, end: u64) -> Option<SegmentKind> {
        let start = segment.start;
        let first = *self
            .gaps
            .iter()
            .find(|gap| gap.overlap(start, end).is_some())?;
        let is_reordering = self.is_reordering(&first, segment);
        let mut retransmitted = (end - start).min(u64::from(segment.len));
        if is_reordering {
            self.counts.out_of_order += 1;
            retransmitted = 0;
        } else {
            self.counts.retransmissions += 1;
        }
        // A merged segment fills several gaps and has what passed between them once more.
        let filled: Vec<Gap> = self
            .gaps
            .extract_if(.., |gap| gap.overlap(start, end).is_some())
            .collect();
        let parts = filled.iter().filter_map(|gap| gap.overlap(start, end));
        if parts.map(|(from, to)| to - from).sum::<u64>() < end - start {
            self.flight.on_retransmission(start, end, segment.at_ns);
        }
        for gap in filled {
            self.fill_gap(&gap, segment, end, is_reordering);
        }
        self.counts.retransmitted_bytes += retransmitted;
        self.interval.retransmitted += retransmitted;
        self.interval.in_flight(self.flight.bytes());
        Some(if is_reordering {
            SegmentKind::OutOfOrder
        } else {
            SegmentKind::Retransmission
        })
    }

    /// Fills one gap; the rest of it remains.
    fn fill_gap(&mut self, gap: &Gap, segment: &SeenSegment, end: u64, is_reordering: bool) {
        let Some((from, to)) = gap.overlap(segment.start, end) else {
            return;
        };
        for (left, right) in [(gap.start, from), (to, gap.end)] {
            if left < right {
                self.gaps.push(Gap {
                    start: left,
                    end: right,
                    ..*gap
                });
            }
        }
        self.flight.insert(from, to, segment.at_ns);
        let fresh = (to - from).min(u64::from(segment.len));
        self.counts.bytes += fresh;
        self.interval.bytes += fresh;
        let is_reported = self.is_reported(segment, to, gap.at_ns);
        let repair = match self.repair(segment.at_ns, gap.at_ns, is_reported) {
            _ if is_reordering => Repair::None,
            Repair::TimeOut => Repair::TimeOut,
            _ => Repair::Fast,
        };
        self.add_loss(Loss {
            start: from,
            end: to,
            lost_ns: gap.at_ns,
            repaired_ns: segment.at_ns,
            repair,
            is_upstream: true,
            is_reported,
            queue: Queue::default(),
            timestamp: segment.timestamp,
            spurious: None,
            is_reordering,
            is_outage: gap.is_outage,
            acked_ns: None,
            losses_nearby: 0,
            losses_beside: 0,
            packets_in_flight: 0,
        });
    }

    /// Returns whether a segment that fills a gap was overtaken, and not sent again.
    fn is_reordering(&self, gap: &Gap, segment: &SeenSegment) -> bool {
        // Timestamps do not decrease in the order of sending (RFC 7323 §4.1).
        if let (Some(shown), Some(own)) = (gap.timestamp, segment.timestamp)
            && own != shown
        {
            return sequence::older(own, shown);
        }
        let waited = segment.at_ns.saturating_sub(gap.at_ns);
        // Earlier than an RTT after the gap showed, its sender does not know of it.
        let knows = waited >= segment.near_ns;
        // Nor does it repeat by a time-out, within one tick, what it sent before that.
        if segment.timestamp.is_some() && segment.timestamp == gap.timestamp && !knows {
            return true;
        }
        // Neither do identifications, unless they are random.
        let newer = segment.identification.wrapping_sub(gap.identification);
        let older = newer.wrapping_neg();
        let are_there = gap.identification != 0 && segment.identification != 0;
        if are_there && newer != 0 && newer.min(older) <= MAX_ID_STEP {
            return older < newer || !knows && waited < REORDERING_NS;
        }
        let is_asked_for =
            self.duplicates - gap.duplicates >= DUPLICATES && segment.near_ns > 0 && knows;
        waited < REORDERING_NS && !is_asked_for
    }
}
