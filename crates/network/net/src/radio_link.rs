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
    /// Packets that are with RLC, and neither arrived nor been lost.
    pub(crate) under_way: Backlog,
    /// Packets that wait above RLC for their turn by a discipline; `None` of drop-tail, which is RLC's own.
    queue: Option<Box<LinkQueue>>,
}

impl RadioLink {
    pub(crate) fn new(
        config: &LinkConfig,
        (user, direction): (UserId, Direction),
        id: LinkId,
        seed: u64,
    ) -> Self {
        let disciplined = config.queue.discipline != Queue::Droptail;
        Self {
            queue: disciplined
                .then(|| Box::new(LinkQueue::new(&config.queue, config.mtu, seed, id))),
            from: config.from,
            to: config.to,
            mtu: config.mtu,
            user,
            direction,
            under_way: Backlog::default(),
        }
    }

    /// Queues a packet.
    pub(crate) fn enter<O: Observer>(
        &mut self,
        handle: PacketHandle,
        ran: &mut Ran,
        context: &mut QueueContext<'_, O>,
    ) {
        let size = context.store.packet(handle).size;
        if size > self.mtu {
            return context.discard(handle, DropReason::Mtu);
        }
        if let Some(queue) = &mut self.queue {
            queue.offer_before(self.under_way, handle, context);
            return self.report_waiting(ran);
        }
        if self.pass_on(handle, ran, context) {
            let packet = context.store.packet(handle);
            context
                .observer
                .enqueued(context.now, context.link, packet, self.under_way);
        }
    }

    /// Moves packets from the discipline to RLC, as many as the blocks of the next TTI may carry.
    pub(crate) fn refill<O: Observer>(&mut self, ran: &mut Ran, context: &mut QueueContext<'_, O>) {
        while let Some(queue) = &mut self.queue
            && ran.wants(self.user, self.direction, self.mtu)
            && let Some(handle) = queue.dequeue(context)
        {
            self.pass_on(handle, ran, context);
        }
        self.report_waiting(ran);
    }

    /// Has buffer status reports include what waits at a user.
    fn report_waiting(&self, ran: &mut Ran) {
        if self.direction == Direction::Up {
            ran.set_waiting(self.user, self.waiting().bytes);
        }
    }

    /// Returns the packets that wait for their turn by a discipline.
    pub(crate) fn waiting(&self) -> Backlog {
        let queue = self.queue.as_ref();
        queue.map_or_else(Backlog::default, |queue| queue.backlog())
    }

    /// Hands a packet to RLC, or drops it where that is full; returns whether RLC has it.
    fn pass_on<O: Observer>(
        &mut self,
        handle: PacketHandle,
        ran: &mut Ran,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let size = context.store.packet(handle).size;
        let name = u64::from(handle);
        let has_room = ran.enqueue(context.now, self.user, self.direction, name, size);
        if has_room {
            self.under_way.bytes += u64::from(size);
            self.under_way.packets += 1;
        } else {
            context.discard(handle, DropReason::Overflow);
        }
        has_room
    }

    /// Drops a packet that the radio access network has discarded.
    pub(crate) fn purge<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) {
        self.under_way.bytes -= u64::from(context.store.packet(handle).size);
        self.under_way.packets -= 1;
        context.discard(handle, DropReason::Reset);
    }

    /// Removes a packet from the radio access network. Returns whether it has arrived.
    pub(crate) fn leave<O: Observer>(
        &mut self,
        handle: PacketHandle,
        delivered: bool,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let packet = context.store.packet(handle);
        self.under_way.bytes -= u64::from(packet.size);
        self.under_way.packets -= 1;
        if delivered {
            let (now, link) = (context.now, context.link);
            context.observer.transmitted(link, packet, now, now);
        } else {
            context.discard(handle, DropReason::Radio);
        }
        delivered
    }
}

/// The radio access network with the links that lead into it.
pub(crate) struct RanLinks {
    pub(crate) ran: Ran,
    pub(crate) outcome: Outcome,
    /// Position of the link of each user, downlink and uplink.
    links: Vec<[usize; 2]>,
    /// Whether packets wait for a discipline before some of them.
    pub(crate) has_disciplines: bool,
}

impl RanLinks {
    /// Builds the network of `ran`, where `links` has the links of the radio with their positions.
    pub(crate) fn new<'a>(ran: Ran, links: impl Iterator<Item = (usize, &'a RadioLink)>) -> Self {
        let users = ran.config().users.len();
        let mut of_users = vec![[usize::MAX; 2]; users];
        let mut has_disciplines = false;
        for (position, link) in links {
            of_users[link.user as usize][link.direction as usize] = position;
            has_disciplines |= link.queue.is_some();
        }
        Self {
            ran,
            outcome: Outcome::default(),
            links: of_users,
            has_disciplines,
        }
    }

    pub(crate) fn next_event(&self) -> Instant {
        self.ran.next_event()
    }

    /// Returns the position of the link of a user in a direction.
    pub(crate) fn link(&self, user: UserId, direction: Direction) -> usize {
        self.links[user as usize][direction as usize]
    }
}
