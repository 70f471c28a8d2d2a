//! Order: packets leave in the order of their times, on a clock that does not go back.
//!
//! Cards with several queues, and programs that join captures, write records out of time order: their times are
//! right. Where the clock itself was set back, the order of the records is right. What the packets of a connection
//! say of each other tells the two apart: sequence numbers, timestamps and their echoes.

use std::collections::VecDeque;

use tcp::{Flags, Segment};

use crate::input::decode::Packet;
use crate::input::pcap_reader::MAX_TIME_NS;
use crate::sequence::older;

/// Maximum number of packets that wait for earlier ones.
const KEPT: usize = 1 << 11;
/// Packets of several queues are written up to this time after each other, ns; where time goes back further and no
/// packet tells, the clock was set.
const REORDERING_NS: u64 = 1_000_000_000;
/// Time within which two packets can have the same timestamp, ns.
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
    /// Packets with a time before that of the packet before.
    pub(crate) disordered: u64,
    /// Times that the clock was set back.
    pub(crate) steps: u64,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            // A ring that is no larger stays in the cache.
            waiting: VecDeque::with_capacity(KEPT),
            last_ns: 0,
            offset_ns: 0,
            disordered: 0,
            steps: 0,
        }
    }
}

impl Order {
    /// Adds the next packet of the capture; returns its time.
    #[inline]
    pub(crate) fn push(&mut self, packet: &mut Packet) -> u64 {
        packet.at_ns = self.corrected_ns(packet.at_ns);
        if packet.at_ns < self.last_ns {
            self.disordered += 1;
            if self.is_set_back(packet) {
                self.steps += 1;
                self.offset_ns += self.last_ns - packet.at_ns;
                packet.at_ns = self.last_ns;
            }
        }
        let at_ns = packet.at_ns;
        self.last_ns = at_ns;
        if self.waiting.back().is_none_or(|last| last.at_ns <= at_ns) {
            // A slice is copied once.
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
        self.waiting.len() >= KEPT
    }

    /// Returns whether the clock was set back before `packet`, and not only the record late.
    fn is_set_back(&self, packet: &Packet) -> bool {
        let distance = self.last_ns - packet.at_ns;
        let later = self.waiting.iter().rev().take(SEARCH_PACKETS);
        let mut echoes_late = None;
        for other in later.take_while(|other| other.at_ns > packet.at_ns) {
            let ticked = other.at_ns - packet.at_ns > TICK_NS;
            if (other.source, other.destination) == (packet.source, packet.destination) {
                if let Some(is_ahead) = is_ahead(&packet.segment, &other.segment, ticked) {
                    return is_ahead;
                }
            } else if (other.destination, other.source) == (packet.source, packet.destination)
                && ticked
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

/// Returns whether `segment` was sent after `other` of the same side; `None` if that is unknown.
fn is_ahead(segment: &Segment, other: &Segment, ticked: bool) -> Option<bool> {
    if let (Some((own, _)), Some((theirs, _)), true) =
        (segment.timestamps, other.timestamps, ticked)
        && own != theirs
    {
        return Some(older(theirs, own));
    }
    let end = |segment: &Segment| segment.seq.wrapping_add(segment.len);
    if end(segment) != end(other) {
        return Some(older(end(other), end(segment)));
    }
    (segment.ack != other.ack).then(|| older(other.ack, segment.ack))
}
