//! Snoop: a cache before the wireless link that repairs losses there, out of the sender's sight.
//!
//! It stores copies of the data on its way to a mobile host, and reads that host's ACKs. See Balakrishnan et al.,
//! "Improving TCP/IP performance over wireless networks", MobiCom 1995. It retransmits from the cache what is lost behind
//! it. It suppresses duplicate ACKs and removes SACK blocks, so that the sender does not take the loss for congestion.
//! It acknowledges nothing itself.

mod flow;

use net::{Actions, Node, Packet};

use crate::connections::{ConnectionTimers, state_of};
use crate::egress::EgressQueue;
use crate::{Middlebox, replace};
use flow::{AckVerdict, SnoopFlow};

/// Middlebox that caches data towards phones and repairs its losses.
pub struct Snoop {
    /// Maximum size of the cache of a connection, bytes.
    cache_bytes: u64,
    /// Queues towards the hosts behind the wireless link.
    queues: Vec<EgressQueue>,
    /// Whether these queues are at this node.
    at_queues: bool,
    /// By the number of the connection.
    flows: Vec<SnoopFlow>,
    timers: ConnectionTimers,
}

impl Snoop {
    /// Creates the middlebox; `queues` are those of the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, queues: Vec<EgressQueue>) -> Self {
        Self {
            cache_bytes: settings.buffer.get(),
            queues,
            at_queues: settings.node() == "gateway",
            flows: Vec::new(),
            timers: ConnectionTimers::new(),
        }
    }

    /// Retransmits what is due of a connection, and sets its timer.
    fn repair(&mut self, number: u32, actions: &mut Actions<'_>) {
        let flow = &mut self.flows[number as usize];
        if let Some(size) = flow.due_size() {
            let queue = EgressQueue::towards(&self.queues, flow.mobile).filter(|_| flow.sees_queue);
            let room = queue.and_then(|queue| queue.room(size, actions));
            for (copy, payload) in flow.repairs(actions.now(), room) {
                actions.create(copy, payload);
            }
        }
        self.timers.set(number, flow.deadline());
    }
}

impl Node for Snoop {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let now = actions.now();
        let Some((segment, queue)) = EgressQueue::of_segment(&self.queues, packet) else {
            actions.forward(packet.id);
            return;
        };
        let flow = state_of(&mut self.flows, packet.flow);
        if let Some(queue) = queue {
            flow.mobile = queue.host;
            flow.sees_queue = self.at_queues && queue.is_droptail;
            // The sender repairs the drops of the queue.
            let enters_queue = !flow.sees_queue || queue.has_room(packet.size, actions);
            if segment.len > 0 {
                let max_bytes = if enters_queue { self.cache_bytes } else { 0 };
                let payload = actions.payload(packet.id);
                flow.on_data(now, (packet, segment), payload, max_bytes);
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
                AckVerdict::LessSack(segment) => {
                    let ack = Packet {
                        payload: segment.into(),
                        size: segment.ip_len(),
                        ..*packet
                    };
                    replace(ack, actions);
                }
            }
        }
        self.repair(packet.flow, actions);
        actions.call_at(self.timers.earliest());
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(number) = self.timers.due(actions.now()) {
            let flow = &mut self.flows[number as usize];
            let queued = actions.queued_towards(flow.mobile).packets > 0;
            flow.on_deadline(actions.now(), queued);
            self.repair(number, actions);
        }
        actions.call_at(self.timers.earliest());
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
