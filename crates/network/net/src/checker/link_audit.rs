//! Link audit: the checker's account of one link.

use std::collections::VecDeque;

use link_trace::WORK_PER_BYTE;
use radio::ran::{Direction, UserId};
use units::{Duration, Instant};

use super::Verdict;
use crate::{Backlog, HostId, Limit, LinkCapacity, LinkConfig, Packet, Queue};

pub(super) struct LinkAudit {
    name: String,
    from: HostId,
    to: HostId,
    capacity: LinkCapacity,
    delay: Duration,
    limit: Limit,
    /// Whether the queue keeps the order of packets only within a flow.
    is_fair_queued: bool,
    /// Whether packets stay in order on the wire.
    keeps_order: bool,
    /// Identity and flow of waiting packets, in the order of arrival.
    waiting: VecDeque<(u64, u32)>,
    backlog: Backlog,
    on_wire: VecDeque<u64>,
    /// Work done so far, in (bit/s)·ns.
    work: i128,
    /// Minimum of (work done − work possible) at the start of any packet.
    min_lead: i128,
}

impl LinkAudit {
    pub(super) fn new(config: &LinkConfig) -> Self {
        Self {
            name: config.name.clone(),
            from: config.from,
            to: config.to,
            capacity: config.capacity.clone(),
            delay: config.min_delay(),
            limit: match config.capacity {
                LinkCapacity::Radio { .. } => Limit::Unlimited,
                _ => config.queue.limit,
            },
            is_fair_queued: matches!(config.queue.discipline, Queue::FqCodel(_)),
            keeps_order: config.jitter.as_ref().is_none_or(|jitter| !jitter.reorder),
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            on_wire: VecDeque::new(),
            work: 0,
            min_lead: i128::MAX,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the node at which the link begins.
    pub(super) fn from(&self) -> HostId {
        self.from
    }

    /// Returns the node at which the link ends.
    pub(super) fn to(&self) -> HostId {
        self.to
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

    pub(super) fn enqueue(&mut self, packet: &Packet, at: Instant, reported: Backlog) -> Verdict {
        self.waiting.push_back((packet.id, packet.flow));
        self.backlog.bytes += u64::from(packet.size);
        self.backlog.packets += 1;
        let (held, link) = (self.backlog, &self.name);
        if reported != held {
            let (reported, held) = (reported.bytes, held.bytes);
            return Err(format!(
                "queue of link {link:?}: reported {reported} bytes at {at:?}, actual {held}"
            ));
        }
        let (held, limit, unit) = match self.limit {
            Limit::Bytes(limit) => (held.bytes, limit.get(), "bytes"),
            Limit::Packets(limit) => (held.packets, limit, "packets"),
            Limit::Unlimited => return Ok(()),
        };
        if held > limit {
            return Err(format!(
                "the queue of link {link:?} holds {held} {unit} at {at:?}, its limit is {limit}"
            ));
        }
        Ok(())
    }

    /// Removes a packet from the queue. If it is transmitted, and not dropped, no packet before it may still wait.
    pub(super) fn dequeue(
        &mut self,
        packet: &Packet,
        at: Instant,
        is_transmitted: bool,
    ) -> Verdict {
        let index = self.waiting.iter().position(|&(id, _)| id == packet.id);
        let index = index.expect("waiting packets are recorded");
        let before = self.first_before(packet, index);
        self.waiting.remove(index);
        self.backlog.bytes -= u64::from(packet.size);
        self.backlog.packets -= 1;
        if is_transmitted {
            self.check_order(packet.id, before, at)
        } else {
            Ok(())
        }
    }

    /// Verifies the order of a packet that is transmitted without waiting.
    pub(super) fn verify_order(&self, packet: &Packet, at: Instant) -> Verdict {
        self.check_order(packet.id, self.first_before(packet, self.waiting.len()), at)
    }

    /// Returns the first packet among the first `count` waiting ones that must leave before `packet`.
    fn first_before(&self, packet: &Packet, count: usize) -> Option<u64> {
        let mut earlier = self.waiting.iter().take(count);
        earlier
            .find(|&&(_, flow)| !self.is_fair_queued || flow == packet.flow)
            .map(|&(id, _)| id)
    }

    fn check_order(&self, packet: u64, before: Option<u64>, at: Instant) -> Verdict {
        let Some(before) = before else {
            return Ok(());
        };
        let link = &self.name;
        Err(format!(
            "packet {packet} overtakes packet {before} at link {link:?} at {at:?}"
        ))
    }

    /// Verifies the work done against the capacity, in every interval from the start of some packet to the end of this
    /// one: work(end) − possible(end) ≤ min over starts of (work − possible).
    pub(super) fn transmit(
        &mut self,
        packet: &Packet,
        start: Instant,
        finish: Instant,
        in_transit: bool,
    ) -> Verdict {
        if in_transit {
            self.on_wire.push_back(packet.id);
        }
        if finish == Instant::NEVER || self.user().is_some() {
            return Ok(());
        }
        let possible = |work: u128| i128::try_from(work).unwrap_or(i128::MAX);
        let lead = self.work - possible(self.capacity.work_before(start));
        self.min_lead = self.min_lead.min(lead);
        self.work += i128::from(packet.size) * i128::from(WORK_PER_BYTE);
        let excess = self.work - possible(self.capacity.work_until(finish)) - self.min_lead;
        if excess > 0 {
            let bytes = (excess as u128).div_ceil(u128::from(WORK_PER_BYTE)) as u64;
            let link = &self.name;
            return Err(format!(
                "link {link:?} is above its rate: {bytes} bytes too many until {finish:?}"
            ));
        }
        Ok(())
    }

    pub(super) fn arrive(&mut self, packet: u64, at: Instant) -> Verdict {
        let index = self.on_wire.iter().position(|&id| id == packet);
        let index = index.expect("packets on the wire are recorded");
        let first = self.on_wire[0];
        self.on_wire.remove(index);
        let is_overtaking = self.keeps_order && index > 0;
        self.check_order(packet, is_overtaking.then_some(first), at)
    }
}
