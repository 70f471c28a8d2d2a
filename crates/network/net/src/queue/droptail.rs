//! Drop-tail: first in, first out.

use super::{Qdisc, QueueContext};
use crate::packet_pool::{List, PacketHandle};
use crate::{Backlog, Observer};

/// A drop-tail queue.
pub(super) struct DropTail {
    pub(super) list: List,
}

impl Default for DropTail {
    fn default() -> Self {
        Self { list: List::EMPTY }
    }
}

impl Qdisc for DropTail {
    #[inline]
    fn backlog(&self) -> Backlog {
        self.list.backlog()
    }

    #[inline]
    fn offer<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.list.push(handle, context.now, context.store);
        true
    }

    #[inline]
    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.list.pop(context.store)
    }
}
