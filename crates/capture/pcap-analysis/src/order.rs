//! Order of packets: by time, on a clock that does not go back.
//!
//! Cards with several queues, and programs that join captures, write records out of order, with right times. Where the
//! clock was set back, the order of the records is right. Sequence numbers, timestamps and their echoes in the packets of
//! a connection distinguish these cases.

use std::collections::VecDeque;

use tcp::{Flags, Segment};

use crate::input::decode::Packet;
use crate::input::pcap_reader::MAX_TIME_NS;
use crate::sequence::older;

/// Maximum number of packets that wait for earlier ones.
const MAX_WAITING: usize = 1 << 11;
/// Packets of several queues are written up to this late, ns. If time goes back further, and no packet decides,
/// the clock was set back.
const REORDERING_NS: u64 = 1_000_000_000;
/// Two packets within this time can have the same timestamp, ns.
const TICK_NS: u64 = 5_000_000;
/// Number of packets that are examined to detect a clock that was set back.
const SEARCH_PACKETS: usize = 512;

/// Packets in the order of their times.
pub(crate) struct Order {
    pub(crate) waiting: VecDeque<Packet>,
    /// Time of the last packet that was processed.
    last_ns: u64,
    /// Time added since the clock was set back.
    offset_ns: u64,
    /// Packets with an earlier time than the previous packet.
    pub(crate) time_reversals: u64,
    /// Number of times that the clock was set back.
    pub(crate) backward_steps: u64,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            // A ring that is no larger stays in the cache.
            waiting: VecDeque::with_capacity(MAX_WAITING),
            last_ns: 0,
            offset_ns: 0,
            time_reversals: 0,
            backward_steps: 0,
        }
    }
}

impl Order {
    /// Adds the next packet of the capture; returns its corrected time, ns.
    #[inline]
    pub(crate) fn push(&mut self, packet: &mut Packet) -> u64 {
        packet.at_ns = self.corrected_ns(packet.at_ns);
        if packet.at_ns < self.last_ns {
            self.time_reversals += 1;
            if self.is_set_back(packet) {
                self.backward_steps += 1;
                self.offset_ns += self.last_ns - packet.at_ns;
                packet.at_ns = self.last_ns;
            }
        }
        let at_ns = packet.at_ns;
        self.last_ns = at_ns;
        if self.waiting.back().is_none_or(|last| last.at_ns <= at_ns) {
            // Copies the packet once, which `push_back` does not.
            self.waiting.extend(core::slice::from_ref(&*packet));
        } else {
            let index = self.waiting.partition_point(|other| other.at_ns <= at_ns);
            self.waiting.insert(index, *packet);
        }
        at_ns
    }

    /// Returns the time of a record on the clock that does not go back.
    pub(crate) fn corrected_ns(&self, at_ns: u64) -> u64 {
        (at_ns + self.offset_ns).min(MAX_TIME_NS)
    }

    /// Returns whether the maximum number of packets waits.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    /// Returns whether the clock was set back before `packet`; otherwise the record is late.
    fn is_set_back(&self, packet: &Packet) -> bool {
        let distance = self.last_ns - packet.at_ns;
        let later = self.waiting.iter().rev().take(SEARCH_PACKETS);
        let mut echoes_late = None;
        for other in later.take_while(|other| other.at_ns > packet.at_ns) {
            let has_ticked = other.at_ns - packet.at_ns > TICK_NS;
            if (other.source, other.destination) == (packet.source, packet.destination) {
                if let Some(is_ahead) = is_ahead(&packet.segment, &other.segment, has_ticked) {
                    return is_ahead;
                }
            } else if (other.destination, other.source) == (packet.source, packet.destination)
                && has_ticked
                && packet.segment.flags.contains(Flags::ACK)
                && let (Some((_, echo)), Some((value, _))) =
                    (packet.segment.timestamps, other.segment.timestamps)
            {
                // Nobody echoes a timestamp before it is sent.
                if !older(echo, value) {
                    return true;
                }
                echoes_late = Some(false);
            }
        }
        echoes_late.unwrap_or(distance > REORDERING_NS)
    }
}

/// Returns whether `segment` was sent after `other` of the same side; `None` if that is unknown. `has_ticked`: their
/// timestamps must differ.
fn is_ahead(segment: &Segment, other: &Segment, has_ticked: bool) -> Option<bool> {
    if let (Some((value, _)), Some((other_value, _)), true) =
        (segment.timestamps, other.timestamps, has_ticked)
        && value != other_value
    {
        return Some(older(other_value, value));
    }
    let end = |segment: &Segment| segment.seq.wrapping_add(segment.len);
    if end(segment) != end(other) {
        return Some(older(end(other), end(segment)));
    }
    (segment.ack != other.ack).then(|| older(other.ack, segment.ack))
}
