//! Gaps: ranges that have not passed, though later ones have, and the segments that fill them.

use super::super::loss::{Loss, Repair};
use super::{Direction, SeenSegment, SegmentKind};
use crate::sequence;

/// Maximum number of stored gaps.
const MAX_GAPS: usize = 1_024;
/// Time within which a segment that fills a gap counts as reordered without other evidence, ns; as in Wireshark.
const REORDERING_NS: u64 = 3_000_000;
/// Duplicate ACKs that cause a fast retransmission (RFC 5681 §3.2).
const DUP_THRESHOLD: u64 = 3;
/// Maximum difference of two identifications of a sender that counts its packets; others draw them at random.
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
    /// Number of duplicate ACKs before the gap showed.
    duplicates: u64,
    /// Whether an outage before the capture caused it.
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
    /// Adds the gap between `from` and the segment that shows it; `is_outage`: an outage caused it.
    pub(super) fn open_gap(&mut self, shown_by: &SeenSegment, from: u64, is_outage: bool) {
        if from < shown_by.start && self.gaps.len() < MAX_GAPS {
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
    pub(super) fn fill_gaps(&mut self, segment: &SeenSegment, end: u64) -> Option<SegmentKind> {
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
        self.interval.add_in_flight(self.flight.bytes());
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
        let repair = match self.classify_repair(segment.at_ns, gap.at_ns, is_reported) {
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
            timestamp: segment.timestamp,
            is_reordering,
            is_outage: gap.is_outage,
            ..Loss::default()
        });
    }

    /// Returns whether a segment that fills a gap was reordered, and is no retransmission.
    fn is_reordering(&self, gap: &Gap, segment: &SeenSegment) -> bool {
        // Timestamps do not decrease in the order of sending (RFC 7323 §4.1).
        if let (Some(shown), Some(own)) = (gap.timestamp, segment.timestamp)
            && own != shown
        {
            return sequence::older(own, shown);
        }
        let waited = segment.at_ns.saturating_sub(gap.at_ns);
        // The sender knows of the gap an RTT after it showed.
        let knows = waited >= segment.near_ns;
        // A time-out is longer than a tick of the timestamps, so that it repeats no segment with the same one.
        if segment.timestamp.is_some() && segment.timestamp == gap.timestamp && !knows {
            return true;
        }
        // Identifications that count packets do not decrease either.
        let newer = segment.identification.wrapping_sub(gap.identification);
        let older = newer.wrapping_neg();
        let have_identifications = gap.identification != 0 && segment.identification != 0;
        if have_identifications && newer != 0 && newer.min(older) <= MAX_ID_STEP {
            return older < newer || !knows && waited < REORDERING_NS;
        }
        let is_fast_retransmission =
            self.duplicates - gap.duplicates >= DUP_THRESHOLD && segment.near_ns > 0 && knows;
        waited < REORDERING_NS && !is_fast_retransmission
    }
}
