//! Delay line: packets that have been transmitted and have not arrived.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::Instant;

use crate::packet_pool::PacketHandle;

/// A packet on the wire. Ordered by arrival, then by transmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct InTransit {
    pub(crate) arrival: Instant,
    pub(crate) ordinal: u64,
    pub(crate) handle: PacketHandle,
    pub(crate) is_lost: bool,
}

pub(crate) enum DelayLine {
    Fifo(VecDeque<InTransit>),
    Reordering(BinaryHeap<Reverse<InTransit>>),
}

impl DelayLine {
    pub(crate) fn new(may_reorder: bool) -> Self {
        if may_reorder {
            Self::Reordering(BinaryHeap::new())
        } else {
            Self::Fifo(VecDeque::new())
        }
    }

    /// Adds a packet. In a FIFO it arrives no earlier than those before it.
    #[inline]
    pub(crate) fn push(&mut self, mut packet: InTransit) {
        match self {
            Self::Fifo(line) => {
                if let Some(last) = line.back() {
                    packet.arrival = packet.arrival.max(last.arrival);
                }
                line.push_back(packet);
            }
            Self::Reordering(heap) => heap.push(Reverse(packet)),
        }
    }

    /// Returns the arrival of the next packet.
    #[inline]
    pub(crate) fn next_at(&self) -> Instant {
        let next = match self {
            Self::Fifo(line) => line.front(),
            Self::Reordering(heap) => heap.peek().map(|Reverse(packet)| packet),
        };
        next.map_or(Instant::NEVER, |packet| packet.arrival)
    }

    /// Removes and returns the next packet that arrives by `now`.
    #[inline]
    pub(crate) fn pop_until(&mut self, now: Instant) -> Option<InTransit> {
        if self.next_at() > now {
            return None;
        }
        match self {
            Self::Fifo(line) => line.pop_front(),
            Self::Reordering(heap) => heap.pop().map(|Reverse(packet)| packet),
        }
    }
}
