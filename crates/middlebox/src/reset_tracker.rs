//! Reset tracker: keeps data of connections that a phone has reset off the air.
//!
//! A phone answers data of a connection that it has given up by a RST. At the first one, the base station discards what
//! waits for the phone on that connection, and what still comes (Kim 2016, section 4.5). It holds nothing else up.

use std::collections::HashMap;

use net::{Actions, HostId, Kind, Node, Packet};
use tcp::Flags;
use units::{Duration, Instant};

use crate::Middlebox;

/// Middlebox that discards data of connections which phones have reset.
pub struct ResetTracker {
    /// Time after a RST in which data is discarded.
    hold: Duration,
    /// Hosts behind the wireless link.
    mobiles: Vec<HostId>,
    /// The time until which data of a connection is discarded.
    reset: HashMap<u32, Instant>,
}

impl ResetTracker {
    /// Creates the middlebox; `mobiles` are the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, mobiles: Vec<HostId>) -> Self {
        Self {
            hold: settings.hold(),
            mobiles,
            reset: HashMap::new(),
        }
    }

    /// Notes the flags of a packet of a phone: a RST begins the time, a SYN ends it.
    fn note(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let flags = packet.segment.flags;
        if flags.contains(Flags::RST) {
            self.reset.insert(packet.flow, actions.now() + self.hold);
            actions.purge(packet.flow, packet.source);
        } else if flags.contains(Flags::SYN) {
            self.reset.remove(&packet.flow);
        }
    }

    /// Returns whether data of a connection towards a phone is discarded.
    fn discards(&mut self, now: Instant, packet: &Packet) -> bool {
        if packet.segment.flags.contains(Flags::SYN) {
            // The ports are used again.
            self.reset.remove(&packet.flow);
            return false;
        }
        let Some(until) = self.reset.get(&packet.flow) else {
            return false;
        };
        if *until <= now {
            self.reset.remove(&packet.flow);
            return false;
        }
        true
    }
}

impl Node for ResetTracker {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if packet.kind == Kind::Tcp {
            if self.mobiles.contains(&packet.source) {
                self.note(packet, actions);
            } else if self.mobiles.contains(&packet.destination)
                && self.discards(actions.now(), packet)
            {
                actions.absorb(packet.id);
                return;
            }
        }
        actions.forward(packet.id);
    }

    fn reads_heads(&self) -> bool {
        true
    }

    fn on_head(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if packet.kind == Kind::Tcp && self.mobiles.contains(&packet.source) {
            self.note(packet, actions);
        }
    }
}
