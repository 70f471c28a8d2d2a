//! ELN: notifies the sender of losses on the radio (Balakrishnan and Katz, "Explicit loss notification and wireless
//! web performance", Globecom 1998).
//!
//! The middlebox stores which data has left towards a mobile host, but no copies. When ACKs of that host report that such
//! data is missing, it was lost on the radio. The middlebox sets a bit in these ACKs. A sender that understands the bit
//! retransmits the data without reducing its window. Data that found the queue of the access link full was lost to
//! congestion.

use net::{Actions, Node, Packet};
use tcp::{Flags, Segment, SeqUnwrapper};

use crate::connections::state_of;
use crate::egress::EgressQueue;
use crate::replace;

/// Middlebox that marks the ACKs which report losses of the radio.
pub struct Eln {
    queues: Vec<EgressQueue>,
    /// By the number of the connection.
    flows: Vec<SentData>,
}

/// Data of one connection that has left towards the mobile host.
#[derive(Default)]
struct SentData {
    numbers: SeqUnwrapper,
    /// Ranges of the stream (start, end), sorted and not adjacent.
    ranges: Vec<(u64, u64)>,
    /// Highest ACK number.
    acknowledged: u64,
}

impl SentData {
    /// Adds the data of a segment, unless it was dropped before it `reached_radio`.
    fn add(&mut self, segment: &Segment, reached_radio: bool) {
        let start = self.numbers.segment(segment.seq);
        let end = start + u64::from(segment.len);
        let highest_end = self.ranges.last().map_or(0, |&(_, to)| to);
        if !reached_radio {
            return;
        }
        if start == highest_end
            && let Some(last) = self.ranges.last_mut()
        {
            last.1 = end;
            return;
        }
        let first = self.ranges.partition_point(|&(_, to)| to < start);
        let after = self.ranges.partition_point(|&(from, _)| from <= end);
        let merged = self.ranges[first..after.max(first)]
            .iter()
            .fold((start, end), |(from, to), range| {
                (from.min(range.0), to.max(range.1))
            });
        self.ranges.splice(first..after.max(first), [merged]);
    }

    /// Handles an ACK of the mobile host; returns whether all holes that it reports are radio losses.
    fn reports_radio_loss(&mut self, segment: &Segment) -> bool {
        let Some(number) = self.numbers.acknowledgement(segment.ack) else {
            return false;
        };
        let is_duplicate = number == self.acknowledged && segment.len == 0;
        self.acknowledged = self.acknowledged.max(number);
        self.ranges.retain(|&(_, to)| to > number);
        let mut blocks: Vec<(u64, u64)> = segment
            .sack
            .as_slice()
            .iter()
            .filter_map(|&(left, right)| {
                let (left, right) = (
                    self.numbers.acknowledgement(left)?,
                    self.numbers.acknowledgement(right)?,
                );
                // A block below the number reports a duplicate (RFC 2883).
                (left >= number).then_some((left, right))
            })
            .collect();
        blocks.sort_unstable();
        if blocks.is_empty() {
            // Without SACK, only the first byte that is missing is known.
            return is_duplicate && self.has_left(number, number + 1);
        }
        let mut next = number;
        for (left, right) in blocks {
            if left > next && !self.has_left(next, left) {
                return false;
            }
            next = next.max(right);
        }
        true
    }

    /// Returns whether all bytes of a range have left.
    fn has_left(&self, from: u64, to: u64) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|&(start, end)| start <= from && to <= end)
    }
}

impl Eln {
    /// Creates the middlebox; `queues` are those of the hosts behind the wireless link.
    pub fn new(queues: Vec<EgressQueue>) -> Self {
        Self {
            queues,
            flows: Vec::new(),
        }
    }
}

impl Node for Eln {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let Some(segment) = packet.segment() else {
            actions.forward(packet.id);
            return;
        };
        let to = EgressQueue::towards(&self.queues, packet.destination);
        let from = EgressQueue::towards(&self.queues, packet.source);
        let syn_or_rst = Flags::SYN.bits() | Flags::RST.bits();
        if segment.flags.bits() & syn_or_rst == 0 {
            if let Some(queue) = to
                && segment.len > 0
            {
                let reached_radio = queue.has_room(packet.size, actions);
                state_of(&mut self.flows, packet.flow).add(segment, reached_radio);
            } else if from.is_some()
                && segment.flags.contains(Flags::ACK)
                && state_of(&mut self.flows, packet.flow).reports_radio_loss(segment)
            {
                let segment = Segment {
                    eln: true,
                    ..*segment
                };
                let marked = Packet {
                    payload: segment.into(),
                    ..*packet
                };
                replace(marked, actions);
                return;
            }
        }
        actions.forward(packet.id);
    }
}

#[cfg(test)]
mod tests {
    use tcp::{Flags, SackBlocks, Segment};

    use super::SentData;

    fn data(seq: u32) -> Segment {
        Segment {
            seq,
            len: 1_000,
            ..Segment::default()
        }
    }

    fn ack(number: u32, blocks: &[(u32, u32)]) -> Segment {
        let mut sack = SackBlocks::EMPTY;
        blocks.iter().for_each(|&(from, to)| sack.push(from, to));
        Segment {
            ack: number,
            flags: Flags::ACK,
            sack,
            ..Segment::default()
        }
    }

    #[test]
    fn a_hole_that_has_passed_is_a_loss_of_the_radio() {
        let mut flow = SentData::default();
        (0..5).for_each(|n| flow.add(&data(1_000 * n), true));
        assert!(!flow.reports_radio_loss(&ack(1_000, &[])), "progress");
        assert!(flow.reports_radio_loss(&ack(1_000, &[(2_000, 3_000)])));
        assert!(flow.reports_radio_loss(&ack(1_000, &[(4_000, 5_000), (2_000, 3_000)])));
        assert!(
            flow.reports_radio_loss(&ack(1_000, &[])),
            "a duplicate without SACK"
        );
    }

    #[test]
    fn a_hole_from_before_the_middlebox_or_from_its_queue_is_none() {
        let mut flow = SentData::default();
        for (number, reached) in [(0, true), (1, true), (3, true), (4, false), (5, true)] {
            flow.add(&data(1_000 * number), reached);
        }
        assert!(flow.reports_radio_loss(&ack(0, &[(1_000, 2_000)])));
        assert!(!flow.reports_radio_loss(&ack(2_000, &[(3_000, 4_000)])));
        assert!(!flow.reports_radio_loss(&ack(0, &[(3_000, 4_000)])));
        flow.add(&data(2_000), true);
        assert!(
            flow.reports_radio_loss(&ack(2_000, &[(3_000, 4_000)])),
            "repeated"
        );
        assert!(!flow.reports_radio_loss(&ack(4_000, &[(5_000, 6_000)])));
    }
}
