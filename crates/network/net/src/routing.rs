//! Routing: the only path between each two nodes of a tree.

use crate::validate::cycle;
use crate::{HostId, LinkId, Topology};

/// Routes: for each pair of nodes, the link that leads from one towards the other.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    nodes: usize,
    next: Vec<LinkId>,
}

/// Placeholder for the link from a node to itself.
const LOCAL: LinkId = LinkId(u32::MAX);

impl Routes {
    /// Computes the routes. Links must join existing nodes, with one link in each direction.
    pub(crate) fn new(topology: &Topology) -> Result<Self, String> {
        let nodes = topology.nodes.len();
        let mut incoming = vec![Vec::new(); nodes];
        for (index, link) in topology.links.iter().enumerate() {
            incoming[link.to.0 as usize].push((LinkId(index as u32), link.from));
        }
        let mut routes = Self {
            nodes,
            next: vec![LOCAL; nodes * nodes],
        };
        for destination in 0..nodes {
            // The search goes from the destination backwards; a node reached twice has two paths: a cycle.
            let mut queue = vec![(destination, LOCAL)];
            let mut seen = vec![false; nodes];
            seen[destination] = true;
            let mut index = 0;
            while let Some(&(node, link_out)) = queue.get(index) {
                for &(link, from) in &incoming[node] {
                    let from = from.0 as usize;
                    let is_reverse = link_out != LOCAL
                        && topology.links[link_out.0 as usize].to.0 as usize == from;
                    if is_reverse {
                        continue;
                    }
                    if seen[from] {
                        return Err(cycle(&topology.nodes[from]));
                    }
                    seen[from] = true;
                    routes.next[from * nodes + destination] = link;
                    queue.push((from, link));
                }
                index += 1;
            }
            if let Some(node) = seen.iter().position(|seen| !seen) {
                let [from, to] = [node, destination].map(|node| &topology.nodes[node]);
                return Err(format!("there is no way from {from:?} to {to:?}"));
            }
        }
        Ok(routes)
    }

    /// Returns the link from `node` towards `destination`, which is another node.
    pub(crate) fn next(&self, node: HostId, destination: HostId) -> LinkId {
        let link = self.next[node.0 as usize * self.nodes + destination.0 as usize];
        debug_assert!(link != LOCAL, "{node:?} is where the packet should go");
        link
    }
}
