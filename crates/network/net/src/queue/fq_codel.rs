//! Fair queueing with controlled delay (RFC 8290).

use std::collections::VecDeque;

use config::{FieldError, check_number, check_positive, table};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration};

use super::codel::{Codel, CodelControl, CodelQueue};
use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::PacketHandle;
use crate::{Backlog, DropReason, Limit, Observer, Packet};

table! {
    /// The parameters of FQ-CoDel.
    pub struct FqCodel {
        /// Acceptable standing delay; default 5ms (RFC 8290 section 5.2.2).
        pub target: Duration = Duration::from_millis(5),
        /// A worst-case RTT; default 100ms (RFC 8290 section 5.2.1).
        pub interval: Duration = Duration::from_millis(100),
        /// Bytes that a flow sends in its turn; default 1514B (RFC 8290 section 5.2.4).
        pub quantum: Bytes = Bytes::new(1514),
        /// Number of queues that flows are hashed into; default 1024 (RFC 8290 section 5.2.5).
        pub flows: u32 = 1024,
        /// Mark ECN-capable packets rather than drop them; default true, as Linux does.
        pub ecn: bool = true,
    }
}

impl FqCodel {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_positive("target", self.target)?;
        check_positive("interval", self.interval)?;
        check_positive("quantum", self.quantum)?;
        // Sub-queues are allocated once.
        check_number("flows", self.flows, 1, 65_536)
    }
}

/// Maximum number of packets that one overflow drops (RFC 8290 §4.1).
const MAX_DROPS: u32 = 64;

struct SubQueue {
    codel_queue: CodelQueue,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    /// Whether it is new or old.
    is_scheduled: bool,
}

/// The sub-queues of FQ-CoDel and their turns.
pub(super) struct FqCodelQdisc {
    codel: CodelControl,
    quantum: i64,
    /// Perturbation of the hash.
    hash_key: u64,
    queues: Vec<SubQueue>,
    /// New queues in the order of their turns (RFC 8290 §4.2).
    new_queues: VecDeque<u32>,
    /// Old queues in the order of their turns.
    old_queues: VecDeque<u32>,
    backlog: Backlog,
}

impl FqCodelQdisc {
    pub(super) fn new(config: &FqCodel, attachment: Attachment) -> Self {
        let Attachment { mtu, seed, link } = attachment;
        let queue = || SubQueue {
            codel_queue: CodelQueue::default(),
            deficit: 0,
            is_scheduled: false,
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
            .with_linux_first_drops(),
            quantum: config.quantum.get() as i64,
            hash_key: RngStream::new(seed, Purpose::QueueHash, link.0).at(0),
            queues: (0..config.flows).map(|_| queue()).collect(),
            new_queues: VecDeque::with_capacity(config.flows as usize),
            old_queues: VecDeque::with_capacity(config.flows as usize),
            backlog: Backlog::default(),
        }
    }

    /// Drops half of the bytes of the longest queue from its head, in 1 to [`MAX_DROPS`] packets (RFC 8290 §4.1).
    fn drop_fattest<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) {
        let bytes = |queue: &SubQueue| queue.codel_queue.list.backlog().bytes;
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| bytes(queue)) else {
            return;
        };
        let half = bytes(longest) / 2;
        let (mut count, mut dropped) = (0, 0);
        while count == 0 || (count < MAX_DROPS && dropped < half) {
            let Some(handle) = longest.codel_queue.list.pop(context.pool) else {
                break;
            };
            let size = u64::from(context.pool.packet(handle).size);
            (count, dropped) = (count + 1, dropped + size);
            self.backlog.bytes -= size;
            self.backlog.packets -= 1;
            context.discard(handle, DropReason::Overflow);
        }
        longest.codel_queue.add_drops(count);
    }
}

impl Qdisc for FqCodelQdisc {
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Drops packets of the fattest flows.
    fn make_room<O: Observer>(
        &mut self,
        limit: Limit,
        size: u64,
        context: &mut QueueContext<'_, O>,
    ) {
        while !limit.allows(self.backlog, size) && self.backlog.packets > 0 {
            self.drop_fattest(context);
        }
    }

    /// Puts a packet into the queue of its flow, and schedules that queue if it was not (RFC 8290 §4.1.1, §4.1.2).
    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let packet = context.pool.packet(handle);
        let index = hash(packet, self.hash_key) % self.queues.len() as u64;
        self.backlog.bytes += u64::from(packet.size);
        self.backlog.packets += 1;
        let queue = &mut self.queues[index as usize];
        queue
            .codel_queue
            .list
            .push(handle, context.now, context.pool);
        if !queue.is_scheduled {
            queue.is_scheduled = true;
            queue.deficit = self.quantum;
            self.new_queues.push_back(index as u32);
        }
        true
    }

    /// Removes and returns the next packet by deficit round robin, from new queues first (RFC 8290 §4.2).
    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        loop {
            let is_new = !self.new_queues.is_empty();
            let list = if is_new {
                &mut self.new_queues
            } else {
                &mut self.old_queues
            };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old_queues.push_back(index);
                continue;
            }
            let before = queue.codel_queue.list.backlog();
            let other_bytes = self.backlog.bytes - before.bytes;
            let packet = self
                .codel
                .dequeue(&mut queue.codel_queue, other_bytes, context);
            let after = queue.codel_queue.list.backlog();
            self.backlog.bytes -= before.bytes - after.bytes;
            self.backlog.packets -= before.packets - after.packets;
            if let Some(handle) = packet {
                queue.deficit -= i64::from(context.pool.packet(handle).size);
                return Some(handle);
            }
            list.pop_front();
            if is_new && !self.old_queues.is_empty() {
                // It becomes an old queue: otherwise a queue could stay new by being empty.
                self.old_queues.push_back(index);
            } else {
                queue.is_scheduled = false;
            }
        }
    }
}

/// Hashes flow, source and destination by the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn hash(packet: &Packet, key: u64) -> u64 {
    let ends = u64::from(packet.source.0) << 32 | u64::from(packet.destination.0);
    let mixed = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    mixed(mixed(key ^ ends).wrapping_add(u64::from(packet.flow)))
}
