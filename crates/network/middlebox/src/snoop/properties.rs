//! Properties of the recovery over a drawn wireless link, on which packets and ACKs are lost but not overtaken.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;
use tcp::Segment;
use units::{Duration, Instant};

use super::flow::{AckVerdict, SnoopFlow};
use super::tests::{ack, ms, send_with_room};

/// A link with a mobile host behind it, which acknowledges each packet at once.
struct Link {
    /// Whether the next packets are lost, the last first. No more are lost than these.
    losses: Vec<bool>,
    /// Each ACK of this number is lost: up to three SACK blocks make up for it.
    lost_ack: usize,
    delay: Duration,
    /// Packets under way, with the time of their arrival.
    packets: VecDeque<(Instant, u32)>,
    acks: VecDeque<(Instant, Segment)>,
    /// Packets whose last transmission was lost.
    lost: BTreeSet<u32>,
    /// Packets in the order of their arrival.
    arrived: Vec<u32>,
}

impl Link {
    fn transmit(&mut self, number: u32, now: Instant) {
        if self.losses.pop() == Some(true) {
            self.lost.insert(number);
        } else {
            self.lost.remove(&number);
            self.packets.push_back((now + self.delay, number));
        }
    }

    /// Delivers a packet. The mobile host acknowledges it with the three SACK blocks that changed last (RFC 2018).
    fn deliver(&mut self) {
        let (now, number) = self.packets.pop_front().unwrap();
        self.arrived.push(number);
        if self.arrived.len().is_multiple_of(self.lost_ack) {
            return;
        }
        let has = |number: &u32| self.arrived.contains(number);
        let next = (0..).find(|number| !has(number)).unwrap();
        let mut sack = Vec::new();
        for &number in self.arrived.iter().rev().filter(|number| **number > next) {
            let from = (0..number).rev().find(|below| !has(below)).unwrap() + 1;
            let to = (number..).find(|above| !has(above)).unwrap();
            if sack.len() < 3 && !sack.contains(&(1_000 * from, 1_000 * to)) {
                sack.push((1_000 * from, 1_000 * to));
            }
        }
        self.acks
            .push_back((now + self.delay, ack(1_000 * next, &sack)));
    }
}

proptest! {
    /// The sender transmits each packet once, so that the cache has to repair all losses.
    #[test]
    fn the_cache_repairs_what_is_lost_and_nothing_else_and_the_sender_learns_of_no_loss(
        number_of_packets in 1_u32..80,
        gap in 1_u64..8,
        delay in 2_u64..60,
        losses in prop::collection::vec(prop::bool::weighted(0.2), 0..200),
        lost_ack in 3_usize..50,
    ) {
        let mut flow = SnoopFlow::default();
        flow.sees_queue = true;
        let mut link = Link {
            losses,
            lost_ack,
            delay: Duration::from_millis(delay),
            packets: VecDeque::new(),
            acks: VecDeque::new(),
            lost: BTreeSet::new(),
            arrived: Vec::new(),
        };
        let mut to_send: VecDeque<_> = (0..number_of_packets).map(|each| (gap * u64::from(each), each)).collect();
        let mut acknowledged = 0;
        loop {
            let times = [
                link.packets.front().map(|&(at, _)| at),
                link.acks.front().map(|&(at, _)| at),
                to_send.front().map(|&(at, _)| ms(at)),
                Some(flow.deadline()),
            ];
            let now = times.into_iter().flatten().min().unwrap();
            if now == Instant::NEVER {
                break;
            }
            prop_assert!(now < ms(120_000), "it ends");
            let is_time = |at: Option<Instant>| at.is_some_and(|at| at <= now);
            let mut is_timeout = false;
            if is_time(times[0]) {
                link.deliver();
            } else if is_time(times[1]) {
                let (_, segment) = link.acks.pop_front().unwrap();
                let seen = match flow.on_ack(now, &segment) {
                    AckVerdict::Suppress => None,
                    AckVerdict::Forward => Some(segment),
                    AckVerdict::LessSack(less) => Some(less),
                };
                if let Some(seen) = seen {
                    prop_assert!(seen.ack > acknowledged && seen.sack.is_empty(), "{seen:?}");
                    acknowledged = seen.ack;
                }
            } else if is_time(times[2]) {
                let (at, number) = to_send.pop_front().unwrap();
                send_with_room(&mut flow, number, at, u64::MAX);
                link.transmit(number, now);
            } else {
                is_timeout = true;
                flow.on_deadline(now, false);
            }
            for (packet, _) in flow.repairs(now, None) {
                let number = packet.segment().unwrap().seq / 1_000;
                prop_assert!(is_timeout || link.lost.contains(&number), "packet {number} was not lost");
                link.transmit(number, now);
            }
        }
        prop_assert_eq!(acknowledged, 1_000 * number_of_packets);
    }

    /// All but the last of the packets are lost, and there is room for some of them.
    #[test]
    fn the_cache_has_no_more_than_its_room(number_of_packets in 2_u32..60, room in 0_u64..60_000) {
        let mut flow = SnoopFlow::default();
        (0..number_of_packets).for_each(|each| send_with_room(&mut flow, each, u64::from(each), room));
        let mut repaired = 0;
        while flow.deadline() != Instant::NEVER && repaired < 1_000 {
            let now = flow.deadline();
            flow.on_deadline(now, false);
            for (packet, _) in flow.repairs(now, None) {
                let segment = packet.segment().unwrap();
                repaired += 1;
                flow.on_ack(now + Duration::from_millis(10), &ack(segment.seq + segment.len, &[]));
            }
        }
        prop_assert_eq!(repaired, (room / 1_000).min(u64::from(number_of_packets)));
    }
}
