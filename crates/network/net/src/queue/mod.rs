//! Queues: packets that wait for a link, and the disciplines that drop some of them.

mod codel;
mod discipline;
mod fq_codel;
mod pie;

use tcp::Ecn;
use units::Instant;
use units::random::{Purpose, RngStream};

use crate::packet_pool::{List, PacketHandle, PacketPool};
use crate::{Backlog, DropReason, Limit, LinkId, Observer, QueueConfig};
use codel::{CodelControl, CodelQueue};
pub use discipline::{Codel, Estimator, FqCodel, Pie, Queue, Threshold};
use fq_codel::FlowQueues;
use pie::PieControl;

/// Context of an event at a queue: the time, the link, the packets and the observer.
pub(crate) struct QueueContext<'a, O> {
    pub(crate) now: Instant,
    pub(crate) link: LinkId,
    pub(crate) store: &'a mut PacketPool,
    pub(crate) observer: &'a mut O,
}

impl<O: Observer> QueueContext<'_, O> {
    #[inline(never)]
    pub(crate) fn discard(&mut self, handle: PacketHandle, reason: DropReason) {
        let packet = self.store.remove(handle);
        self.observer.dropped(self.now, self.link, &packet, reason);
    }

    /// Marks the packet if its sender understands marks (RFC 3168 §5).
    fn mark(&mut self, handle: PacketHandle) -> bool {
        let packet = self.store.packet_mut(handle);
        if packet.segment.ecn == Ecn::NotEct {
            return false;
        }
        packet.segment.ecn = Ecn::Ce;
        self.observer.marked(self.now, self.link, packet);
        true
    }
}

/// The queue of a link at work.
pub(crate) struct LinkQueue {
    limit: Limit,
    discipline: Discipline,
}

enum Discipline {
    DropTail(List),
    Threshold(List, u64),
    Codel(CodelControl, CodelQueue),
    FqCodel(FlowQueues),
    Pie(PieControl, List),
}

impl LinkQueue {
    pub(crate) fn new(config: &QueueConfig, mtu: u32, seed: u64, link: LinkId) -> Self {
        let discipline = match &config.discipline {
            Queue::Droptail => Discipline::DropTail(List::EMPTY),
            Queue::Threshold(config) => Discipline::Threshold(List::EMPTY, config.mark_above.get()),
            Queue::Codel(config) => Discipline::Codel(
                CodelControl::new(config.clone(), mtu),
                CodelQueue::default(),
            ),
            Queue::FqCodel(config) => {
                let key = RngStream::new(seed, Purpose::QueueHash, link.0).at(0);
                Discipline::FqCodel(FlowQueues::new(config, mtu, key))
            }
            Queue::Pie(config) => {
                let draws = RngStream::new(seed, Purpose::QueueDrop, link.0);
                Discipline::Pie(PieControl::new(config.clone(), mtu, draws), List::EMPTY)
            }
        };
        Self {
            limit: config.limit,
            discipline,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        match &self.discipline {
            Discipline::DropTail(list)
            | Discipline::Threshold(list, _)
            | Discipline::Pie(_, list) => list.backlog(),
            Discipline::Codel(_, lane) => lane.list.backlog(),
            Discipline::FqCodel(queues) => queues.backlog(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match &self.discipline {
            Discipline::DropTail(list) => list.head().is_none(),
            _ => self.backlog().packets == 0,
        }
    }

    /// Takes a packet in, or drops it (with fair queueing, others of a longer sub-queue). Most queues are plain.
    #[inline]
    pub(crate) fn offer<O: Observer>(
        &mut self,
        handle: PacketHandle,
        scene: &mut QueueContext<'_, O>,
    ) {
        let Discipline::DropTail(list) = &mut self.discipline else {
            return self.offer_to_discipline(handle, scene);
        };
        let packet = scene.store.packet(handle);
        if !self.limit.allows(list.backlog(), u64::from(packet.size)) {
            return scene.discard(handle, DropReason::Overflow);
        }
        list.push(handle, scene.now, scene.store);
        let packet = scene.store.packet(handle);
        let (now, link) = (scene.now, scene.link);
        scene.observer.enqueued(now, link, packet, list.backlog());
    }

    fn offer_to_discipline<O: Observer>(
        &mut self,
        handle: PacketHandle,
        scene: &mut QueueContext<'_, O>,
    ) {
        let size = u64::from(scene.store.packet(handle).size);
        if let Discipline::FqCodel(queues) = &mut self.discipline {
            while !self.limit.allows(queues.backlog(), size) && queues.backlog().packets > 0 {
                queues.drop_fattest(scene);
            }
        }
        if !self.limit.allows(self.backlog(), size) {
            if let Discipline::Pie(pie, _) = &mut self.discipline {
                pie.overflow();
            }
            return scene.discard(handle, DropReason::Overflow);
        }
        let now = scene.now;
        match &mut self.discipline {
            Discipline::DropTail(list) => list.push(handle, now, scene.store),
            Discipline::Threshold(list, mark_above) => {
                if list.backlog().bytes > *mark_above {
                    scene.mark(handle);
                }
                list.push(handle, now, scene.store);
            }
            Discipline::Codel(_, lane) => lane.list.push(handle, now, scene.store),
            Discipline::FqCodel(queues) => queues.push(handle, now, scene.store),
            Discipline::Pie(pie, list) => {
                if !pie.admits(handle, list, scene) {
                    return scene.discard(handle, DropReason::Aqm);
                }
                list.push(handle, now, scene.store);
            }
        }
        let backlog = self.backlog();
        scene
            .observer
            .enqueued(now, scene.link, scene.store.packet(handle), backlog);
    }

    /// Takes the packet that is sent next out of the queue.
    #[inline]
    pub(crate) fn take<O: Observer>(
        &mut self,
        scene: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        match &mut self.discipline {
            Discipline::DropTail(list) => list.pop(scene.store),
            _ => self.take_by_discipline(scene),
        }
    }

    fn take_by_discipline<O: Observer>(
        &mut self,
        scene: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        match &mut self.discipline {
            Discipline::DropTail(list) | Discipline::Threshold(list, _) => list.pop(scene.store),
            Discipline::Codel(codel, lane) => codel.take(lane, 0, scene),
            Discipline::FqCodel(queues) => queues.take(scene),
            Discipline::Pie(pie, list) => {
                pie.update(list, scene.now);
                let handle = list.pop(scene.store)?;
                let size = u64::from(scene.store.packet(handle).size);
                let wait = scene.now.saturating_since(scene.store.since(handle));
                pie.depart(scene.now, (size, wait), list);
                Some(handle)
            }
        }
    }
}

impl Limit {
    fn allows(self, backlog: Backlog, size: u64) -> bool {
        match self {
            Self::Bytes(limit) => backlog.bytes + size <= limit.get(),
            Self::Packets(limit) => backlog.packets < limit,
            Self::Unlimited => true,
        }
    }
}
