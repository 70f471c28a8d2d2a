//! ACK Regulator: delays ACKs whose data would overflow the queue of the access link. See Chan and Ramjee,
//! "TCP/IP performance over 3G wireless links with rate and delay variation", MobiCom 2002.
//!
//! The regulator releases an ACK when the queue has room for all data that is then under way from the sender. It knows
//! that from the sender's window and its growth, which it measures an RTT after each ACK. So at most one queue of data
//! arrives per RTT: a queue of less than a bandwidth-delay product leaves capacity unused. Without losses the sender's
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
    released: u64,
    /// ACKs that wait: ACK number and identity of the packet.
    waiting: VecDeque<(u64, u64)>,
    /// ACKs that were released, and that the sender may not have answered yet: time, number.
    unanswered: VecDeque<(Instant, u64)>,
    /// Highest number of the ACKs that the sender has answered, and its window then, bytes.
    answered: u64,
    window: u64,
    /// Smoothed growth of the window, per mille of what was acknowledged: 1000 in slow start.
    growth: u64,
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
        let last = self.waiting.back().map_or(0, |&(number, _)| number);
        let waiting_packets = self.packets(last.saturating_sub(self.released));
        let drops = capacity.is_some_and(|capacity| waiting_packets > capacity)
            && self.released >= self.no_drop_until;
        if drops {
            self.no_drop_until = end;
        }
        drops
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.max_payload.max(1)))
    }

    /// Measures the window by what has arrived an RTT after the release of an ACK.
    fn measure_window(&mut self, now: Instant) {
        let rtt = self.rtt.unwrap_or(INITIAL_RTT);
        while let Some(&(at, number)) = self.unanswered.front()
            && at + rtt <= now
        {
            self.unanswered.pop_front();
            let window = self.arrived_end.saturating_sub(number);
            let advance = number.saturating_sub(self.answered);
            if self.answered > 0 {
                let growth = window.saturating_sub(self.window).min(advance);
                self.growth = (7 * self.growth + 1_000 * growth / advance.max(1)) / 8;
            }
            (self.answered, self.window) = (number, window);
        }
    }

    /// Returns the number of packets that are under way from the sender if an ACK for `number` is the last released.
    fn under_way(&self, number: u64) -> u64 {
        let growth = number.saturating_sub(self.answered) * self.growth / 1_000;
        let end = number + self.window + growth;
        self.packets(end.saturating_sub(self.arrived_end))
    }

    /// Removes and returns the first waiting ACK, if the queue has room for `room` packets.
    fn release(&mut self, now: Instant, room: Option<u64>) -> Option<u64> {
        self.measure_window(now);
        let &(number, packet) = self.waiting.front()?;
        // An ACK releases what it acknowledges, at the least.
        let acknowledged = self.packets(number.saturating_sub(self.released));
        let packets = self.under_way(number).max(acknowledged);
        // With nothing under way, any room is enough: otherwise the connection could stall for ever.
        let fits = room
            .is_none_or(|room| packets <= room || room > 0 && self.under_way(self.released) == 0);
        if !fits {
            return None;
        }
        self.waiting.pop_front();
        self.on_released(now, number);
        Some(packet)
    }

    fn on_released(&mut self, now: Instant, number: u64) {
        if number > self.released {
            self.unanswered.push_back((now, number));
            self.released = number;
        }
    }

    /// Returns whether a segment acknowledges more data and does nothing else.
    fn is_progress(&self, segment: &Segment, number: u64) -> bool {
        let waiting = self.waiting.back().map(|&(number, _)| number);
        segment.flags == Flags::ACK
            && segment.len == 0
            && segment.sack.is_empty()
            && number > waiting.unwrap_or(self.released)
    }

    /// Removes and returns all waiting ACKs, so that a segment with this ACK number can follow at once.
    fn release_all(&mut self, now: Instant, number: Option<u64>) -> Vec<u64> {
        self.on_released(now, number.unwrap_or(0));
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
            if let Some(number) = number.filter(|&number| flow.is_progress(segment, number)) {
                flow.waiting.push_back((number, packet.id));
            } else {
                for held in flow.release_all(actions.now(), number) {
                    actions.forward(held);
                }
                actions.forward(packet.id);
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

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(20);

    /// A connection whose window grows by `growth` bytes for each packet of 1000 bytes that is acknowledged, one per ms,
    /// after 200 of them.
    fn connection_with_window(growth: u64) -> RegulatedConnection {
        let mut connection = RegulatedConnection {
            rtt: Some(RTT),
            max_payload: 1_000,
            ..RegulatedConnection::default()
        };
        for each in 1..=200 {
            let now = Instant::ZERO + Duration::from_millis(each);
            connection.measure_window(now);
            connection.on_released(now, 1_000 * each);
            // What the sender answers to the ACK of an RTT ago.
            let answered = each.saturating_sub(20);
            connection.arrived_end = 1_000 * answered + 40_000 + growth * answered;
        }
        connection.measure_window(Instant::ZERO + Duration::from_millis(201));
        connection
    }

    /// By Little's law 20 packets are under way at one per ms and 20 ms, and twice as many if each ACK triggers two.
    #[test]
    fn what_is_under_way_is_the_rate_times_the_rtt() {
        for (growth, packets) in [(0, 20), (1_000, 40)] {
            let connection = connection_with_window(growth);
            let under_way = connection.under_way(connection.released);
            assert!(under_way.abs_diff(packets) <= 2, "{under_way} of {packets}");
        }
    }

    #[test]
    fn an_ack_waits_until_the_queue_has_room_for_what_is_under_way() {
        let mut connection = connection_with_window(0);
        connection.waiting.push_back((202_000, 7));
        let now = Instant::ZERO + Duration::from_millis(201);
        assert_eq!(connection.release(now, Some(19)), None);
        assert_eq!(connection.release(now, Some(22)), Some(7));
    }
}
