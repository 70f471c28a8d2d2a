//! Outages of connections: the times in which nothing passes their paths, whatever the traffic.

use net::{HostId, LinkId, OutageCause, PathOutage, PathOutages};
use results::OutageRow;
use units::{Duration, Instant};

use crate::bottlenecks::Bottlenecks;

/// Outages of the wires from one host to another.
#[derive(Clone, Debug)]
struct WireOutages {
    from: HostId,
    to: HostId,
    outages: Vec<PathOutage>,
}

/// Outages of the paths of connections.
#[derive(Clone, Debug)]
pub(crate) struct OutageLog {
    wires: PathOutages,
    /// Shortest outage that counts.
    min_length: Duration,
    /// Outages of the paths that were added.
    paths: Vec<WireOutages>,
}

impl OutageLog {
    pub(crate) fn new(wires: PathOutages, min_length: Duration) -> Self {
        Self {
            wires,
            min_length,
            paths: Vec::new(),
        }
    }

    /// Replaces the outages from `now` on by those of changed wires.
    pub(crate) fn change(&mut self, now: Instant, changed: &PathOutages) {
        self.wires.change(now, changed);
        for path in &mut self.paths {
            path.outages = self.wires.between(path.from, path.to);
        }
    }

    /// Adds the path from one host to another, unless it is there; returns its index.
    pub(crate) fn add_path(&mut self, from: HostId, to: HostId) -> usize {
        let is_same = |path: &WireOutages| (path.from, path.to) == (from, to);
        let index = self.paths.iter().position(is_same);
        index.unwrap_or_else(|| {
            let outages = self.wires.between(from, to);
            self.paths.push(WireOutages { from, to, outages });
            self.paths.len() - 1
        })
    }

    /// Returns the links from one host to another.
    pub(crate) fn links(&self, from: HostId, to: HostId) -> impl Iterator<Item = LinkId> {
        self.wires.links_between(from, to)
    }

    /// Returns whether a path lost every packet from `from` until `to`.
    pub(crate) fn loses_all(&self, path: usize, from: Instant, to: Instant) -> bool {
        let mut outages = self.paths[path].outages.iter();
        outages.any(|outage| {
            outage.cause == OutageCause::Loss && outage.start <= from && to <= outage.end
        })
    }

    /// Returns the rows of connection `flow` from `sender` to `receiver`; `begin` and `end` are the times of its life.
    pub(crate) fn rows(
        &self,
        flow: u32,
        (sender, receiver): (HostId, HostId),
        (begin, end): (Instant, Instant),
        bottlenecks: &Bottlenecks,
    ) -> Vec<OutageRow> {
        let mut rows = Vec::new();
        for (direction, from, to) in [("data", sender, receiver), ("ack", receiver, sender)] {
            let paths = self
                .paths
                .iter()
                .filter(|path| (path.from, path.to) == (from, to));
            let wires = paths.flat_map(|path| &path.outages).copied();
            let mut outages: Vec<_> = wires
                .chain(bottlenecks.outages(self.links(from, to)))
                .collect();
            outages.sort_by_key(|outage| outage.start);
            rows.extend(outages.iter().filter_map(|outage| {
                let start = outage.start.max(begin);
                let length = outage.end.min(end).saturating_since(start);
                (length >= self.min_length).then(|| OutageRow {
                    flow,
                    t_s: start.as_secs_f64(),
                    duration_s: length.as_secs_f64(),
                    direction: direction.to_owned(),
                    cause: match outage.cause {
                        OutageCause::Capacity => "capacity".to_owned(),
                        OutageCause::Loss => "loss".to_owned(),
                    },
                })
            }));
        }
        rows
    }
}
