//! Reset tracker: drops, before the air interface, data of connections that a phone has reset.
//!
//! A phone answers data of a connection that it has aborted by a RST. From the first RST on, the base station discards
//! the data that waits or arrives for the phone on that connection (Kim 2016, section 4.5). It delays nothing else.

use std::collections::HashMap;

use net::{Actions, HostId, Node, Packet};
use tcp::{Flags, Segment};
use units::{Duration, Instant};

use crate::Middlebox;

/// Middlebox that discards data of connections which phones have reset.
pub struct ResetTracker {
    /// Time after a RST in which data is discarded.
    discard_time: Duration,
    /// Hosts behind the wireless link.
    mobiles: Vec<HostId>,
    /// Time until which data is discarded, by connection.
    discard_until: HashMap<u32, Instant>,
}

impl ResetTracker {
    /// Creates the middlebox; `mobiles` are the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, mobiles: Vec<HostId>) -> Self {
        Self {
            discard_time: settings.discard_time(),
            mobiles,
            discard_until: HashMap::new(),
        }
    }

    /// Handles the flags of a packet of a phone: a RST starts the discard time of the connection, a SYN ends it.
    fn on_phone_flags(&mut self, flags: Flags, packet: &Packet, actions: &mut Actions<'_>) {
        if flags.contains(Flags::RST) {
            self.discard_until
                .insert(packet.flow, actions.now() + self.discard_time);
            actions.purge(packet.flow, packet.source);
        } else if flags.contains(Flags::SYN) {
            self.discard_until.remove(&packet.flow);
        }
    }

    /// Returns whether a packet towards a phone is discarded.
    fn discards(&mut self, now: Instant, flags: Flags, packet: &Packet) -> bool {
        if flags.contains(Flags::SYN) {
            // The ports are used again.
            self.discard_until.remove(&packet.flow);
            return false;
        }
        let Some(until) = self.discard_until.get(&packet.flow) else {
            return false;
        };
        if *until <= now {
            self.discard_until.remove(&packet.flow);
            return false;
        }
        true
    }
}

impl Node for ResetTracker {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if let Some(&Segment { flags, .. }) = packet.segment() {
            if self.mobiles.contains(&packet.source) {
                self.on_phone_flags(flags, packet, actions);
            } else if self.mobiles.contains(&packet.destination)
                && self.discards(actions.now(), flags, packet)
            {
                actions.absorb(packet.id);
                return;
            }
        }
        actions.forward(packet.id);
    }

    fn wants_headers(&self) -> bool {
        true
    }

    fn on_header(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        if let Some(segment) = packet.segment()
            && self.mobiles.contains(&packet.source)
        {
            self.on_phone_flags(segment.flags, packet, actions);
        }
    }
}

#[cfg(test)]
mod tests {
    use net::{LinkCapacity, LinkConfig, Network, Payload, Topology};
    use units::Rate;

    use super::*;

    const SERVER: HostId = HostId(0);
    const PHONE: HostId = HostId(2);

    /// Sends packets with these flags, a second apart, and returns which of them arrive.
    fn arrived(packets: &[(HostId, Flags)]) -> Vec<bool> {
        let mut topology = Topology::default();
        let nodes = ["server", "gateway", "phone"].map(|name| topology.node(name));
        for (from, to) in [(0, 1), (1, 2), (2, 1), (1, 0)] {
            let capacity = LinkCapacity::Constant(Rate::from_mbps(10.0));
            topology.links.push(LinkConfig::new(
                &format!("{from}-{to}"),
                nodes[from],
                nodes[to],
                capacity,
                Duration::from_millis(1),
            ));
        }
        let mut network = Network::new(&topology, 1).expect("a network");
        let tracker = ResetTracker {
            discard_time: Duration::from_secs(5),
            mobiles: vec![PHONE],
            discard_until: HashMap::new(),
        };
        network
            .place("gateway", Box::new(tracker))
            .expect("a gateway");
        let mut deliveries = Vec::new();
        for (id, &(source, flags)) in (0..).zip(packets) {
            let at = Instant::from_nanos(id * 1_000_000_000);
            network.advance(at, &mut (), &mut deliveries);
            let packet = Packet {
                id,
                source,
                destination: if source == PHONE { SERVER } else { PHONE },
                size: 100,
                payload: Payload::Tcp(Segment {
                    flags,
                    ..Segment::default()
                }),
                ..Packet::default()
            };
            network.inject(at, packet, &mut ());
        }
        network.advance(
            Instant::from_nanos(1_000_000_000_000),
            &mut (),
            &mut deliveries,
        );
        let came = |id| deliveries.iter().any(|delivery| delivery.packet.id == id);
        (0..packets.len() as u64).map(came).collect()
    }

    #[test]
    fn data_is_discarded_for_the_discard_time_after_a_reset() {
        let data = (SERVER, Flags::ACK);
        let packets = [
            data,
            (PHONE, Flags::RST),
            data,
            data,
            data,
            data,
            data,
            data,
        ];
        let all = [true, true, false, false, false, false, true, true];
        assert_eq!(arrived(&packets), all);
    }

    /// Ports that are used again within the discard time belong to another connection.
    #[test]
    fn a_syn_of_either_side_ends_the_discard_time() {
        let data = (SERVER, Flags::ACK);
        for opener in [PHONE, SERVER] {
            let packets = [(PHONE, Flags::RST), data, (opener, Flags::SYN), data, data];
            assert_eq!(arrived(&packets), [true, false, true, true, true]);
        }
    }
}
