//! Snoop: a cache before the wireless link that repairs losses there, out of the sender's sight.
//!
//! It keeps copies of the data on its way to a mobile host, and reads that host's ACKs (Balakrishnan et al., "Improving
//! TCP/IP performance over wireless networks", MobiCom 1995). What is lost behind it, it sends again from the cache. It
//! holds duplicate ACKs back and removes SACK blocks, so that the sender does not take the loss for congestion. It
//! acknowledges nothing itself.

mod flow;

use net::{Actions, HostId, Kind, Node, Packet};
use units::Instant;

use crate::Middlebox;
use crate::due::DueTimes;
use flow::{Answer, SnoopFlow};

/// Middlebox that caches data towards phones and repairs its losses.
pub struct Snoop {
    /// Bytes that the cache of a connection holds.
    cache: u64,
    /// Hosts behind the wireless link.
    mobiles: Vec<HostId>,
    /// By the number of the connection.
    flows: Vec<SnoopFlow>,
    due: DueTimes,
}

impl Snoop {
    /// Creates the middlebox; `mobiles` are the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, mobiles: Vec<HostId>) -> Self {
        Self {
            cache: settings.buffer.get(),
            mobiles,
            flows: Vec::new(),
            due: DueTimes::new(),
        }
    }
}

impl Node for Snoop {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let now = actions.now();
        let index = packet.flow as usize;
        let to_mobile = self.mobiles.contains(&packet.destination);
        let from_mobile = self.mobiles.contains(&packet.source);
        if packet.kind != Kind::Tcp || to_mobile == from_mobile {
            actions.forward(packet.id);
            return;
        }
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, SnoopFlow::default);
        }
        let flow = &mut self.flows[index];
        if to_mobile {
            if packet.segment.len > 0 {
                let payload = actions.payload(packet.id);
                flow.on_data(now, packet, payload, self.cache);
            }
            actions.forward(packet.id);
        } else {
            match flow.on_ack(now, &packet.segment) {
                Answer::Pass => {
                    actions.forward(packet.id);
                }
                Answer::HoldBack => {
                    actions.absorb(packet.id);
                }
                Answer::WithoutSack(segment) => {
                    actions.absorb(packet.id);
                    let size = segment.ip_len();
                    let ack = Packet {
                        segment,
                        size,
                        ..*packet
                    };
                    actions.create(ack, None);
                }
            }
        }
        for (copy, payload) in flow.repairs(now) {
            actions.create(copy, payload);
        }
        self.due.set(packet.flow, flow.deadline());
        actions.call_at(self.due.earliest().0);
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        loop {
            let (at, number) = self.due.earliest();
            if at > actions.now() || at == Instant::NEVER {
                break;
            }
            let flow = &mut self.flows[number as usize];
            flow.on_deadline(actions.now());
            for (copy, payload) in flow.repairs(actions.now()) {
                actions.create(copy, payload);
            }
            self.due.set(number, flow.deadline());
        }
        actions.call_at(self.due.earliest().0);
    }
}

#[cfg(test)]
mod tests;
