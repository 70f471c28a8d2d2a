//! Packet fates: packets of an engine that the path has dropped, or that a middlebox has absorbed.

use net::{DropReason, HostId, LinkId, Observer, Packet};
use units::Instant;

/// Observer of packets that were dropped or absorbed.
#[derive(Debug, Default)]
pub(crate) struct PacketFates {
    gone: Vec<(u64, HostId)>,
}

impl PacketFates {
    /// Returns identities and destinations of the packets that were dropped or absorbed since the last call.
    pub(crate) fn take_gone(&mut self) -> impl Iterator<Item = (u64, HostId)> {
        self.gone.drain(..)
    }
}

impl Observer for PacketFates {
    fn on_dropped(&mut self, _: Instant, _: LinkId, packet: &Packet, _: DropReason) {
        if !packet.is_cross() {
            self.gone.push((packet.id, packet.destination));
        }
    }

    fn on_absorbed(&mut self, _: Instant, _: HostId, packet: &Packet) {
        self.gone.push((packet.id, packet.destination));
    }
}
