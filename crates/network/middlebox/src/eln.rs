//! ELN: notifies the sender of losses on the radio (Balakrishnan and Katz, "Explicit loss notification and wireless
//! web performance", Globecom 1998).
//!
//! The middlebox notes which data has left towards a mobile host, but stores no copies. When ACKs of that host report a
//! hole that the middlebox has seen pass, the loss was on the radio. It sets a bit in these ACKs; a sender that
//! understands it retransmits the data without a smaller window. Data that found the queue of the access link full was
//! lost to congestion.

use net::{Actions, HostId, Node, Packet};
use tcp::{Flags, Segment, SeqUnwrapper};

use crate::egress::EgressQueue;

/// Middlebox that marks the ACKs which report losses of the radio.
pub struct Eln {
    outlets: Vec<EgressQueue>,
    /// By the number of the connection.
    flows: Vec<SentData>,
}

/// Data of one connection that has left towards the mobile host.
#[derive(Default)]
struct SentData {
    numbers: SeqUnwrapper,
    /// Ranges, in order and not adjacent.
    ranges: Vec<(u64, u64)>,
    /// Latest acknowledgement.
    acknowledged: u64,
}

impl SentData {
    /// Notes that a segment has left; not so if it was lost before the radio.
    fn note(&mut self, segment: &Segment, reached_radio: bool) {
        let start = self.numbers.segment(segment.seq);
        let end = start + u64::from(segment.len);
        let end_of_known = self.ranges.last().map_or(0, |&(_, to)| to);
        if !reached_radio {
            return;
        }
        if start == end_of_known
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

    /// Handles an ACK of the mobile host; returns whether all holes that it reports come from the radio.
    fn reports_radio_loss(&mut self, segment: &Segment) -> bool {
        let Some(number) = self.numbers.acknowledgement(segment.ack) else {
            return false;
        };
        let repeats = number == self.acknowledged && segment.len == 0;
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
            return repeats && self.has_passed(number, number + 1);
        }
        let mut next = number;
        for (left, right) in blocks {
            if left > next && !self.has_passed(next, left) {
                return false;
            }
            next = next.max(right);
        }
        true
    }

    /// Returns whether all bytes of a range have left.
    fn has_passed(&self, from: u64, to: u64) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|&(start, end)| start <= from && to <= end)
    }
}

impl Eln {
    /// Creates the middlebox; `outlets` are the hosts behind the wireless link.
    pub fn new(outlets: Vec<EgressQueue>) -> Self {
        Self {
            outlets,
            flows: Vec::new(),
        }
    }

    fn flow(&mut self, number: u32) -> &mut SentData {
        let index = number as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, SentData::default);
        }
        &mut self.flows[index]
    }

    fn outlet(&self, host: HostId) -> Option<EgressQueue> {
        EgressQueue::towards(&self.outlets, host)
    }
}

impl Node for Eln {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let Some(segment) = packet.segment() else {
            actions.forward(packet.id);
            return;
        };
        let to = self.outlet(packet.destination);
        let from = self.outlet(packet.source);
        let others = Flags::SYN.bits() | Flags::RST.bits();
        let plain = segment.flags.bits() & others == 0;
        if plain {
            if let Some(outlet) = to
                && segment.len > 0
            {
                let reached_radio = outlet.has_room(packet.size, actions);
                self.flow(packet.flow).note(segment, reached_radio);
            } else if from.is_some()
                && segment.flags.contains(Flags::ACK)
                && self.flow(packet.flow).reports_radio_loss(segment)
            {
                let payload = actions.payload(packet.id);
                actions.absorb(packet.id);
                let marked = Segment {
                    eln: true,
                    ..*segment
                };
                let marked = Packet {
                    payload: marked.into(),
                    ..*packet
                };
                actions.create(marked, payload);
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
        (0..5).for_each(|n| flow.note(&data(1_000 * n), true));
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
            flow.note(&data(1_000 * number), reached);
        }
        assert!(flow.reports_radio_loss(&ack(0, &[(1_000, 2_000)])));
        assert!(!flow.reports_radio_loss(&ack(2_000, &[(3_000, 4_000)])));
        assert!(!flow.reports_radio_loss(&ack(0, &[(3_000, 4_000)])));
        flow.note(&data(2_000), true);
        assert!(
            flow.reports_radio_loss(&ack(2_000, &[(3_000, 4_000)])),
            "repeated"
        );
        assert!(!flow.reports_radio_loss(&ack(4_000, &[(5_000, 6_000)])));
    }
}
