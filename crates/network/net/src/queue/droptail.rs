//! Drop-tail: first in, first out.

use super::{Qdisc, QueueContext};
use crate::packet_pool::{PacketHandle, PacketList};
use crate::{Backlog, Observer};

/// A drop-tail queue.
#[derive(Default)]
pub(super) struct DropTail {
    pub(super) list: PacketList,
}

impl Qdisc for DropTail {
    #[inline]
    fn backlog(&self) -> Backlog {
        self.list.backlog()
    }

    #[inline]
    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.list.push(handle, context.now, context.pool);
        true
    }

    #[inline]
    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.list.pop(context.pool)
    }
}
