//! Store: the packets under way, written once and passed on by number.

use units::Instant;

use crate::{Backlog, Packet};

/// The number of a packet's slot.
pub(crate) type Handle = u32;

const NOWHERE: Handle = Handle::MAX;

struct Slot {
    packet: Packet,
    /// The packet behind it in its queue.
    next: Handle,
    /// Time at which it began to wait.
    since: Instant,
}

/// Slots for packets, which are used again, so that a run stops allocating after a while.
#[derive(Default)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: Vec<Handle>,
}

impl Store {
    pub(crate) fn insert(&mut self, packet: Packet) -> Handle {
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
        self.slots.len() as Handle - 1
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Packet {
        self.release(handle);
        self.slots[handle as usize].packet
    }

    /// Removes a packet that nobody looks at any more.
    pub(crate) fn release(&mut self, handle: Handle) {
        self.free.push(handle);
    }

    pub(crate) fn packet(&self, handle: Handle) -> &Packet {
        &self.slots[handle as usize].packet
    }

    pub(crate) fn packet_mut(&mut self, handle: Handle) -> &mut Packet {
        &mut self.slots[handle as usize].packet
    }

    /// Returns when the packet began to wait.
    pub(crate) fn since(&self, handle: Handle) -> Instant {
        self.slots[handle as usize].since
    }

    /// Returns the number of packets under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// A list of packets in the order of their arrival.
pub(crate) struct List {
    head: Handle,
    tail: Handle,
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

    pub(crate) fn push(&mut self, handle: Handle, now: Instant, store: &mut Store) {
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

    pub(crate) fn pop(&mut self, store: &Store) -> Option<Handle> {
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

    pub(crate) fn head(&self) -> Option<Handle> {
        (self.head != NOWHERE).then_some(self.head)
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }
}
