//! Topology: nodes and links of a run.

use config::{Buffer, Cross};
use units::{Bytes, Duration, Rate};

use crate::{Blackout, HostId, Jitter, LinkCapacity, LinkId, Loss, Policer, Queue};

/// Nodes and the links between them, which must form a tree with a link in each direction.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Names of the nodes; any of them may be a host.
    pub nodes: Vec<String>,
    /// Directed links.
    pub links: Vec<LinkConfig>,
    /// The radio access network that links of [`LinkCapacity::Radio`] belong to.
    pub radio: Option<radio::ran::RanConfig>,
}

impl Topology {
    /// Adds a node.
    pub fn node(&mut self, name: &str) -> HostId {
        self.nodes.push(name.to_owned());
        HostId(self.nodes.len() as u32 - 1)
    }

    /// Returns the links that differ in `changed`; `None` if they differ in more than capacity, delay, loss, blackouts and
    /// the limit of the queue, which alone can change during a run. The radio is not compared.
    pub fn changed_links(&self, changed: &Self) -> Option<Vec<LinkId>> {
        if self.nodes != changed.nodes || self.links.len() != changed.links.len() {
            return None;
        }
        let mut differing = Vec::new();
        for ((link, other), id) in self.links.iter().zip(&changed.links).zip(0..) {
            if link == other {
                continue;
            }
            let mut updated = link.clone();
            updated.capacity = other.capacity.clone();
            updated.delay = other.delay;
            updated.loss = other.loss.clone();
            updated.blackouts.clone_from(&other.blackouts);
            updated.queue.limit = other.queue.limit;
            if updated != *other {
                return None;
            }
            differing.push(LinkId(id));
        }
        Some(differing)
    }
}

/// One directed link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkConfig {
    /// Unique name.
    pub name: String,
    /// Node at which packets enter.
    pub from: HostId,
    /// Node at which packets leave.
    pub to: HostId,
    /// Capacity.
    pub capacity: LinkCapacity,
    /// Propagation delay.
    pub delay: Duration,
    /// Additional delay that varies from packet to packet.
    pub jitter: Option<Jitter>,
    /// Random loss, of packets that have been transmitted.
    pub loss: Loss,
    /// Times in which all that is transmitted is lost.
    pub blackouts: Vec<Blackout>,
    /// Token bucket at the entrance.
    pub policer: Option<Policer>,
    /// Largest packet in bytes at the IP layer; larger ones are dropped.
    pub mtu: u32,
    /// Queue of the packets that wait. The packet in transmission does not count, except on a trace link, where the
    /// head packet stays queued until its delivery opportunity.
    pub queue: QueueConfig,
    /// Traffic that shares this link only.
    pub cross: Vec<Cross>,
}

impl LinkConfig {
    /// Returns the minimum time from the end of a transmission to the arrival.
    pub(crate) fn min_delay(&self) -> Duration {
        let jitter = self
            .jitter
            .as_ref()
            .map_or(Duration::ZERO, Jitter::min_delay);
        self.delay + jitter
    }

    /// Returns a link without jitter, loss or cross-traffic, for packets of up to 1500 bytes, with an unlimited drop-tail
    /// queue.
    pub fn new(
        name: &str,
        from: HostId,
        to: HostId,
        capacity: LinkCapacity,
        delay: Duration,
    ) -> Self {
        Self {
            name: name.to_owned(),
            from,
            to,
            capacity,
            delay,
            jitter: None,
            loss: Loss::NONE,
            blackouts: Vec::new(),
            policer: None,
            mtu: 1500,
            queue: QueueConfig {
                limit: Limit::Unlimited,
                discipline: Queue::Droptail,
            },
            cross: Vec::new(),
        }
    }
}

/// The queue of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueConfig {
    /// Limit of the backlog.
    pub limit: Limit,
    /// Discipline: the order of packets, and the rule by which some are dropped.
    pub discipline: Queue,
}

/// Limit of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Bytes at the IP layer.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Returns the limit of a buffer on a link of this mean rate, MTU and base RTT. One packet always fits.
    pub fn of(buffer: Buffer, mean: Rate, mtu: Bytes, rtt: Duration) -> Self {
        match buffer.resolve(mean, rtt) {
            Buffer::Packets(packets) => Self::Packets(packets.max(1)),
            Buffer::Bytes(bytes) => Self::Bytes(bytes.max(mtu)),
            Buffer::Bdp(_) | Buffer::Time(_) => {
                unreachable!("a buffer on a link is in bytes or packets")
            }
        }
    }
}
