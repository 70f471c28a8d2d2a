//! Bottlenecks: the access link of each UE in both directions, and the bytes that the links of the path carry in a slot.

use net::{Backlog, HostId, LinkId, Network, OutageCause, PathOutage};
use network_builder::Access;
use units::{Bytes, Duration, Instant, Rate};

/// One direction of the access link of a UE.
#[derive(Clone, Debug)]
struct Bottleneck {
    link: LinkId,
    /// Capacity of the current slot, or of the last one on the radio, bit/s.
    capacity_bps: u64,
    /// Slots of the radio without capacity, adjacent ones as one.
    zero_capacity: Vec<PathOutage>,
}

impl Bottleneck {
    /// Adds a slot without capacity.
    fn add_zero_capacity(&mut self, start: Instant, end: Instant) {
        match self.zero_capacity.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.zero_capacity.push(PathOutage {
                start,
                end,
                cause: OutageCause::Capacity,
            }),
        }
    }
}

/// The bottlenecks of a path, two for each UE: the link towards it, and the link from it.
#[derive(Clone, Debug)]
pub(crate) struct Bottlenecks {
    slot: Duration,
    ues: Vec<HostId>,
    links: Vec<Bottleneck>,
    /// Rate of a queue outside the path, before the first link.
    hidden_queue: Option<Rate>,
    /// Bytes that each link of the path has carried in the slot, at the IP layer.
    carried: Vec<u64>,
    /// Bytes of each connection on each link since they were taken last, a row of links for each connection. Every packet
    /// counts on every link, so that nothing is searched for.
    connection_bytes: Vec<u64>,
}

impl Bottlenecks {
    /// Creates the bottlenecks of `access`, the phone's first, on a path of `link_count` links; `slot` is the length of
    /// slots.
    pub(crate) fn new(slot: Duration, access: &[Access], link_count: usize) -> Self {
        let links = access.iter().flat_map(|access| [access.down, access.up]);
        let bottleneck = |link| Bottleneck {
            link,
            capacity_bps: 0,
            zero_capacity: Vec::new(),
        };
        let links: Vec<_> = links.map(bottleneck).collect();
        Self {
            slot,
            ues: access.iter().map(|access| access.ue).collect(),
            links,
            hidden_queue: None,
            carried: vec![0; link_count],
            connection_bytes: Vec::new(),
        }
    }

    /// Puts a queue outside the path, of this rate, before the first link.
    pub(crate) fn hide_queue(&mut self, rate: Rate) {
        self.hidden_queue = Some(rate);
    }

    /// Returns whether packets wait for a bottleneck where the path does not see them.
    #[inline]
    pub(crate) fn is_hidden(&self, index: usize) -> bool {
        index == 0 && self.hidden_queue.is_some()
    }

    /// Returns the bytes that a link, or the hidden queue before it, could carry from `from` to `now`.
    fn link_bytes(&self, link: LinkId, from: Instant, now: Instant, network: &Network) -> Bytes {
        match self.hidden_queue {
            Some(rate) if link == self.links[0].link => rate.bytes_in(now.saturating_since(from)),
            _ => network.capacity_bytes(link, from, now),
        }
    }

    /// Adds the next connection.
    pub(crate) fn add_connection(&mut self) {
        let len = self.connection_bytes.len() + self.carried.len();
        self.connection_bytes.resize(len, 0);
    }

    /// Returns the host of a UE.
    pub(crate) fn ue(&self, index: usize) -> Option<HostId> {
        self.ues.get(index).copied()
    }

    /// Returns the index of the bottleneck of a connection, of which `links` is the path of its data: the last access link
    /// of a UE, else that towards the phone. The ends may be hosts behind a UE.
    pub(crate) fn index_of(&self, links: &[LinkId]) -> usize {
        let mut links = links.iter().rev();
        links
            .find_map(|link| self.index_of_link(*link))
            .unwrap_or(0)
    }

    /// Begins a slot. The capacity of a wire is known in advance, that of the radio afterwards.
    pub(crate) fn begin_slot(&mut self, now: Instant, network: &Network) {
        let before = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for index in 0..self.links.len() {
            let link = self.links[index].link;
            let is_predictable = network.is_predictable(link);
            let from = if is_predictable { now } else { before };
            let bytes = self.link_bytes(link, from, from + self.slot, network);
            let bottleneck = &mut self.links[index];
            if !is_predictable && bytes.get() == 0 && before < now {
                bottleneck.add_zero_capacity(before, now);
            }
            bottleneck.capacity_bps = Rate::of(bytes, self.slot).bits_per_second();
        }
        self.carried.fill(0);
    }

    /// Returns the outages of the radio on a path of `links`.
    pub(crate) fn outages(
        &self,
        links: impl Iterator<Item = LinkId>,
    ) -> impl Iterator<Item = PathOutage> {
        let indices = links.filter_map(|link| self.index_of_link(link));
        indices.flat_map(|index| self.links[index].zero_capacity.iter().copied())
    }

    /// Returns whether a bottleneck is the link from its UE.
    pub(crate) fn is_uplink(&self, index: usize) -> bool {
        index % 2 == 1
    }

    /// Returns the index of the UE of a bottleneck.
    pub(crate) fn ue_index(&self, index: usize) -> u32 {
        index as u32 / 2
    }

    /// Returns the index of the bottleneck at a link, if there is one.
    pub(crate) fn index_of_link(&self, link: LinkId) -> Option<usize> {
        self.links
            .iter()
            .position(|bottleneck| bottleneck.link == link)
    }

    /// Counts bytes that `link` carries, of a connection or of other traffic.
    #[inline]
    pub(crate) fn count_carried(&mut self, link: LinkId, connection: Option<u32>, bytes: u32) {
        let link = link.0 as usize;
        self.carried[link] += u64::from(bytes);
        if let Some(connection) = connection {
            let row = connection as usize * self.carried.len();
            self.connection_bytes[row + link] += u64::from(bytes);
        }
    }

    /// Returns the bytes of a connection that `link` has carried since the last call.
    pub(crate) fn take_connection_bytes(&mut self, link: LinkId, connection: u32) -> u64 {
        let row = connection as usize * self.carried.len();
        core::mem::take(&mut self.connection_bytes[row + link.0 as usize])
    }

    /// Returns the bytes at the IP layer that a link could have carried from `from` to `now`, and those of them that others
    /// have left to a connection of which it carried `connection_bytes`.
    pub(crate) fn capacity_bytes(
        &self,
        link: LinkId,
        connection_bytes: u64,
        from: Instant,
        now: Instant,
        network: &Network,
    ) -> (u64, u64) {
        let carried = self.carried[link.0 as usize];
        let mut all = self.link_bytes(link, from, now, network).get();
        if let Some(policed) = network.policed_bytes(link, now.saturating_since(from)) {
            // The burst of a policer is no capacity: it is what the time before has left.
            all = all.min(policed.get());
        }
        (all, all.saturating_sub(carried - connection_bytes))
    }

    /// Returns the capacity of a bottleneck in the current slot, bit/s.
    pub(crate) fn capacity_bps(&self, index: usize) -> u64 {
        self.links[index].capacity_bps
    }

    /// Returns the backlog of a bottleneck.
    pub(crate) fn queue(&self, index: usize, network: &Network) -> Backlog {
        network.queue(self.links[index].link)
    }
}
