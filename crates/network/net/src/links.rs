//! Links of a network, wires and radio links, and their queues as a middlebox sees them.

use crate::link::Link;
use crate::radio_link::{RadioLink, RanLinks};
use crate::routing::Routes;
use crate::{Backlog, HostId, LinkId};

/// A wire or a link over the radio.
pub(crate) enum LinkKind {
    Wire(Box<Link>),
    Radio(RadioLink),
}

/// Queues of the links that leave a node, for its middlebox.
#[derive(Clone, Copy)]
pub(crate) struct EgressQueues<'a> {
    pub(crate) routes: &'a Routes,
    pub(crate) links: &'a [LinkKind],
    pub(crate) ran_links: Option<&'a RanLinks>,
}

impl EgressQueues<'_> {
    /// Returns what waits at `node` for the link towards `host`, which is another node.
    pub(crate) fn queued(&self, node: HostId, host: HostId) -> Backlog {
        self.backlog(self.routes.next(node, host))
    }

    /// Returns what waits for a link.
    pub(crate) fn backlog(&self, link: LinkId) -> Backlog {
        match (&self.links[link.0 as usize], self.ran_links) {
            (LinkKind::Radio(link), Some(ran_links)) => {
                let (packets, bytes) = ran_links.ran.queued(link.user, link.direction);
                let packets = packets as u64;
                Backlog { bytes, packets } + link.waiting()
            }
            (LinkKind::Radio(link), None) => link.under_way,
            (LinkKind::Wire(link), _) => link.backlog(),
        }
    }
}
