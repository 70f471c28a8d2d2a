//! Packet pool: the packets under way, stored once and referred to by handle.

use units::Instant;

use crate::{Backlog, Packet};

/// Index of a packet's slot.
pub(crate) type PacketHandle = u32;

const NO_PACKET: PacketHandle = PacketHandle::MAX;

struct Slot {
    packet: Packet,
    /// The packet behind it in its queue.
    next: PacketHandle,
    enqueued_at: Instant,
}

/// Slots for packets, which are reused, so that a run stops allocating after a while.
#[derive(Default)]
pub(crate) struct PacketPool {
    slots: Vec<Slot>,
    free: Vec<PacketHandle>,
}

impl PacketPool {
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketHandle {
        if let Some(handle) = self.free.pop() {
            // The other fields are written when the packet joins a queue.
            self.slots[handle as usize].packet = packet;
            return handle;
        }
        self.slots.push(Slot {
            packet,
            next: NO_PACKET,
            enqueued_at: Instant::ZERO,
        });
        self.slots.len() as PacketHandle - 1
    }

    pub(crate) fn remove(&mut self, handle: PacketHandle) -> Packet {
        self.release(handle);
        self.slots[handle as usize].packet
    }

    /// Frees the slot of a packet.
    pub(crate) fn release(&mut self, handle: PacketHandle) {
        self.free.push(handle);
    }

    pub(crate) fn packet(&self, handle: PacketHandle) -> &Packet {
        &self.slots[handle as usize].packet
    }

    pub(crate) fn packet_mut(&mut self, handle: PacketHandle) -> &mut Packet {
        &mut self.slots[handle as usize].packet
    }

    /// Returns the time at which the packet began to wait.
    pub(crate) fn enqueued_at(&self, handle: PacketHandle) -> Instant {
        self.slots[handle as usize].enqueued_at
    }

    /// Returns the number of packets under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// Linked list of packets in the order of their arrival.
pub(crate) struct PacketList {
    head: PacketHandle,
    tail: PacketHandle,
    backlog: Backlog,
}

impl Default for PacketList {
    fn default() -> Self {
        Self {
            head: NO_PACKET,
            tail: NO_PACKET,
            backlog: Backlog::default(),
        }
    }
}

impl PacketList {
    pub(crate) fn push(&mut self, handle: PacketHandle, now: Instant, pool: &mut PacketPool) {
        let slot = &mut pool.slots[handle as usize];
        (slot.next, slot.enqueued_at) = (NO_PACKET, now);
        self.backlog.bytes += u64::from(slot.packet.size);
        self.backlog.packets += 1;
        if self.tail == NO_PACKET {
            self.head = handle;
        } else {
            pool.slots[self.tail as usize].next = handle;
        }
        self.tail = handle;
    }

    pub(crate) fn pop(&mut self, pool: &PacketPool) -> Option<PacketHandle> {
        let handle = self.head()?;
        let slot = &pool.slots[handle as usize];
        self.head = slot.next;
        if self.head == NO_PACKET {
            self.tail = NO_PACKET;
        }
        self.backlog.bytes -= u64::from(slot.packet.size);
        self.backlog.packets -= 1;
        Some(handle)
    }

    pub(crate) fn head(&self) -> Option<PacketHandle> {
        (self.head != NO_PACKET).then_some(self.head)
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }
}
