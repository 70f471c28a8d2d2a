//! Packet pool: the packets under way, stored once and passed on by handle.

use units::Instant;

use crate::{Backlog, Packet};

/// The number of a packet's slot.
pub(crate) type PacketHandle = u32;

const NOWHERE: PacketHandle = PacketHandle::MAX;

struct Slot {
    packet: Packet,
    /// The packet behind it in its queue.
    next: PacketHandle,
    /// Time at which it began to wait.
    since: Instant,
}

/// Slots for packets, which are used again, so that a run stops allocating after a while.
#[derive(Default)]
pub(crate) struct PacketPool {
    slots: Vec<Slot>,
    free: Vec<PacketHandle>,
}

impl PacketPool {
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketHandle {
        if let Some(handle) = self.free.pop() {
            // The rest of a slot is written when the packet joins a queue.
            self.slots[handle as usize].packet = packet;
            return handle;
        }
        self.slots.push(Slot {
            packet,
            next: NOWHERE,
            since: Instant::ZERO,
        });
        self.slots.len() as PacketHandle - 1
    }

    pub(crate) fn remove(&mut self, handle: PacketHandle) -> Packet {
        self.release(handle);
        self.slots[handle as usize].packet
    }

    /// Removes a packet that nobody looks at any more.
    pub(crate) fn release(&mut self, handle: PacketHandle) {
        self.free.push(handle);
    }

    pub(crate) fn packet(&self, handle: PacketHandle) -> &Packet {
        &self.slots[handle as usize].packet
    }

    pub(crate) fn packet_mut(&mut self, handle: PacketHandle) -> &mut Packet {
        &mut self.slots[handle as usize].packet
    }

    /// Returns when the packet began to wait.
    pub(crate) fn enqueued_at(&self, handle: PacketHandle) -> Instant {
        self.slots[handle as usize].since
    }

    /// Returns the number of packets under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// A list of packets in the order of their arrival.
pub(crate) struct List {
    head: PacketHandle,
    tail: PacketHandle,
    backlog: Backlog,
}

impl List {
    pub(crate) const EMPTY: Self = Self {
        head: NOWHERE,
        tail: NOWHERE,
        backlog: Backlog {
            bytes: 0,
            packets: 0,
        },
    };

    pub(crate) fn push(&mut self, handle: PacketHandle, now: Instant, store: &mut PacketPool) {
        let slot = &mut store.slots[handle as usize];
        (slot.next, slot.since) = (NOWHERE, now);
        self.backlog.bytes += u64::from(slot.packet.size);
        self.backlog.packets += 1;
        if self.tail == NOWHERE {
            self.head = handle;
        } else {
            store.slots[self.tail as usize].next = handle;
        }
        self.tail = handle;
    }

    pub(crate) fn pop(&mut self, store: &PacketPool) -> Option<PacketHandle> {
        let handle = self.head()?;
        let slot = &store.slots[handle as usize];
        self.head = slot.next;
        if self.head == NOWHERE {
            self.tail = NOWHERE;
        }
        self.backlog.bytes -= u64::from(slot.packet.size);
        self.backlog.packets -= 1;
        Some(handle)
    }

    pub(crate) fn head(&self) -> Option<PacketHandle> {
        (self.head != NOWHERE).then_some(self.head)
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }
}
