//! ACKs: the processing of the other side's acknowledgements of a direction's segments.

use tcp::{Flags, Segment};

use super::super::flight::Sent;
use super::super::loss::{Loss, Queue, Repair};
use super::Direction;
use crate::sequence;

/// Reason of a retransmission that a D-SACK shows to be needless.
const TWICE: &str = "the receiver reported it twice (D-SACK)";

impl Direction {
    /// Takes the acknowledgement in a segment of the other side.
    pub(in crate::connection) fn acknowledge(
        &mut self,
        segment: &Segment,
        at_ns: u64,
        since_ns: u64,
    ) {
        if self.base.is_none() {
            // Only ACKs of this direction are captured.
            let first = sequence::first(segment.ack);
            self.base = Some(first);
            self.flight.begin(first);
        }
        let ack = sequence::near(self.flight.highest, segment.ack);
        let far_ahead = ack > self.flight.highest.saturating_add(1 << 30);
        if far_ahead {
            return;
        }
        self.take_probe(ack);
        let before = self.flight.acked;
        let result = self.flight.on_ack(ack, &segment.sack, at_ns);
        self.counts.missed += result.uncaptured;
        if result.advanced > 0 {
            self.last_missed = result.uncaptured;
        }
        self.interval.acked += result.delivered;
        self.interval.in_flight(self.flight.bytes());
        if self.flight.is_empty() {
            self.interval.limited();
        }
        self.peak.add(since_ns, result.delivered);
        if let Some(sample) = result.sample {
            self.answers.add(sample);
            self.interval.rtt(sample);
        }
        for sent in &result.reordered {
            self.overtaken(sent, at_ns);
        }
        self.note_duplicates(segment, ack);
        if ack > before {
            self.gaps.retain(|gap| gap.end > ack);
            let rtt = self.answers.smoothed_ns().unwrap_or(0);
            self.reductions.acked(at_ns, ack, rtt, self.segment);
            self.settle(segment, before, ack, at_ns);
        }
    }

    /// Adds a segment that an ACK shows to have been overtaken.
    fn overtaken(&mut self, sent: &Sent, at_ns: u64) {
        self.add_loss(Loss {
            start: sent.start,
            end: sent.end,
            lost_ns: sent.last_ns,
            repaired_ns: at_ns,
            repair: Repair::None,
            is_upstream: false,
            is_reported: true,
            queue: Queue::default(),
            timestamp: None,
            spurious: None,
            is_reordering: true,
            acked_ns: Some(at_ns),
            losses_nearby: 0,
        });
    }

    /// Notes D-SACKs: the first block is below the acknowledgement or within the second one (RFC 2883 §4).
    fn note_duplicates(&mut self, segment: &Segment, ack: u64) {
        let [first, rest @ ..] = segment.sack.as_slice() else {
            return;
        };
        self.used_sack = true;
        let edge = |wire| sequence::near(self.flight.highest, wire);
        let (left, right) = (edge(first.0), edge(first.1));
        let within = rest
            .first()
            .is_some_and(|outer| edge(outer.0) <= left && right <= edge(outer.1));
        if right > ack && !within {
            return;
        }
        // Of a segment that passed more than twice, the last time was needless. One block can report several segments.
        let mut reported = left;
        while reported < right {
            let all = self.open.iter_mut().chain(self.classified.iter_mut());
            let fits = |loss: &&mut Loss| {
                let same = loss.start < right && reported < loss.end && !loss.is_reordering;
                same && loss.spurious != Some(TWICE)
            };
            let Some(loss) = all
                .filter(fits)
                .min_by_key(|loss| (loss.start, u64::MAX - loss.repaired_ns))
            else {
                return;
            };
            loss.spurious = Some(TWICE);
            reported = loss.end;
        }
    }

    /// Settles the losses that an ACK covers.
    fn settle(&mut self, segment: &Segment, before: u64, ack: u64, at_ns: u64) {
        if self.open.is_empty() {
            return;
        }
        let echoed = segment.timestamps.map(|(_, echo)| echo);
        let mut open = core::mem::take(&mut self.open);
        open.retain_mut(|loss| {
            if loss.end > ack {
                return true;
            }
            loss.acked_ns = Some(at_ns);
            let is_first = loss.start <= before;
            if let (Some(sent), Some(echo), true) = (loss.timestamp, echoed, is_first)
                && !loss.is_upstream
                && sequence::older(echo, sent)
            {
                let reason = "the ACK echoes an earlier timestamp (Eifel)";
                loss.spurious.get_or_insert(reason);
            }
            self.classified.push_back(*loss);
            false
        });
        self.open = open;
    }

    /// Counts an ACK without payload of the other side as duplicate (RFC 5681 §2); returns whether it is.
    pub(in crate::connection) fn is_duplicate_ack(
        &mut self,
        segment: &Segment,
        same_window: bool,
    ) -> bool {
        let plain = Flags::SYN | Flags::FIN | Flags::RST;
        let bare = segment.len == 0 && segment.flags.bits() & plain.bits() == 0;
        let ack = sequence::near(self.flight.highest, segment.ack);
        let same = self.last_ack.replace(ack) == Some(ack);
        let duplicate = bare && same && same_window && !self.flight.is_empty();
        self.reports += u32::from(duplicate);
        self.duplicates += u64::from(duplicate);
        duplicate
    }
}
