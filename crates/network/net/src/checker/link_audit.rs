//! Link audit: the checker's account of one link.

use std::collections::VecDeque;

use link_trace::WORK_PER_BYTE;
use radio::ran::{Direction, UserId};
use units::{Duration, Instant};

use super::Violation;
use crate::{Backlog, HostId, Limit, LinkCapacity, LinkConfig, Packet, Queue};

pub(super) struct LinkAudit {
    name: String,
    ends: (HostId, HostId),
    capacity: LinkCapacity,
    delay: Duration,
    limit: Limit,
    /// Only packets of one flow stay in order in the queue.
    by_flow: bool,
    /// Packets stay in order on the wire.
    in_order: bool,
    /// Identity and flow of waiting packets, in the order of arrival.
    waiting: VecDeque<(u64, u32)>,
    backlog: Backlog,
    on_wire: VecDeque<u64>,
    /// Work done so far, in (bit/s)·ns.
    work: i128,
    /// The minimum of (work done − work possible) at the start of any packet.
    least_lead: i128,
}

impl LinkAudit {
    pub(super) fn new(config: &LinkConfig) -> Self {
        Self {
            name: config.name.clone(),
            ends: (config.from, config.to),
            capacity: config.capacity.clone(),
            delay: config.least_delay(),
            limit: match config.capacity {
                LinkCapacity::Radio { .. } => Limit::Unlimited,
                _ => config.queue.limit,
            },
            by_flow: matches!(config.queue.discipline, Queue::FqCodel(_)),
            in_order: config.jitter.as_ref().is_none_or(|jitter| !jitter.reorder),
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            on_wire: VecDeque::new(),
            work: 0,
            least_lead: i128::MAX,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the nodes at which the link begins and ends.
    pub(super) fn ends(&self) -> (HostId, HostId) {
        self.ends
    }

    /// Returns the user and direction of a link of the radio access network.
    pub(super) fn user(&self) -> Option<(UserId, Direction)> {
        match self.capacity {
            LinkCapacity::Radio { user, direction } => Some((user, direction)),
            LinkCapacity::Constant(_) | LinkCapacity::Trace { .. } => None,
        }
    }

    pub(super) fn delay(&self) -> Duration {
        self.delay
    }

    pub(super) fn enqueued(
        &mut self,
        packet: &Packet,
        at: Instant,
        reported: Backlog,
    ) -> Result<(), Violation> {
        self.waiting.push_back((packet.id, packet.flow));
        self.backlog.bytes += u64::from(packet.size);
        self.backlog.packets += 1;
        let (held, link) = (self.backlog, || self.name.clone());
        if reported != held {
            let (reported, held) = (reported.bytes, held.bytes);
            return Err(Violation::Backlog {
                link: link(),
                at,
                reported,
                held,
            });
        }
        let (held, limit, unit) = match self.limit {
            Limit::Bytes(limit) => (held.bytes, limit.get(), "bytes"),
            Limit::Packets(limit) => (held.packets, limit, "packets"),
            Limit::Unlimited => return Ok(()),
        };
        if held > limit {
            return Err(Violation::Buffer {
                link: link(),
                at,
                held,
                limit,
                unit,
            });
        }
        Ok(())
    }

    /// Removes a packet from the queue. If it is `served`, no packet before it may still wait.
    pub(super) fn dequeued(
        &mut self,
        packet: &Packet,
        at: Instant,
        served: bool,
    ) -> Result<(), Violation> {
        let place = self.waiting.iter().position(|&(id, _)| id == packet.id);
        let place = place.expect("what waits is written down");
        let before = self.before(packet, place);
        self.waiting.remove(place);
        self.backlog.bytes -= u64::from(packet.size);
        self.backlog.packets -= 1;
        if served {
            self.in_turn(packet, before, at)
        } else {
            Ok(())
        }
    }

    /// Verifies the order of a packet that is transmitted without waiting.
    pub(super) fn passed(&mut self, packet: &Packet, at: Instant) -> Result<(), Violation> {
        self.in_turn(packet, self.before(packet, self.waiting.len()), at)
    }

    /// Returns the first packet that waits before `place` and should go before `packet`.
    fn before(&self, packet: &Packet, place: usize) -> Option<u64> {
        let mut earlier = self.waiting.iter().take(place);
        earlier
            .find(|&&(_, flow)| !self.by_flow || flow == packet.flow)
            .map(|&(id, _)| id)
    }

    fn in_turn(&self, packet: &Packet, before: Option<u64>, at: Instant) -> Result<(), Violation> {
        match before {
            None => Ok(()),
            Some(before) => {
                let (link, packet) = (self.name.clone(), packet.id);
                Err(Violation::Order {
                    link,
                    packet,
                    before,
                    at,
                })
            }
        }
    }

    /// Verifies the work done against the capacity, in every interval from the start of some packet to the end of this
    /// one: work(end) − possible(end) ≤ min over starts of (work − possible).
    pub(super) fn transmitted(
        &mut self,
        packet: &Packet,
        start: Instant,
        finish: Instant,
        in_transit: bool,
    ) -> Result<(), Violation> {
        if in_transit {
            self.on_wire.push_back(packet.id);
        }
        if finish == Instant::NEVER || self.user().is_some() {
            return Ok(());
        }
        let possible = |work: u128| i128::try_from(work).unwrap_or(i128::MAX);
        let lead = self.work - possible(self.capacity.work_before(start));
        self.least_lead = self.least_lead.min(lead);
        self.work += i128::from(packet.size) * i128::from(WORK_PER_BYTE);
        let excess = self.work - possible(self.capacity.work_until(finish)) - self.least_lead;
        if excess > 0 {
            let bytes = (excess as u128).div_ceil(u128::from(WORK_PER_BYTE)) as u64;
            return Err(Violation::Rate {
                link: self.name.clone(),
                until: finish,
                excess: bytes,
            });
        }
        Ok(())
    }

    pub(super) fn arrived(&mut self, packet: u64, at: Instant) -> Result<(), Violation> {
        let place = self.on_wire.iter().position(|&id| id == packet);
        let place = place.expect("what is on the wire is written down");
        let first = self.on_wire[0];
        self.on_wire.remove(place);
        if self.in_order && place > 0 {
            return Err(Violation::Order {
                link: self.name.clone(),
                packet,
                before: first,
                at,
            });
        }
        Ok(())
    }
}
