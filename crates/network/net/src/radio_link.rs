//! Radio link: one direction of a user of the radio access network, as a link of the path.

use radio::ran::{Direction, Outcome, Ran, UserId};
use units::Instant;

use crate::packet_pool::PacketHandle;
use crate::queue::{LinkQueue, Queue, QueueContext};
use crate::{Backlog, DropReason, HostId, LinkConfig, LinkId, Observer};

/// One direction of one user.
pub(crate) struct RadioLink {
    pub(crate) from: HostId,
    pub(crate) to: HostId,
    mtu: u32,
    pub(crate) user: UserId,
    pub(crate) direction: Direction,
    /// Packets that RLC has, neither arrived nor lost.
    pub(crate) under_way: Backlog,
    /// Queue discipline above RLC; `None` for drop-tail, which RLC does itself.
    queue: Option<Box<LinkQueue>>,
}

impl RadioLink {
    pub(crate) fn new(
        config: &LinkConfig,
        (user, direction): (UserId, Direction),
        id: LinkId,
        seed: u64,
    ) -> Self {
        let has_discipline = config.queue.discipline != Queue::Droptail;
        Self {
            queue: has_discipline
                .then(|| Box::new(LinkQueue::new(&config.queue, config.mtu, seed, id))),
            from: config.from,
            to: config.to,
            mtu: config.mtu,
            user,
            direction,
            under_way: Backlog::default(),
        }
    }

    /// Enqueues a packet.
    pub(crate) fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        ran: &mut Ran,
        context: &mut QueueContext<'_, O>,
    ) {
        let size = context.pool.packet(handle).size;
        if size > self.mtu {
            return context.discard(handle, DropReason::Mtu);
        }
        if let Some(queue) = &mut self.queue {
            queue.enqueue_behind(self.under_way, handle, context);
            return self.report_waiting(ran);
        }
        if self.enqueue_at_rlc(handle, ran, context) {
            let packet = context.pool.packet(handle);
            context
                .observer
                .on_enqueued(context.now, context.link, packet, self.under_way);
        }
    }

    /// Moves packets from the discipline to RLC, as many as the blocks of the next TTI may carry.
    pub(crate) fn refill<O: Observer>(&mut self, ran: &mut Ran, context: &mut QueueContext<'_, O>) {
        while let Some(queue) = &mut self.queue
            && ran.wants(self.user, self.direction, self.mtu)
            && let Some(handle) = queue.dequeue(context)
        {
            self.enqueue_at_rlc(handle, ran, context);
        }
        self.report_waiting(ran);
    }

    /// Includes packets that wait for a discipline at a user in its buffer status reports.
    fn report_waiting(&self, ran: &mut Ran) {
        if self.direction == Direction::Up {
            ran.set_waiting(self.user, self.waiting().bytes);
        }
    }

    /// Returns the packets that wait for a discipline.
    pub(crate) fn waiting(&self) -> Backlog {
        let queue = self.queue.as_ref();
        queue.map_or_else(Backlog::default, |queue| queue.backlog())
    }

    /// Enqueues a packet at RLC, or drops it if RLC is full; returns whether RLC has it.
    fn enqueue_at_rlc<O: Observer>(
        &mut self,
        handle: PacketHandle,
        ran: &mut Ran,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let size = context.pool.packet(handle).size;
        let packet_id = u64::from(handle);
        let has_room = ran.enqueue(context.now, self.user, self.direction, packet_id, size);
        if has_room {
            self.under_way.bytes += u64::from(size);
            self.under_way.packets += 1;
        } else {
            context.discard(handle, DropReason::Overflow);
        }
        has_room
    }

    /// Drops a packet of a reset connection that the radio access network has discarded.
    pub(crate) fn purge<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) {
        self.under_way.bytes -= u64::from(context.pool.packet(handle).size);
        self.under_way.packets -= 1;
        context.discard(handle, DropReason::Reset);
    }

    /// Processes the outcome of a packet in the radio access network; returns whether it was delivered.
    pub(crate) fn on_outcome<O: Observer>(
        &mut self,
        handle: PacketHandle,
        is_delivered: bool,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let packet = context.pool.packet(handle);
        self.under_way.bytes -= u64::from(packet.size);
        self.under_way.packets -= 1;
        if is_delivered {
            let (now, link) = (context.now, context.link);
            context.observer.on_transmitted(link, packet, now, now);
        } else {
            context.discard(handle, DropReason::Radio);
        }
        is_delivered
    }
}

/// The radio access network with the links that lead into it.
pub(crate) struct RanLinks {
    pub(crate) ran: Ran,
    pub(crate) outcome: Outcome,
    /// Index of the link of each user by direction.
    links: Vec<[usize; 2]>,
    /// Whether some of the links have a queue discipline above RLC.
    pub(crate) has_disciplines: bool,
}

impl RanLinks {
    /// Creates the links of `ran` from the links of the radio with their indices.
    pub(crate) fn new<'a>(ran: Ran, links: impl Iterator<Item = (usize, &'a RadioLink)>) -> Self {
        let users = ran.config().users.len();
        let mut user_links = vec![[usize::MAX; 2]; users];
        let mut has_disciplines = false;
        for (index, link) in links {
            user_links[link.user as usize][link.direction as usize] = index;
            has_disciplines |= link.queue.is_some();
        }
        Self {
            ran,
            outcome: Outcome::default(),
            links: user_links,
            has_disciplines,
        }
    }

    pub(crate) fn next_event(&self) -> Instant {
        self.ran.next_event()
    }

    /// Returns the index of the link of a user in a direction.
    pub(crate) fn link(&self, user: UserId, direction: Direction) -> usize {
        self.links[user as usize][direction as usize]
    }
}
