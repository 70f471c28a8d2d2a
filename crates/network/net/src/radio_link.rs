//! Radio link: one direction of a user of the radio access network, as a link of the path.

use radio::ran::{Direction, Outcome, Ran, UserId};
use units::Instant;

use crate::packet_pool::PacketHandle;
use crate::queue::QueueContext;
use crate::{Backlog, DropReason, HostId, LinkConfig, Observer};

/// One direction of one user.
pub(crate) struct RadioLink {
    pub(crate) from: HostId,
    pub(crate) to: HostId,
    mtu: u32,
    pub(crate) user: UserId,
    pub(crate) direction: Direction,
    /// Packets that have entered, and neither arrived nor been lost.
    pub(crate) under_way: Backlog,
}

impl RadioLink {
    pub(crate) fn new(config: &LinkConfig, user: UserId, direction: Direction) -> Self {
        Self {
            from: config.from,
            to: config.to,
            mtu: config.mtu,
            user,
            direction,
            under_way: Backlog::default(),
        }
    }

    /// Takes in a packet.
    pub(crate) fn enter<O: Observer>(
        &mut self,
        handle: PacketHandle,
        ran: &mut Ran,
        scene: &mut QueueContext<'_, O>,
    ) {
        let size = scene.store.packet(handle).size;
        if size > self.mtu {
            return scene.discard(handle, DropReason::Mtu);
        }
        if !ran.enqueue(
            scene.now,
            self.user,
            self.direction,
            u64::from(handle),
            size,
        ) {
            return scene.discard(handle, DropReason::Overflow);
        }
        self.under_way.bytes += u64::from(size);
        self.under_way.packets += 1;
        let packet = scene.store.packet(handle);
        scene
            .observer
            .enqueued(scene.now, scene.link, packet, self.under_way);
    }

    /// Drops a packet that the radio access network has discarded.
    pub(crate) fn purge<O: Observer>(
        &mut self,
        handle: PacketHandle,
        scene: &mut QueueContext<'_, O>,
    ) {
        self.under_way.bytes -= u64::from(scene.store.packet(handle).size);
        self.under_way.packets -= 1;
        scene.discard(handle, DropReason::Reset);
    }

    /// Takes a packet out of the radio access network. Returns whether it has arrived.
    pub(crate) fn leave<O: Observer>(
        &mut self,
        handle: PacketHandle,
        delivered: bool,
        scene: &mut QueueContext<'_, O>,
    ) -> bool {
        let packet = scene.store.packet(handle);
        self.under_way.bytes -= u64::from(packet.size);
        self.under_way.packets -= 1;
        if delivered {
            let (now, link) = (scene.now, scene.link);
            scene.observer.transmitted(link, packet, now, now);
        } else {
            scene.discard(handle, DropReason::Radio);
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
}

impl RanLinks {
    /// Builds the network of `ran`, where `links` has the position, user and direction of each link of the radio.
    pub(crate) fn new(ran: Ran, links: impl Iterator<Item = (usize, UserId, Direction)>) -> Self {
        let users = ran.config().users.len();
        let mut of_users = vec![[usize::MAX; 2]; users];
        for (link, user, direction) in links {
            of_users[user as usize][direction as usize] = link;
        }
        Self {
            ran,
            outcome: Outcome::default(),
            links: of_users,
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
