//! Device queue between the server's kernel and the network.

use std::collections::VecDeque;

use net::Packet;
use tcp::NetDevice;
use units::{Bytes, Instant};

/// Packets that the device has yet to send, and those that it has yet to report as sent.
#[derive(Debug, Default)]
pub(crate) struct DeviceQueue {
    /// Time at which the device has sent all queued packets.
    free_at: Instant,
    /// Packets to send, with the times at which they leave.
    waiting: VecDeque<(Instant, Packet)>,
    /// Numbers of sent packets, with the times of their reports.
    sent: VecDeque<(Instant, u64)>,
}

impl DeviceQueue {
    /// Queues a packet at `now`.
    pub(crate) fn enqueue(&mut self, now: Instant, packet: Packet) {
        self.free_at = self.free_at.max(now)
            + NetDevice::SERVER_RATE.time_to_send(Bytes::new(packet.size.into()));
        self.waiting.push_back((self.free_at, packet));
    }

    /// Returns when the next packet leaves or is reported; [`Instant::NEVER`] if there is none.
    pub(crate) fn next_at(&self) -> Instant {
        let leaves = self.waiting.front().map_or(Instant::NEVER, |(at, _)| *at);
        let reported = self.sent.front().map_or(Instant::NEVER, |(at, _)| *at);
        leaves.min(reported)
    }

    /// Returns the packet that leaves at `now` and enters the path.
    pub(crate) fn dequeue(&mut self, now: Instant) -> Option<Packet> {
        let (sent_at, packet) = self.waiting.pop_front_if(|(at, _)| *at <= now)?;
        self.sent
            .push_back((sent_at + NetDevice::SERVER_DELAY, packet.id));
        Some(Packet { sent_at, ..packet })
    }

    /// Returns the number of the packet that is reported as sent at `now`.
    pub(crate) fn pop_sent(&mut self, now: Instant) -> Option<u64> {
        let (_, id) = self.sent.pop_front_if(|(at, _)| *at <= now)?;
        Some(id)
    }

    /// Drops the report on a packet that the path has lost or delivered first: the kernel has freed the packet already.
    pub(crate) fn remove(&mut self, packet: u64) {
        if let Some(index) = self.sent.iter().position(|(_, id)| *id == packet) {
            self.sent.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use net::{HostId, Payload};

    #[test]
    fn packets_leave_one_after_another_at_the_rate_of_the_card() {
        let packet = |id| Packet {
            id,
            flow: 0,
            source: HostId(0),
            destination: HostId(1),
            size: 1_250,
            payload: Payload::default(),
            sent_at: Instant::ZERO,
        };
        let mut queue = DeviceQueue::default();
        assert_eq!(queue.next_at(), Instant::NEVER);
        let at = |nanos| Instant::ZERO + Duration::from_nanos(nanos);
        queue.enqueue(at(1_000), packet(1));
        queue.enqueue(at(1_000), packet(2));
        assert_eq!(
            (queue.next_at(), queue.dequeue(at(1_099))),
            (at(1_100), None)
        );
        assert_eq!(
            queue.dequeue(at(1_100)).map(|p| (p.id, p.sent_at)),
            Some((1, at(1_100)))
        );
        assert_eq!(queue.next_at(), at(1_200));
        assert!(queue.dequeue(at(1_200)).is_some());
        // Reports come later, so that no system call sees them between two bursts.
        assert_eq!(
            (queue.next_at(), queue.pop_sent(at(5_099))),
            (at(5_100), None)
        );
        assert_eq!(queue.pop_sent(at(5_100)), Some(1));
        assert_eq!(queue.next_at(), at(5_200));
        queue.remove(2);
        assert_eq!(queue.next_at(), Instant::NEVER);
    }
}
