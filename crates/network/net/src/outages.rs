//! Outages of a path: the times in which its wires have no capacity from one node to another, whatever the traffic.

use link_trace::Outage;
use units::{Duration, Instant};

use crate::loss::outages as loss_outages;
use crate::routing::Routes;
use crate::{HostId, LinkCapacity, LinkId, Topology};

/// Reason why nothing passes a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutageCause {
    /// It has no capacity: packets wait.
    Capacity,
    /// It loses all that it transmits.
    Loss,
}

/// Time in which nothing passes a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathOutage {
    /// First moment.
    pub start: Instant,
    /// Moment at which something can pass again; [`Instant::NEVER`] if it does not end.
    pub end: Instant,
    /// Why.
    pub cause: OutageCause,
}

impl PathOutage {
    fn new(outage: Outage, cause: OutageCause) -> Self {
        let Outage { start, end } = outage;
        Self { start, end, cause }
    }
}

/// Outages of the wires of a path. Those of the radio are not known in advance.
#[derive(Clone, Debug)]
pub struct PathOutages {
    routes: Routes,
    /// Node to which each link leads, and its outages.
    links: Vec<(HostId, Vec<PathOutage>)>,
}

impl PathOutages {
    /// Returns the outages of the links of `topology` in a run with `seed` that begin before `until` and last for at least
    /// `min_length`.
    pub fn new(
        topology: &Topology,
        seed: u64,
        until: Instant,
        min_length: Duration,
    ) -> Result<Self, String> {
        let links = topology.links.iter().zip(0..).map(|(link, index)| {
            let mut outages = capacity_outages(&link.capacity, until, min_length);
            if !matches!(link.capacity, LinkCapacity::Radio { .. }) {
                let blackouts = link.blackouts.iter().map(|blackout| Outage {
                    start: Instant::ZERO + blackout.at,
                    end: Instant::ZERO + blackout.at + blackout.duration,
                });
                let counts =
                    |outage: &Outage| outage.start < until && outage.is_at_least(min_length);
                let lost = loss_outages(&link.loss, seed, LinkId(index), until, min_length);
                let lost = lost.into_iter().chain(blackouts.filter(counts));
                outages.extend(lost.map(|outage| PathOutage::new(outage, OutageCause::Loss)));
            }
            (link.to, outages)
        });
        Ok(Self {
            links: links.collect(),
            routes: Routes::new(topology)?,
        })
    }

    /// Replaces the outages from `now` on by those of a changed topology.
    pub fn change(&mut self, now: Instant, changed: &Self) {
        for ((_, outages), (_, later)) in self.links.iter_mut().zip(&changed.links) {
            outages.retain(|outage| outage.start < now);
            for outage in outages.iter_mut() {
                outage.end = outage.end.min(now);
            }
            let later = later.iter().filter(|outage| outage.end > now);
            outages.extend(later.map(|outage| PathOutage {
                start: outage.start.max(now),
                ..*outage
            }));
        }
    }

    /// Returns the outages on the path from one node to another, in the order of time.
    pub fn between(&self, from: HostId, to: HostId) -> Vec<PathOutage> {
        let links = self.links_between(from, to);
        let mut outages: Vec<_> = links
            .flat_map(|link| self.links[link.0 as usize].1.iter().copied())
            .collect();
        outages.sort_by_key(|outage| outage.start);
        outages
    }

    /// Returns the number of links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Returns the links on the path from one node to another, in their order.
    pub fn links_between(&self, from: HostId, to: HostId) -> impl Iterator<Item = LinkId> {
        let mut node = from;
        core::iter::from_fn(move || {
            (node != to).then(|| {
                let link = self.routes.next(node, to);
                node = self.links[link.0 as usize].0;
                link
            })
        })
    }
}

fn capacity_outages(
    capacity: &LinkCapacity,
    until: Instant,
    min_length: Duration,
) -> Vec<PathOutage> {
    let mut outages = Vec::new();
    let mut from = Instant::ZERO;
    while let Some(outage) = capacity.next_outage(from, until, min_length) {
        outages.push(PathOutage::new(outage, OutageCause::Capacity));
        from = outage.end;
    }
    outages
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;
    use crate::{Blackout, LinkConfig, Loss};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Two hops each way. The first stands still for 300 ms, the second loses all in two blackouts; on the way back
    /// all is lost.
    #[test]
    fn those_of_all_links_on_the_way_count_in_that_direction() {
        let mut topology = Topology::default();
        let [server, router, phone] = ["server", "router", "phone"].map(|name| topology.node(name));
        let rate = Rate::from_bits_per_second(1_000_000);
        let steady = LinkCapacity::Constant(rate);
        let still = [(0, rate), (200, Rate::default()), (500, rate)]
            .map(|(ms, rate)| (Duration::from_millis(ms), rate));
        let still = LinkCapacity::steps(&still).expect("times rise");
        let mut link = |name, from, to, capacity: &LinkCapacity| {
            let link = LinkConfig::new(name, from, to, capacity.clone(), Duration::ZERO);
            topology.links.push(link);
            topology.links.len() - 1
        };
        link("first", server, router, &still);
        let second = link("second", router, phone, &steady);
        let back = link("back", phone, router, &steady);
        link("last", router, server, &steady);
        let blackout = |at, duration| Blackout {
            at: Duration::from_millis(at),
            duration: Duration::from_millis(duration),
        };
        topology.links[second].blackouts = vec![blackout(100, 250), blackout(900, 50)];
        topology.links[back].loss = Loss::Random(1.0);
        let min_length = Duration::from_millis(100);
        let all = PathOutages::new(&topology, 1, at(1_000), min_length).expect("it is a tree");
        let outage = |start, end, cause| PathOutage {
            start: at(start),
            end,
            cause,
        };
        let there = [
            outage(100, at(350), OutageCause::Loss),
            outage(200, at(500), OutageCause::Capacity),
        ];
        assert_eq!(all.between(server, phone), there);
        let ever = outage(0, Instant::NEVER, OutageCause::Loss);
        assert_eq!(all.between(phone, server), [ever]);
        assert_eq!(all.between(phone, phone), []);
        let links: Vec<_> = all.links_between(server, phone).collect();
        assert_eq!(links, [LinkId(0), LinkId(second as u32)]);
        // From 220 ms on, there are no outages but a later one of the first hop.
        let mut all = all;
        for link in &mut topology.links {
            (link.loss, link.blackouts, link.capacity) = (Loss::NONE, vec![], steady.clone());
        }
        topology.links[0].blackouts = vec![blackout(700, 200)];
        let changed = PathOutages::new(&topology, 1, at(1_000), min_length).expect("it is a tree");
        all.change(at(220), &changed);
        let there = [
            outage(100, at(220), OutageCause::Loss),
            outage(200, at(220), OutageCause::Capacity),
            outage(700, at(900), OutageCause::Loss),
        ];
        assert_eq!(all.between(server, phone), there);
    }
}
