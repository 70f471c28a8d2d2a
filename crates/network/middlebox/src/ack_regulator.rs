//! ACK Regulator: delays ACKs whose data would overflow the queue of the access link. See Chan and Ramjee,
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

use crate::connections::{ConnectionTimers, state_of};
use crate::egress::EgressQueue;

/// Interval at which the queue is polled while ACKs wait: a TTI.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// RTT between the base station and the sender before it is measured.
const INITIAL_RTT: Duration = Duration::from_millis(200);

/// Middlebox that regulates the ACKs of mobile hosts.
pub struct AckRegulator {
    queues: Vec<EgressQueue>,
    /// By the number of the connection.
    flows: Vec<RegulatedConnection>,
    timers: ConnectionTimers,
}

/// ACKs and data of one connection.
#[derive(Default)]
struct RegulatedConnection {
    /// Host that sends the ACKs.
    mobile: HostId,
    data: SeqUnwrapper,
    /// End of the data that has arrived, and the largest packet of it: payload and size.
    arrived_end: u64,
    max_payload: u32,
    packet_size: u32,
    /// Highest ACK number that was released.
    released: Option<u64>,
    /// ACKs that wait: ACK number and identity of the packet.
    waiting: VecDeque<(u64, u64)>,
    /// Packets that released ACKs have triggered and that have not arrived: time of the release, number.
    triggered: VecDeque<(Instant, u64)>,
    /// Time of the first packet from the mobile host, and the RTT between the middlebox and the sender.
    request_at: Option<Instant>,
    rtt: Option<Duration>,
    /// End of the data that was dropped on purpose. Until it is acknowledged, no more is dropped.
    no_drop_until: u64,
}

impl RegulatedConnection {
    /// Handles data of the sender, with the `capacity` of the queue in packets. Returns whether to drop it.
    fn on_data(&mut self, packet: &Packet, segment: &Segment, capacity: Option<u64>) -> bool {
        let start = self.data.segment(segment.seq);
        let end = start + u64::from(segment.len);
        if segment.len >= self.max_payload {
            (self.max_payload, self.packet_size) = (segment.len, packet.size);
        }
        if end <= self.arrived_end {
            return false;
        }
        self.arrived_end = end;
        if let Some((_, packets)) = self.triggered.front_mut() {
            *packets -= 1;
            if *packets == 0 {
                self.triggered.pop_front();
            }
        }
        let released = self.released.unwrap_or(start);
        let last = self.waiting.back().map_or(released, |&(number, _)| number);
        let waiting_packets = (last - released) / u64::from(self.max_payload.max(1));
        let drops = capacity.is_some_and(|capacity| waiting_packets > capacity)
            && released >= self.no_drop_until;
        if drops {
            self.no_drop_until = end;
        }
        drops
    }

    /// Returns the number of packets that an ACK for `number` triggers.
    fn triggered_packets(&self, number: u64) -> u64 {
        let advance = self
            .released
            .map_or(0, |released| number.saturating_sub(released));
        advance.div_ceil(u64::from(self.max_payload.max(1))) + 1
    }

    /// Returns whether a segment acknowledges more data and does nothing else.
    fn is_progress(&self, segment: &Segment, number: u64) -> bool {
        let waiting = self.waiting.back().map(|&(number, _)| number);
        let highest = waiting.or(self.released);
        segment.flags == Flags::ACK
            && segment.len == 0
            && segment.sack.is_empty()
            && highest.is_some_and(|highest| number > highest)
    }

    /// Removes and returns the first waiting ACK, if the queue has room for `room` packets.
    fn release(&mut self, now: Instant, room: Option<u64>) -> Option<u64> {
        let timeout = self.rtt.unwrap_or(INITIAL_RTT) * 2;
        while self
            .triggered
            .front()
            .is_some_and(|&(at, _)| at + timeout < now)
        {
            // The sender had nothing to send, or its window did not grow.
            self.triggered.pop_front();
        }
        let &(number, packet) = self.waiting.front()?;
        let packets = self.triggered_packets(number);
        let under_way: u64 = self.triggered.iter().map(|&(_, packets)| packets).sum();
        // With nothing under way, any room is enough: otherwise the connection could stall for ever.
        let fits =
            room.is_none_or(|room| under_way + packets <= room) || under_way == 0 && room > Some(0);
        if !fits {
            return None;
        }
        self.waiting.pop_front();
        self.triggered.push_back((now, packets));
        self.released = Some(number);
        Some(packet)
    }

    /// Removes and returns all waiting ACKs, so that the next segment of the mobile host can follow at once.
    fn release_all(&mut self) -> Vec<u64> {
        if let Some(&(number, _)) = self.waiting.back() {
            self.released = Some(number);
        }
        self.waiting.drain(..).map(|(_, packet)| packet).collect()
    }

    /// Measures the RTT to the sender: from the first packet of the mobile host to the first one from the sender.
    fn measure_rtt(&mut self, now: Instant, from_mobile: bool) {
        if from_mobile {
            self.request_at.get_or_insert(now);
        } else if let Some(request_at) = self.request_at {
            self.rtt.get_or_insert(now.saturating_since(request_at));
        }
    }
}

impl AckRegulator {
    /// Creates the middlebox; `queues` are those of the hosts behind the wireless link.
    pub fn new(queues: Vec<EgressQueue>) -> Self {
        Self {
            queues,
            flows: Vec::new(),
            timers: ConnectionTimers::new(),
        }
    }

    /// Releases the ACKs of a connection for whose data there is room, and schedules the next poll.
    fn release(&mut self, number: u32, actions: &mut Actions<'_>) {
        let flow = &mut self.flows[number as usize];
        if let Some(queue) = EgressQueue::towards(&self.queues, flow.mobile) {
            let room = queue.room(flow.packet_size, actions);
            while let Some(packet) = flow.release(actions.now(), room) {
                actions.forward(packet);
            }
        }
        let next = if flow.waiting.is_empty() {
            Instant::NEVER
        } else {
            actions.now() + POLL_INTERVAL
        };
        self.timers.set(number, next);
    }
}

impl Node for AckRegulator {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let Some((segment, queue)) = EgressQueue::of_segment(&self.queues, packet) else {
            actions.forward(packet.id);
            return;
        };
        let flow = state_of(&mut self.flows, packet.flow);
        flow.measure_rtt(actions.now(), queue.is_none());
        if let Some(queue) = queue {
            flow.mobile = queue.host;
            let capacity = queue.capacity(packet.size);
            if segment.len > 0 && flow.on_data(packet, segment, capacity) {
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
                        let released = flow
                            .released
                            .map_or(number, |released| released.max(number));
                        flow.released = Some(released);
                    }
                    actions.forward(packet.id);
                }
            }
        }
        self.release(packet.flow, actions);
        actions.call_at(self.timers.earliest());
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(number) = self.timers.due(actions.now()) {
            self.release(number, actions);
        }
        actions.call_at(self.timers.earliest());
    }
}
