//! Many links.

use net::{HostId, LinkCapacity, LinkConfig, Loss, Network, Topology};
use proptest::prelude::*;
use units::{Duration, Rate};

use crate::lab::{Lab, ms};

fn link(name: &str, from: u32, to: u32) -> LinkConfig {
    let capacity = LinkCapacity::Constant(Rate::from_mbps(100.0));
    LinkConfig::new(
        name,
        HostId(from),
        HostId(to),
        capacity,
        Duration::from_millis(1),
    )
}

/// Nodes and edges, each in both directions.
fn tree(nodes: u32, edges: &[(u32, u32)]) -> Topology {
    let mut topology = Topology::default();
    for node in 0..nodes {
        topology.node(&format!("n{node}"));
    }
    for (from, to) in edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
        topology.links.push(link(&format!("{from}-{to}"), from, to));
    }
    topology
}

fn rejected(topology: &Topology) -> String {
    Network::new(topology, 1)
        .err()
        .expect("it must be rejected")
        .to_string()
}

#[test]
fn names_are_found() {
    let network = Network::new(&tree(3, &[(0, 1), (1, 2)]), 1).unwrap();
    assert_eq!(network.host_id("n2"), Some(HostId(2)));
    assert_eq!(network.host_id("n3"), None);
}

#[test]
fn what_is_no_tree_is_rejected() {
    assert_eq!(
        rejected(&tree(3, &[(0, 1), (1, 2), (2, 0)])),
        "there are two ways from \"n2\": the links must form a tree"
    );
    let parts = rejected(&tree(4, &[(0, 1), (2, 3)]));
    assert_eq!(parts, "there is no way from \"n2\" to \"n0\"");
    let mut one_way = tree(2, &[(0, 1)]);
    one_way.links.pop();
    assert_eq!(rejected(&one_way), "link \"0-1\" has no link back");
    let mut twice = tree(2, &[(0, 1)]);
    twice.links.push(link("again", 0, 1));
    assert_eq!(
        rejected(&twice),
        "links \"0-1\" and \"again\" lead the same way"
    );
    let mut nowhere = tree(2, &[(0, 1)]);
    nowhere.links.push(link("out", 1, 7));
    assert_eq!(
        rejected(&nowhere),
        "link \"out\": node 7 does not exist: there are 2"
    );
    let mut named = tree(2, &[(0, 1)]);
    named.nodes[1] = "n0".to_owned();
    assert_eq!(rejected(&named), "the name \"n0\" is used twice");
}

#[test]
fn values_out_of_range_are_named() {
    let with = |change: fn(&mut LinkConfig)| {
        let mut topology = tree(2, &[(0, 1)]);
        change(&mut topology.links[0]);
        rejected(&topology)
    };
    assert_eq!(
        with(|link| link.loss = Loss::Random(1.5)),
        "link \"0-1\": loss: 1.5 is out of range; allowed: 0 to 1"
    );
    assert_eq!(
        with(|link| link.mtu = 10),
        "link \"0-1\": mtu: 10B is out of range; allowed: 68B to 4294967295B"
    );
    assert_eq!(
        with(|link| link.queue.limit = net::Limit::Packets(0)),
        "link \"0-1\": queue.limit: 0 is out of range; allowed: more than zero"
    );
    assert_eq!(
        with(|link| link.capacity = LinkCapacity::Constant(Rate::ZERO)),
        "link \"0-1\": capacity: the rate is zero all the time: nothing would ever pass"
    );
    let late = [(Duration::from_millis(3), Rate::from_mbps(1.0))];
    assert!(LinkCapacity::steps(&late).is_err());
}

proptest! {
    /// Node n hangs on any node before it: every tree is made so.
    #[test]
    fn every_host_reaches_every_other_over_the_one_way(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 1..9)
    ) {
        let edges: Vec<_> =
            (1..).zip(&parents).map(|(n, parent)| (parent.index(n as usize) as u32, n)).collect();
        let nodes = edges.len() as u32 + 1;
        let ancestors = |mut node: u32| {
            let mut path = vec![node];
            while let Some(&(parent, _)) = edges.iter().find(|&&(_, child)| child == node) {
                path.push(parent);
                node = parent;
            }
            path
        };
        let mut lab = Lab::of(&tree(nodes, &edges), 1);
        let mut hops = Vec::new();
        for (from, to) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
            if from != to {
                let (up, down) = (ancestors(from), ancestors(to));
                let common = up.iter().filter(|node| down.contains(node)).count();
                lab.send_between(ms(100 * hops.len() as u64), (from, to), 0, 100);
                hops.push((up.len() + down.len() - 2 * common) as u64);
            }
        }
        let notes = lab.finish(ms(1_000_000));
        let delays: Vec<_> = notes
            .received
            .iter()
            .map(|&(id, at)| at.saturating_since(ms(100 * id)).as_millis())
            .collect();
        prop_assert_eq!(delays, hops);
    }
}
