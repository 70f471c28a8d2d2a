//! Validator of topologies.

use std::collections::BTreeSet;

use config::{FieldContext, FieldError, check_each, check_range, invalid_value};
use link_trace::StepsError;
use units::{Bytes, Rate};

use crate::{Blackout, HostId, Jitter, Limit, LinkCapacity, LinkConfig, Topology};

/// Error of a topology.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TopologyError {
    /// Two nodes or two links have the same name.
    #[error("the name {0:?} is used twice")]
    DuplicateName(String),
    /// A middlebox is placed at a node that does not exist.
    #[error("node {name:?} does not exist: there are {nodes}")]
    NoNode {
        /// The name given.
        name: String,
        /// Names of the nodes.
        nodes: String,
    },
    /// A link begins or ends at a node that is not there.
    #[error("link {link:?}: node {node} does not exist: there are {nodes}")]
    UnknownNode {
        /// The link.
        link: String,
        /// Index of the node.
        node: u32,
        /// Number of them.
        nodes: usize,
    },
    /// Two links from one node to the same other one.
    #[error("links {0:?} and {1:?} lead the same way")]
    Parallel(String, String),
    /// A link without another one back.
    #[error("link {0:?} has no link back")]
    OneWay(String),
    /// Two ways lead from one node to another.
    #[error("there are two ways from {node:?}: the links must form a tree")]
    Cycle {
        /// A node on the cycle.
        node: String,
    },
    /// No way leads from one node to another.
    #[error("there is no way from {from:?} to {to:?}")]
    Unconnected {
        /// Node of a packet.
        from: String,
        /// Its destination.
        to: String,
    },
    /// Steps or rate of a link.
    #[error("link {link:?}: capacity: {error}")]
    Capacity {
        /// The link.
        link: String,
        /// The error.
        error: StepsError,
    },
    /// A user of the radio access network without links in both directions.
    #[error("user {user} of the radio access network has no link in each direction")]
    Unlinked {
        /// The user.
        user: usize,
    },
    /// Any other value.
    #[error("link {link:?}: {error}")]
    Value {
        /// The link.
        link: String,
        /// The field, its value and what is allowed.
        error: FieldError,
    },
}

/// Minimum MTU of IPv4 (RFC 791 §3.2).
const MIN_MTU: Bytes = Bytes::new(68);

/// Checks the topology.
pub(crate) fn validate(topology: &Topology) -> Result<(), TopologyError> {
    check_unique_names(topology.nodes.iter())?;
    check_unique_names(topology.links.iter().map(|link| &link.name))?;
    let nodes = topology.nodes.len();
    for link in &topology.links {
        for HostId(node) in [link.from, link.to] {
            if node as usize >= nodes {
                return Err(TopologyError::UnknownNode {
                    link: link.name.clone(),
                    node,
                    nodes,
                });
            }
        }
    }
    for (index, link) in topology.links.iter().enumerate() {
        if let Some(other) = topology.links[..index]
            .iter()
            .find(|other| (other.from, other.to) == (link.from, link.to))
        {
            return Err(TopologyError::Parallel(
                other.name.clone(),
                link.name.clone(),
            ));
        }
        if link.from == link.to {
            return Err(TopologyError::Cycle {
                node: topology.nodes[link.to.0 as usize].clone(),
            });
        }
        if !topology
            .links
            .iter()
            .any(|other| (other.to, other.from) == (link.from, link.to))
        {
            return Err(TopologyError::OneWay(link.name.clone()));
        }
    }
    check_users(topology)?;
    topology.links.iter().try_for_each(validate_link)
}

/// Checks that each user of the radio access network has one link in each direction, and that links have no other users.
fn check_users(topology: &Topology) -> Result<(), TopologyError> {
    let users = topology.radio.as_ref().map_or(0, |radio| radio.users.len());
    let mut has_link = vec![[false; 2]; users];
    for link in &topology.links {
        let LinkCapacity::Radio { user, direction } = link.capacity else {
            continue;
        };
        let has_user_link = has_link
            .get_mut(user as usize)
            .map(|directions| &mut directions[direction as usize]);
        match has_user_link {
            Some(has_link) if !*has_link => *has_link = true,
            _ => {
                return Err(TopologyError::Value {
                    link: link.name.clone(),
                    error: FieldError {
                        field: "capacity".to_owned(),
                        message: format!(
                            "{:?} must be a user of the radio access network, each way once",
                            link.capacity
                        ),
                    },
                });
            }
        }
    }
    match has_link
        .iter()
        .position(|directions| *directions != [true; 2])
    {
        Some(user) => Err(TopologyError::Unlinked { user }),
        None => Ok(()),
    }
}

fn check_unique_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(TopologyError::DuplicateName(name.clone()));
        }
    }
    Ok(())
}

/// Checks the values of a link, which need not come from a file.
fn validate_link(link: &LinkConfig) -> Result<(), TopologyError> {
    if link.capacity == LinkCapacity::Constant(Rate::ZERO) {
        return Err(TopologyError::Capacity {
            link: link.name.clone(),
            error: StepsError::AllZero,
        });
    }
    let mtu = Bytes::new(u64::from(link.mtu));
    let check = || {
        check_range("mtu", mtu, MIN_MTU, Bytes::new(u64::from(u32::MAX)))?;
        link.loss.check().in_table("loss")?;
        Blackout::check(&link.blackouts).in_table("blackouts")?;
        let policer = link.policer.as_ref();
        policer
            .map_or(Ok(()), |policer| policer.check(mtu))
            .in_table("policer")?;
        link.jitter
            .as_ref()
            .map_or(Ok(()), Jitter::check)
            .in_table("jitter")?;
        let no_bytes = Limit::Bytes(Bytes::new(0));
        if link.queue.limit == Limit::Packets(0) || link.queue.limit == no_bytes {
            invalid_value("queue.limit", 0, "more than zero")?;
        }
        link.queue.discipline.check().in_table("queue")?;
        check_each("cross", &link.cross, |cross| cross.check(mtu))
    };
    check().map_err(|error| TopologyError::Value {
        link: link.name.clone(),
        error,
    })
}
