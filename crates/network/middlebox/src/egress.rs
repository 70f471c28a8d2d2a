//! Egress queue: the queue of the access link of a mobile host, as a middlebox at the base station sees it.

use net::{Actions, Backlog, HostId, Limit, Packet};
use tcp::Segment;

/// A host behind the wireless link, with the limit of the queue towards it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EgressQueue {
    /// The host.
    pub host: HostId,
    /// Limit of its queue.
    pub limit: Limit,
    /// Whether the queue drops only packets that arrive when it is full.
    pub is_droptail: bool,
}

impl EgressQueue {
    /// Returns the queue of `host`, if there is one among `queues`.
    pub(crate) fn towards(queues: &[Self], host: HostId) -> Option<Self> {
        queues.iter().copied().find(|queue| queue.host == host)
    }

    /// Returns the segment of a packet between a mobile host and another host, with the queue towards the mobile host if it
    /// is the destination; `None` for other packets.
    pub(crate) fn of_segment<'p>(
        queues: &[Self],
        packet: &'p Packet,
    ) -> Option<(&'p Segment, Option<Self>)> {
        let queue = Self::towards(queues, packet.destination);
        let is_from_mobile = Self::towards(queues, packet.source).is_some();
        let segment = packet.segment()?;
        (queue.is_some() != is_from_mobile).then_some((segment, queue))
    }

    /// Returns whether the queue has room for a packet of `size` bytes now.
    pub(crate) fn has_room(&self, size: u32, actions: &Actions<'_>) -> bool {
        self.room(size, actions) != Some(0)
    }

    /// Returns the number of packets of `size` bytes for which there is room now; `None` if there is no limit.
    pub(crate) fn room(&self, size: u32, actions: &Actions<'_>) -> Option<u64> {
        self.room_beside(actions.queued_towards(self.host), size)
    }

    /// Returns the number of packets of `size` bytes that the empty queue has room for.
    pub(crate) fn capacity(&self, size: u32) -> Option<u64> {
        self.room_beside(Backlog::default(), size)
    }

    fn room_beside(&self, queued: Backlog, size: u32) -> Option<u64> {
        match self.limit {
            Limit::Packets(max) => Some(max.saturating_sub(queued.packets)),
            Limit::Bytes(max) => {
                Some(max.get().saturating_sub(queued.bytes) / u64::from(size.max(1)))
            }
            Limit::Unlimited => None,
        }
    }
}
