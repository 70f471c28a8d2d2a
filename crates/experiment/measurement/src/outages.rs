//! Outages of connections: the times in which their paths have no capacity, whatever the traffic.

use net::{HostId, LinkId, OutageCause, PathOutage, PathOutages};
use results::OutageRow;
use units::{Duration, Instant};

use crate::bottlenecks::Bottlenecks;

/// Outages on the ways between pairs of hosts.
#[derive(Clone, Debug)]
pub(crate) struct OutageLog {
    wires: PathOutages,
    /// Shortest outage that counts.
    min_length: Duration,
    /// Those of the wires from one host to another, of the pairs that were asked for.
    ways: Vec<((HostId, HostId), Vec<PathOutage>)>,
}

impl OutageLog {
    pub(crate) fn new(wires: PathOutages, min_length: Duration) -> Self {
        let ways = Vec::new();
        Self {
            wires,
            min_length,
            ways,
        }
    }

    /// Goes over to the outages of changed wires at `now`.
    pub(crate) fn change(&mut self, now: Instant, changed: &PathOutages) {
        self.wires.change(now, changed);
        for ((from, to), outages) in &mut self.ways {
            *outages = self.wires.between(*from, *to);
        }
    }

    /// Returns the number of the way from one host to another.
    pub(crate) fn way(&mut self, from: HostId, to: HostId) -> usize {
        let known = self.ways.iter().position(|(pair, _)| *pair == (from, to));
        known.unwrap_or_else(|| {
            let outages = self.wires.between(from, to);
            self.ways.push(((from, to), outages));
            self.ways.len() - 1
        })
    }

    /// Returns the links on the way from one host to another.
    pub(crate) fn links(&self, from: HostId, to: HostId) -> impl Iterator<Item = LinkId> {
        self.wires.links_between(from, to)
    }

    /// Returns whether all was lost on a way from `from` until `to`.
    pub(crate) fn loses_all(&self, way: usize, from: Instant, to: Instant) -> bool {
        let lost = |each: &&PathOutage| each.cause == OutageCause::Loss;
        let mut lost = self.ways[way].1.iter().filter(lost);
        lost.any(|each| each.start <= from && to <= each.end)
    }

    /// Returns the rows of connection `flow`, which lives from `alive.0` to `alive.1`.
    pub(crate) fn rows(
        &self,
        flow: u32,
        hosts: (HostId, HostId),
        alive: (Instant, Instant),
        bottlenecks: &Bottlenecks,
    ) -> Vec<OutageRow> {
        let ways = [("data", hosts), ("ack", (hosts.1, hosts.0))];
        let mut rows = Vec::new();
        for (direction, (from, to)) in ways {
            let wires = self.ways.iter().filter(|(pair, _)| *pair == (from, to));
            let wires = wires.flat_map(|(_, outages)| outages).copied();
            let mut outages: Vec<_> = wires.chain(bottlenecks.outages(from, to)).collect();
            outages.sort_by_key(|each| each.start);
            rows.extend(outages.iter().filter_map(|each| {
                let (start, end) = (each.start.max(alive.0), each.end.min(alive.1));
                let length = end.saturating_since(start);
                (length >= self.min_length).then(|| OutageRow {
                    flow,
                    t_s: start.as_secs_f64(),
                    duration_s: length.as_secs_f64(),
                    direction: direction.to_owned(),
                    cause: match each.cause {
                        OutageCause::Capacity => "capacity".to_owned(),
                        OutageCause::Loss => "loss".to_owned(),
                    },
                })
            }));
        }
        rows
    }
}
