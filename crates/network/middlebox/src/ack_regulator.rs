//! ACK Regulator: holds ACKs back where their data would overflow the queue of the access link. See Chan and Ramjee,
//! "TCP/IP performance over 3G wireless links with rate and delay variation", MobiCom 2002.
//!
//! An ACK triggers as much data as it covers, and a segment more as the window grows. The regulator releases it when the
//! queue has room for that data and for the data of earlier ACKs that has not arrived yet. Without losses the sender's
//! window would grow for ever, and with it the delay of ACKs. So one data packet is dropped, once per window, when the
//! waiting ACKs would trigger more than a whole queue. The sender sees a single loss instead of a burst.

use std::collections::VecDeque;

use net::{Actions, HostId, Node, Packet};
use tcp::{Flags, Segment, SeqUnwrapper};
use units::{Duration, Instant};

use crate::egress::EgressQueue;
use crate::timers::ConnectionTimers;

/// Time between looks at the queue while ACKs wait: a TTI.
const LOOK: Duration = Duration::from_millis(1);
/// RTT between the base station and the sender before it is measured.
const FIRST_RTT: Duration = Duration::from_millis(200);

/// Middlebox that regulates the ACKs of mobile hosts.
pub struct AckRegulator {
    outlets: Vec<EgressQueue>,
    /// By the number of the connection.
    flows: Vec<RegulatedConnection>,
    due: ConnectionTimers,
}

/// ACKs and data of one connection.
#[derive(Default)]
struct RegulatedConnection {
    /// Host at which the ACKs begin.
    mobile: HostId,
    data: SeqUnwrapper,
    /// End of the data that has arrived, and the largest packet of it: payload and size.
    arrived: u64,
    payload: u32,
    size: u32,
    /// Highest number that was released.
    released: Option<u64>,
    /// ACKs that wait: number and identity of the packet.
    waiting: VecDeque<(u64, u64)>,
    /// Packets that the sender may send because of released ACKs: when they were released, and how many.
    called: VecDeque<(Instant, u64)>,
    /// Time of the request or of its answer that the sender was sent, and the RTT to the sender.
    asked_at: Option<Instant>,
    rtt: Option<Duration>,
    /// ACK number that ends the window with the intentional drop.
    no_drop_until: u64,
}

impl RegulatedConnection {
    /// Handles data of the sender. Returns whether it is to be dropped.
    fn on_data(&mut self, packet: &Packet, segment: &Segment, queue: Option<u64>) -> bool {
        let start = self.data.segment(segment.seq);
        let end = start + u64::from(segment.len);
        if segment.len >= self.payload {
            (self.payload, self.size) = (segment.len, packet.size);
        }
        if end <= self.arrived {
            return false;
        }
        self.arrived = end;
        if let Some((_, packets)) = self.called.front_mut() {
            *packets -= 1;
            if *packets == 0 {
                self.called.pop_front();
            }
        }
        let released = self.released.unwrap_or(start);
        let last = self.waiting.back().map_or(released, |&(number, _)| number);
        let wait = (last - released) / u64::from(self.payload.max(1));
        let drops = queue.is_some_and(|queue| wait > queue) && released >= self.no_drop_until;
        if drops {
            self.no_drop_until = end;
        }
        drops
    }

    /// Returns the packets that an ACK for `number` calls for.
    fn calls(&self, number: u64) -> u64 {
        let advance = self
            .released
            .map_or(0, |released| number.saturating_sub(released));
        advance.div_ceil(u64::from(self.payload.max(1))) + 1
    }

    /// Returns whether an ACK only acknowledges more data.
    fn is_progress(&self, segment: &Segment, number: u64) -> bool {
        let known = self.waiting.back().map(|&(number, _)| number);
        let known = known.or(self.released);
        segment.flags == Flags::ACK
            && segment.len == 0
            && segment.sack.is_empty()
            && known.is_some_and(|known| number > known)
    }

    /// Removes and returns the first waiting ACK, if the queue has room for `room` packets.
    fn release(&mut self, now: Instant, room: Option<u64>) -> Option<u64> {
        let timeout = self.rtt.unwrap_or(FIRST_RTT) * 2;
        while self
            .called
            .front()
            .is_some_and(|&(at, _)| at + timeout < now)
        {
            // The sender had nothing to send, or its window did not grow.
            self.called.pop_front();
        }
        let &(number, packet) = self.waiting.front()?;
        let calls = self.calls(number);
        let under_way: u64 = self.called.iter().map(|&(_, packets)| packets).sum();
        // An empty connection is never held up, or nothing would ever come.
        let fits =
            room.is_none_or(|room| under_way + calls <= room) || under_way == 0 && room > Some(0);
        if !fits {
            return None;
        }
        self.waiting.pop_front();
        self.called.push_back((now, calls));
        self.released = Some(number);
        Some(packet)
    }

    /// Removes and returns all waiting ACKs, because the next segment of the mobile host must not be held up.
    fn release_all(&mut self) -> Vec<u64> {
        if let Some(&(number, _)) = self.waiting.back() {
            self.released = Some(number);
        }
        self.waiting.drain(..).map(|(_, packet)| packet).collect()
    }

    /// Measures the RTT to the sender: from the first packet of the mobile host to the answer.
    fn measure(&mut self, now: Instant, from_mobile: bool) {
        if from_mobile {
            self.asked_at.get_or_insert(now);
        } else if let Some(asked) = self.asked_at {
            self.rtt.get_or_insert(now.saturating_since(asked));
        }
    }
}

impl AckRegulator {
    /// Creates the middlebox; `outlets` are the hosts behind the wireless link.
    pub fn new(outlets: Vec<EgressQueue>) -> Self {
        Self {
            outlets,
            flows: Vec::new(),
            due: ConnectionTimers::new(),
        }
    }

    /// Releases the ACKs of a connection for whose data there is room, and plans the next look.
    fn release(&mut self, number: u32, actions: &mut Actions<'_>) {
        let flow = &mut self.flows[number as usize];
        if let Some(outlet) = EgressQueue::towards(&self.outlets, flow.mobile) {
            let room = outlet.room(flow.size, actions);
            while let Some(packet) = flow.release(actions.now(), room) {
                actions.forward(packet);
            }
        }
        let next = if flow.waiting.is_empty() {
            Instant::NEVER
        } else {
            actions.now() + LOOK
        };
        self.due.set(number, next);
    }
}

impl Node for AckRegulator {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
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
        let index = packet.flow as usize;
        if self.flows.len() <= index {
            self.flows
                .resize_with(index + 1, RegulatedConnection::default);
        }
        let flow = &mut self.flows[index];
        flow.measure(actions.now(), from.is_some());
        if let Some(outlet) = to {
            flow.mobile = outlet.host;
            let queue = outlet.capacity(packet.size);
            if segment.len > 0 && flow.on_data(packet, segment, queue) {
                actions.absorb(packet.id);
            } else {
                actions.forward(packet.id);
            }
        } else {
            let number = flow.data.acknowledgement(segment.ack);
            match number {
                Some(number) if flow.is_progress(segment, number) => {
                    flow.waiting.push_back((number, packet.id));
                }
                _ => {
                    for held in flow.release_all() {
                        actions.forward(held);
                    }
                    if let Some(number) = number {
                        let released = flow.released.map_or(number, |known| known.max(number));
                        flow.released = Some(released);
                    }
                    actions.forward(packet.id);
                }
            }
        }
        self.release(packet.flow, actions);
        actions.call_at(self.due.earliest());
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(number) = self.due.due(actions.now()) {
            self.release(number, actions);
        }
        actions.call_at(self.due.earliest());
    }
}
