//! Queues: packets that wait for a link, and queue disciplines.

mod codel;
mod discipline;
mod droptail;
mod fq_codel;
mod pie;
mod red;
mod threshold;

use units::Instant;

use crate::packet_pool::{PacketHandle, PacketPool};
use crate::{Backlog, DropReason, Limit, LinkId, Observer, QueueConfig};
pub use codel::Codel;
use discipline::Discipline;
pub use discipline::Queue;
pub use fq_codel::FqCodel;
pub use pie::{Estimator, Pie};
pub use red::Red;
pub use threshold::Threshold;

/// Context of an event at a queue: the time, the link, the packets and the observer.
pub(crate) struct QueueContext<'a, O> {
    pub(crate) now: Instant,
    pub(crate) link: LinkId,
    pub(crate) pool: &'a mut PacketPool,
    pub(crate) observer: &'a mut O,
}

impl<'a, O: Observer> QueueContext<'a, O> {
    #[inline]
    pub(crate) fn new(
        now: Instant,
        link: LinkId,
        pool: &'a mut PacketPool,
        observer: &'a mut O,
    ) -> Self {
        Self {
            now,
            link,
            pool,
            observer,
        }
    }

    #[inline(never)]
    pub(crate) fn discard(&mut self, handle: PacketHandle, reason: DropReason) {
        let packet = self.pool.remove(handle);
        self.observer
            .on_dropped(self.now, self.link, &packet, reason);
    }

    /// Marks the packet if its sender understands marks; returns whether it is marked.
    fn mark(&mut self, handle: PacketHandle) -> bool {
        let packet = self.pool.packet_mut(handle);
        if !packet.mark() {
            return false;
        }
        self.observer.on_marked(self.now, self.link, packet);
        true
    }
}

/// Link that a queue is attached to.
#[derive(Clone, Copy)]
struct Attachment {
    /// Bytes of the largest packet.
    mtu: u32,
    /// Seed of the run.
    seed: u64,
    link: LinkId,
}

/// A queue discipline, as in Linux: which packets wait, and in which order they leave. A new one is a file with its
/// parameters and state, and an entry in `discipline.rs`. [`LinkQueue`] enforces the limit and reports to the observer.
trait Qdisc {
    /// Returns the packets that wait.
    fn backlog(&self) -> Backlog;

    /// Drops waiting packets, so that `size` more bytes fit the limit; most disciplines drop none.
    fn make_room<O: Observer>(&mut self, _: Limit, _size: u64, _: &mut QueueContext<'_, O>) {}

    /// Handles an arrival that does not fit the limit.
    fn on_overflow(&mut self) {}

    /// Enqueues a packet, or discards it; returns whether it waits.
    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool;

    /// Dequeues the packet that is sent next.
    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle>;
}

/// The queue of a link: a discipline and the limit of its backlog.
pub(crate) struct LinkQueue {
    limit: Limit,
    discipline: Discipline,
}

impl LinkQueue {
    pub(crate) fn new(config: &QueueConfig, mtu: u32, seed: u64, link: LinkId) -> Self {
        Self {
            limit: config.limit,
            discipline: Discipline::new(&config.discipline, Attachment { mtu, seed, link }),
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match &self.discipline {
            Discipline::Droptail(queue) => queue.list.head().is_none(),
            _ => self.backlog().packets == 0,
        }
    }

    /// Enqueues a packet, or drops it (with fair queueing, others of a longer sub-queue). Drop-tail has a fast path.
    #[inline]
    pub(crate) fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) {
        match &mut self.discipline {
            Discipline::Droptail(queue) => {
                enqueue_within(queue, self.limit, Backlog::default(), handle, context);
            }
            _ => self.enqueue_behind(Backlog::default(), handle, context),
        }
    }

    /// Enqueues a packet; `others` are packets that have left the queue and still count as backlog of the link.
    pub(crate) fn enqueue_behind<O: Observer>(
        &mut self,
        others: Backlog,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) {
        enqueue_within(&mut self.discipline, self.limit, others, handle, context);
    }

    /// Dequeues the packet that is sent next.
    #[inline]
    pub(crate) fn dequeue<O: Observer>(
        &mut self,
        context: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        match &mut self.discipline {
            Discipline::Droptail(queue) => queue.dequeue(context),
            discipline => discipline.dequeue(context),
        }
    }
}

/// Enqueues a packet if it fits the limit, and reports it to the observer, with `others` in the backlog of the link.
#[inline]
fn enqueue_within<O: Observer>(
    queue: &mut impl Qdisc,
    limit: Limit,
    others: Backlog,
    handle: PacketHandle,
    context: &mut QueueContext<'_, O>,
) {
    let size = u64::from(context.pool.packet(handle).size);
    queue.make_room(limit, size, context);
    if !limit.allows(queue.backlog(), size) {
        queue.on_overflow();
        return context.discard(handle, DropReason::Overflow);
    }
    if queue.enqueue(handle, context) {
        let packet = context.pool.packet(handle);
        context
            .observer
            .on_enqueued(context.now, context.link, packet, queue.backlog() + others);
    }
}

impl Limit {
    #[inline]
    fn allows(self, backlog: Backlog, size: u64) -> bool {
        match self {
            Self::Bytes(limit) => backlog.bytes + size <= limit.get(),
            Self::Packets(limit) => backlog.packets < limit,
            Self::Unlimited => true,
        }
    }
}
