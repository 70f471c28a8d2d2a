//! Merge queue: packets that have left the path, and wait to be merged with those that follow.

use units::{Duration, Instant};

use crate::offload::GroSegment;
use crate::session::Departure;

/// Longest time that a segment waits for those that follow it, and that the path sleeps beyond its next event, while
/// many packets pass: as network cards moderate their interrupts.
pub const MODERATION: Duration = Duration::from_micros(50);
/// Lateness above which segments wait for those that follow, however few pass: handing them over at once is cheaper.
const MERGE_LATENESS: Duration = Duration::from_micros(200);
/// Minimum number of packets in an interval of high rate: 0.8 Gbit/s of 1500 B.
const HIGH_LOAD_PACKETS: u64 = 64;
/// Shortest interval over which packets are counted.
const INTERVAL: Duration = Duration::from_millis(1);
/// Connections whose segments wait at a time, as of GRO in Linux.
const MAX_SEGMENTS_WAITING: usize = 8;

/// Segments that wait for those that follow them.
#[derive(Default)]
pub struct MergeQueue {
    /// In the order of their first packets.
    waiting: Vec<GroSegment>,
    load: Load,
}

impl MergeQueue {
    /// Adds a packet that leaves the path at `now`, and calls `send` for the segments that do not wait. It may wait
    /// for those that follow if its device `merges` them.
    pub fn add(
        &mut self,
        now: Instant,
        packet: Departure,
        merges: bool,
        mut send: impl FnMut(GroSegment),
    ) {
        self.load.count(now);
        let waits =
            merges && (self.load.is_high || now.saturating_since(packet.at) > MERGE_LATENESS);
        let mut waiting = self.waiting.iter();
        let packet = match waiting.position(|segment| segment.is_of_connection(&packet)) {
            None => packet,
            Some(index) => match self.waiting[index].add(packet) {
                Ok(()) => {
                    if !self.waiting[index].is_open() {
                        send(self.waiting.remove(index));
                    }
                    return;
                }
                // It must not overtake others of its connection.
                Err(packet) => {
                    send(self.waiting.remove(index));
                    packet
                }
            },
        };
        let segment = GroSegment::new(packet);
        if !waits || !segment.is_open() {
            return send(segment);
        }
        if self.waiting.len() == MAX_SEGMENTS_WAITING {
            send(self.waiting.remove(0));
        }
        self.waiting.push(segment);
    }

    /// Calls `send` for segments that have waited long enough at `now`.
    pub fn end_waits(&mut self, now: Instant, send: impl FnMut(GroSegment)) {
        let waits = |segment: &GroSegment| now.saturating_since(segment.at()) < MODERATION;
        let over = self.waiting.iter().take_while(|segment| !waits(segment));
        let count = over.count();
        self.waiting.drain(..count).for_each(send);
    }

    /// Calls `send` for all segments that wait.
    pub fn end_all_waits(&mut self, send: impl FnMut(GroSegment)) {
        self.waiting.drain(..).for_each(send);
    }

    /// Returns how much longer than until its next event the path may sleep.
    pub fn moderation(&self) -> Duration {
        if self.load.is_high {
            MODERATION
        } else {
            Duration::ZERO
        }
    }
}

/// Load: how many packets leave the path.
#[derive(Default)]
struct Load {
    since: Instant,
    packets: u64,
    is_high: bool,
}

impl Load {
    /// Counts a packet that leaves at `now`.
    fn count(&mut self, now: Instant) {
        self.packets += 1;
        let elapsed = now.saturating_since(self.since);
        if elapsed >= INTERVAL {
            let high = u128::from(HIGH_LOAD_PACKETS) * u128::from(elapsed.as_nanos());
            let counted = u128::from(self.packets) * u128::from(INTERVAL.as_nanos());
            self.is_high = counted >= high;
            (self.since, self.packets) = (now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use net::HostId;

    use super::*;
    use crate::offload::tests::segment;

    /// Time of the first packet.
    const START: Instant = Instant::from_nanos(1_000_000_000);

    /// Nothing that is sent.
    const NONE: [usize; 0] = [];

    /// Adds a packet to `host` that leaves when it should; returns how many packets each of what is sent has.
    fn add(queue: &mut MergeQueue, at: Instant, host: u32, bytes: Vec<u8>) -> Vec<usize> {
        let (packet, host) = (0, HostId(host));
        let departure = Departure {
            packet,
            host,
            at,
            bytes,
        };
        let mut sent = Vec::new();
        queue.add(at, departure, true, |segment| {
            sent.push(segment.into_packets().count())
        });
        sent
    }

    /// Returns the segment of a connection with this number; all have 100 bytes.
    fn numbered(number: u32) -> Vec<u8> {
        segment(false, number * 100, &[0; 100], false)
    }

    /// Returns a queue after packets of other connections at this interval, microseconds.
    fn after_packets(interval_us: u64) -> (MergeQueue, Instant) {
        let mut queue = MergeQueue::default();
        let time = |number| START + Duration::from_micros(number * interval_us);
        for number in 0..200 {
            let other = segment(true, 7, &[0; 10], true);
            assert_eq!(add(&mut queue, time(number), 1, other), [1]);
        }
        (queue, time(200))
    }

    #[test]
    fn packets_wait_for_others_only_while_many_pass() {
        let (mut queue, now) = after_packets(20);
        assert_eq!(queue.moderation(), Duration::ZERO);
        assert_eq!(add(&mut queue, now, 1, numbered(0)), [1]);
        let (mut queue, now) = after_packets(10);
        assert_eq!(queue.moderation(), MODERATION);
        for number in 0..5 {
            assert_eq!(add(&mut queue, now, 1, numbered(number)), NONE);
        }
        let mut sent = Vec::new();
        let mut send = |segment: GroSegment| sent.push(segment.into_packets().count());
        queue.end_waits(now + Duration::from_micros(49), &mut send);
        queue.end_waits(now + MODERATION, &mut send);
        queue.end_all_waits(&mut send);
        assert_eq!(sent, [5]);
        // After a pause they are few again.
        let later = now + Duration::from_millis(50);
        assert_eq!(add(&mut queue, later, 1, numbered(9)), [1]);
    }

    #[test]
    fn packets_that_are_late_wait_for_others() {
        let mut queue = MergeQueue::default();
        let at = START;
        let late = at + Duration::from_micros(201);
        let (packet, host) = (0, HostId(1));
        for merges in [false, true] {
            let mut sent = 0;
            let bytes = numbered(0);
            let departure = Departure {
                packet,
                host,
                at,
                bytes,
            };
            queue.add(late, departure, merges, |_| sent += 1);
            assert_eq!(sent, u32::from(!merges));
        }
    }

    #[test]
    fn no_packet_overtakes_another_of_its_connection() {
        let (mut queue, now) = after_packets(10);
        assert_eq!(add(&mut queue, now, 1, numbered(0)), NONE);
        assert_eq!(add(&mut queue, now, 1, numbered(1)), NONE);
        // Other connections and hosts leave it as it is; one without data is one of its own.
        assert_eq!(add(&mut queue, now, 2, numbered(0)), NONE);
        assert_eq!(
            add(&mut queue, now, 1, segment(true, 0, &[0; 9], false)),
            NONE
        );
        assert_eq!(
            add(&mut queue, now, 1, segment(false, 200, &[], false)),
            [2, 1]
        );
        // The last of a message does not wait.
        assert_eq!(add(&mut queue, now, 1, numbered(2)), NONE);
        assert_eq!(
            add(&mut queue, now, 1, segment(false, 300, &[0; 100], true)),
            [2]
        );
        // Segments lost on the path come between.
        assert_eq!(add(&mut queue, now, 1, numbered(7)), NONE);
        assert_eq!(add(&mut queue, now, 1, numbered(4)), [1]);
        assert_eq!(add(&mut queue, now, 1, numbered(8)), [1]);
    }
}
