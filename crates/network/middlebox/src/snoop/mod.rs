//! Snoop: a cache before the wireless link that repairs losses there, out of the sender's sight.
//!
//! It stores copies of the data on its way to a mobile host, and reads that host's ACKs. See Balakrishnan et al.,
//! "Improving TCP/IP performance over wireless networks", MobiCom 1995. What is lost behind it, it sends again from the
//! cache. It holds duplicate ACKs back and removes SACK blocks, so that the sender does not take the loss for
//! congestion. It acknowledges nothing itself.

mod flow;

use net::{Actions, Node, Packet};

use crate::Middlebox;
use crate::egress::EgressQueue;
use crate::timers::ConnectionTimers;
use flow::{AckVerdict, SnoopFlow};

/// Middlebox that caches data towards phones and repairs its losses.
pub struct Snoop {
    /// Bytes that the cache of a connection holds.
    cache: u64,
    /// Hosts behind the wireless link.
    outlets: Vec<EgressQueue>,
    /// Whether the queues towards them begin at this node.
    at_queues: bool,
    /// By the number of the connection.
    flows: Vec<SnoopFlow>,
    due: ConnectionTimers,
}

impl Snoop {
    /// Creates the middlebox; `outlets` are the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, outlets: Vec<EgressQueue>) -> Self {
        Self {
            cache: settings.buffer.get(),
            outlets,
            at_queues: settings.node() == "gateway",
            flows: Vec::new(),
            due: ConnectionTimers::new(),
        }
    }
}

impl Node for Snoop {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let now = actions.now();
        let index = packet.flow as usize;
        let Some(segment) = packet.segment() else {
            actions.forward(packet.id);
            return;
        };
        let to = EgressQueue::towards(&self.outlets, packet.destination);
        let from = EgressQueue::towards(&self.outlets, packet.source);
        if to.is_some() == from.is_some() {
            actions.forward(packet.id);
            return;
        }
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, SnoopFlow::default);
        }
        let flow = &mut self.flows[index];
        if let Some(outlet) = to {
            flow.mobile = outlet.host;
            flow.sees_queue = self.at_queues && outlet.tail_drop;
            // The sender repairs the drops of the queue.
            let goes_on = !flow.sees_queue || outlet.has_room(packet.size, actions);
            if segment.len > 0 && goes_on {
                let payload = actions.payload(packet.id);
                flow.on_data(now, (packet, segment), payload, self.cache);
            }
            actions.forward(packet.id);
        } else {
            match flow.on_ack(now, segment) {
                AckVerdict::Forward => {
                    actions.forward(packet.id);
                }
                AckVerdict::Suppress => {
                    actions.absorb(packet.id);
                }
                AckVerdict::WithoutSack(segment) => {
                    actions.absorb(packet.id);
                    let size = segment.ip_len();
                    let ack = Packet {
                        payload: segment.into(),
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
        actions.call_at(self.due.earliest());
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(number) = self.due.due(actions.now()) {
            let flow = &mut self.flows[number as usize];
            let queued = actions.queued_towards(flow.mobile).packets > 0;
            flow.on_deadline(actions.now(), queued);
            for (copy, payload) in flow.repairs(actions.now()) {
                actions.create(copy, payload);
            }
            self.due.set(number, flow.deadline());
        }
        actions.call_at(self.due.earliest());
    }
}

#[cfg(test)]
mod tests;
