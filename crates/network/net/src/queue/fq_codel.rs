//! Fair queueing with controlled delay (RFC 8290).

use std::collections::VecDeque;

use units::Instant;

use super::QueueContext;
use super::codel::{CodelControl, CodelQueue};
use crate::packet_pool::{PacketHandle, PacketPool};
use crate::{Backlog, Codel, DropReason, FqCodel, Observer, Packet};

/// Packets that one overflow drops at most (RFC 8290 §4.1).
const BATCH: u32 = 64;

struct SubQueue {
    lane: CodelQueue,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    scheduled: bool,
}

/// FQ-CoDel at work: the sub-queues and their turns.
pub(super) struct FlowQueues {
    codel: CodelControl,
    quantum: i64,
    /// Perturbs the hash.
    key: u64,
    queues: Vec<SubQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
}

impl FlowQueues {
    pub(super) fn new(config: &FqCodel, mtu: u32, key: u64) -> Self {
        let queue = || SubQueue {
            lane: CodelQueue::default(),
            deficit: 0,
            scheduled: false,
        };
        Self {
            codel: CodelControl::new(
                Codel {
                    target: config.target,
                    interval: config.interval,
                    ecn: config.ecn,
                },
                mtu,
            )
            .with_first_drops_of_linux(),
            quantum: config.quantum.get() as i64,
            key,
            queues: (0..config.flows).map(|_| queue()).collect(),
            new: VecDeque::with_capacity(config.flows as usize),
            old: VecDeque::with_capacity(config.flows as usize),
            backlog: Backlog::default(),
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Puts a packet into the queue of its flow, and schedules that queue if it was not (RFC 8290 §4.1.1, §4.1.2).
    pub(super) fn push(&mut self, handle: PacketHandle, now: Instant, store: &mut PacketPool) {
        let packet = store.packet(handle);
        let index = hash(packet, self.key) % self.queues.len() as u64;
        self.backlog.bytes += u64::from(packet.size);
        self.backlog.packets += 1;
        let queue = &mut self.queues[index as usize];
        queue.lane.list.push(handle, now, store);
        if !queue.scheduled {
            queue.scheduled = true;
            queue.deficit = self.quantum;
            self.new.push_back(index as u32);
        }
    }

    /// Takes the next packet by deficit round robin, from new queues first (RFC 8290 §4.2).
    pub(super) fn take<O: Observer>(
        &mut self,
        scene: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = queue.lane.list.backlog();
            let beside = self.backlog.bytes - before.bytes;
            let found = self.codel.take(&mut queue.lane, beside, scene);
            let after = queue.lane.list.backlog();
            self.backlog.bytes -= before.bytes - after.bytes;
            self.backlog.packets -= before.packets - after.packets;
            if let Some(handle) = found {
                queue.deficit -= i64::from(scene.store.packet(handle).size);
                return Some(handle);
            }
            list.pop_front();
            if is_new && !self.old.is_empty() {
                // One more turn among the old: otherwise a queue could stay new by being empty.
                self.old.push_back(index);
            } else {
                queue.scheduled = false;
            }
        }
    }

    /// Drops half of the queue with most bytes, from its head (RFC 8290 §4.1).
    pub(super) fn drop_fattest<O: Observer>(&mut self, scene: &mut QueueContext<'_, O>) {
        let bytes = |queue: &SubQueue| queue.lane.list.backlog().bytes;
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| bytes(queue)) else {
            return;
        };
        let half = bytes(longest) / 2;
        let (mut count, mut dropped) = (0, 0);
        while count == 0 || (count < BATCH && dropped < half) {
            let Some(handle) = longest.lane.list.pop(scene.store) else {
                break;
            };
            let size = u64::from(scene.store.packet(handle).size);
            (count, dropped) = (count + 1, dropped + size);
            self.backlog.bytes -= size;
            self.backlog.packets -= 1;
            scene.discard(handle, DropReason::Overflow);
        }
        longest.lane.add_drops(count);
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over what identifies a flow in
/// one direction.
fn hash(packet: &Packet, key: u64) -> u64 {
    let ends = u64::from(packet.source.0) << 32 | u64::from(packet.destination.0);
    let mixed = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    mixed(mixed(key ^ ends).wrapping_add(u64::from(packet.flow)))
}
