//! Bottlenecks: the access link of each UE in both directions, and the bytes that it carries in a slot.

use net::{Backlog, HostId, LinkId, Network, OutageCause, PathOutage};
use network_builder::Access;
use units::{Duration, Instant, Rate};

/// One direction of the access link of a UE.
#[derive(Clone, Debug)]
struct Bottleneck {
    link: LinkId,
    /// Capacity of the present slot, of the radio of the last one, bit/s.
    capacity_bps: u64,
    /// Bytes of all packets that it carried in the slot, at the IP layer.
    forwarded_bytes: u64,
    /// Times of whole slots without capacity, of the radio.
    zero_capacity: Vec<PathOutage>,
}

impl Bottleneck {
    /// Notes a slot without capacity.
    fn note_zero_capacity(&mut self, start: Instant, end: Instant) {
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

/// The bottlenecks of a path. Each UE has two, next to each other: the one towards it and the one from it.
#[derive(Clone, Debug)]
pub(crate) struct Bottlenecks {
    slot: Duration,
    ues: Vec<HostId>,
    links: Vec<Bottleneck>,
    /// Numbers of the bottlenecks by their links, since every packet on every link asks.
    by_link: Vec<Option<usize>>,
}

impl Bottlenecks {
    /// Creates those of `access`, the phone's first; `slot` is the length of slots.
    pub(crate) fn new(slot: Duration, access: &[Access]) -> Self {
        let links = access.iter().flat_map(|access| [access.down, access.up]);
        let bottleneck = |link| Bottleneck {
            link,
            capacity_bps: 0,
            forwarded_bytes: 0,
            zero_capacity: Vec::new(),
        };
        let links: Vec<_> = links.map(bottleneck).collect();
        let most = links.iter().map(|each| each.link.0 as usize).max();
        let mut by_link = vec![None; most.map_or(0, |most| most + 1)];
        for (index, each) in links.iter().enumerate().rev() {
            by_link[each.link.0 as usize] = Some(index);
        }
        Self {
            slot,
            ues: access.iter().map(|access| access.ue).collect(),
            links,
            by_link,
        }
    }

    /// Returns the host of a UE.
    pub(crate) fn ue(&self, number: usize) -> Option<HostId> {
        self.ues.get(number).copied()
    }

    /// Returns the number of the bottleneck of a connection: that towards the UE that receives, or else that from
    /// the UE that sends, or else that towards the phone.
    pub(crate) fn of(&self, (sender, receiver): (HostId, HostId)) -> usize {
        let ue = |host| self.ues.iter().position(|ue| *ue == host);
        match (ue(receiver), ue(sender)) {
            (Some(ue), _) => 2 * ue,
            (None, Some(ue)) => 2 * ue + 1,
            (None, None) => 0,
        }
    }

    /// Begins a slot. The capacity of a wire is known in advance; of the radio, that of the slot before is.
    pub(crate) fn begin_slot(&mut self, now: Instant, network: &Network) {
        let before = Instant::ZERO + now.since_start().saturating_sub(self.slot);
        for bottleneck in &mut self.links {
            let is_predictable = network.is_predictable(bottleneck.link);
            let from = if is_predictable { now } else { before };
            let bytes = network.capacity_bytes(bottleneck.link, from, from + self.slot);
            if !is_predictable && bytes.get() == 0 && before < now {
                bottleneck.note_zero_capacity(before, now);
            }
            bottleneck.capacity_bps = Rate::of(bytes, self.slot).bits_per_second();
            bottleneck.forwarded_bytes = 0;
        }
    }

    /// Returns the outages of the radio on the way from one host to another.
    pub(crate) fn outages(&self, from: HostId, to: HostId) -> impl Iterator<Item = PathOutage> {
        let ue = |host| self.ues.iter().position(|ue| *ue == host);
        let links = [ue(to).map(|ue| 2 * ue), ue(from).map(|ue| 2 * ue + 1)];
        let links = links.into_iter().flatten();
        links.flat_map(|index| self.links[index].zero_capacity.iter().copied())
    }

    /// Returns whether a bottleneck is the one from its UE.
    pub(crate) fn is_uplink(&self, index: usize) -> bool {
        index % 2 == 1
    }

    /// Returns the number of the UE of a bottleneck.
    pub(crate) fn number(&self, index: usize) -> u32 {
        index as u32 / 2
    }

    /// Counts bytes that `link` carries; returns its number, or `None` if it is no bottleneck.
    #[inline]
    pub(crate) fn count_forwarded(&mut self, link: LinkId, bytes: u32) -> Option<usize> {
        let result = self.by_link.get(link.0 as usize)?;
        let index = (*result)?;
        self.links[index].forwarded_bytes += u64::from(bytes);
        Some(index)
    }

    /// Returns the bytes that a bottleneck could have carried from `from` to `now`, at the IP layer.
    pub(crate) fn capacity_bytes(
        &self,
        index: usize,
        from: Instant,
        now: Instant,
        network: &Network,
    ) -> u64 {
        network
            .capacity_bytes(self.links[index].link, from, now)
            .get()
    }

    /// Returns what of a capacity of `all` bytes others have left to a connection of which it carried `own` bytes.
    pub(crate) fn left_for(&self, index: usize, own: u64, all: u64) -> u64 {
        all.saturating_sub(self.links[index].forwarded_bytes - own)
    }

    /// Returns the capacity of a bottleneck in the present slot, bit/s.
    pub(crate) fn capacity_bps(&self, index: usize) -> u64 {
        self.links[index].capacity_bps
    }

    /// Returns what waits at a bottleneck.
    pub(crate) fn queue(&self, index: usize, network: &Network) -> Backlog {
        network.queue(self.links[index].link)
    }
}
