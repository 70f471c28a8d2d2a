//! Egress: the queue of the access link of a mobile host, as a middlebox at the base station knows it.

use net::{Actions, HostId, Limit};

/// A host behind the wireless link, with the limit of the queue towards it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EgressQueue {
    /// The host.
    pub host: HostId,
    /// Limit of its queue.
    pub limit: Limit,
    /// Whether the queue drops nothing but what finds it full.
    pub tail_drop: bool,
}

impl EgressQueue {
    /// Returns the outlet of `host`.
    pub(crate) fn towards(outlets: &[Self], host: HostId) -> Option<Self> {
        outlets.iter().copied().find(|outlet| outlet.host == host)
    }

    /// Returns whether a packet of `size` bytes that comes now finds room.
    pub(crate) fn has_room(&self, size: u32, actions: &Actions<'_>) -> bool {
        let queue = actions.queued_towards(self.host);
        match self.limit {
            Limit::Packets(max) => queue.packets < max,
            Limit::Bytes(max) => queue.bytes + u64::from(size) <= max.get(),
            Limit::Unlimited => true,
        }
    }

    /// Returns the packets of `size` bytes that find room now; `None` if their number has no limit.
    pub(crate) fn room(&self, size: u32, actions: &Actions<'_>) -> Option<u64> {
        let queue = actions.queued_towards(self.host);
        match self.limit {
            Limit::Packets(max) => Some(max.saturating_sub(queue.packets)),
            Limit::Bytes(max) => {
                Some(max.get().saturating_sub(queue.bytes) / u64::from(size.max(1)))
            }
            Limit::Unlimited => None,
        }
    }

    /// Returns the packets of `size` bytes that the whole queue holds.
    pub(crate) fn capacity(&self, size: u32) -> Option<u64> {
        match self.limit {
            Limit::Packets(max) => Some(max),
            Limit::Bytes(max) => Some(max.get() / u64::from(size.max(1))),
            Limit::Unlimited => None,
        }
    }
}
