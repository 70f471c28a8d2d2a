//! Validator of topologies.

use std::collections::BTreeSet;

use config::{FieldContext, FieldError, check_each, check_range, invalid_value};
use link_trace::StepsError;
use units::{Bytes, Rate};

use crate::{Blackout, HostId, Jitter, Limit, LinkCapacity, LinkConfig, Topology};

/// Minimum MTU of IPv4 (RFC 791 §3.2).
const MIN_MTU: Bytes = Bytes::new(68);

/// Checks the topology.
pub(crate) fn validate(topology: &Topology) -> Result<(), String> {
    check_unique_names(topology.nodes.iter())?;
    check_unique_names(topology.links.iter().map(|link| &link.name))?;
    let nodes = topology.nodes.len();
    for link in &topology.links {
        for HostId(node) in [link.from, link.to] {
            if node as usize >= nodes {
                let link = &link.name;
                return Err(format!(
                    "link {link:?}: node {node} does not exist: there are {nodes}"
                ));
            }
        }
    }
    for (index, link) in topology.links.iter().enumerate() {
        if let Some(other) = topology.links[..index]
            .iter()
            .find(|other| (other.from, other.to) == (link.from, link.to))
        {
            let (first, second) = (&other.name, &link.name);
            return Err(format!("links {first:?} and {second:?} lead the same way"));
        }
        if link.from == link.to {
            return Err(cycle(&topology.nodes[link.to.0 as usize]));
        }
        if !topology
            .links
            .iter()
            .any(|other| (other.to, other.from) == (link.from, link.to))
        {
            return Err(format!("link {:?} has no link back", link.name));
        }
    }
    check_users(topology)?;
    topology.links.iter().try_for_each(validate_link)
}

/// Checks that each user of the radio access network has one link in each direction, and that links have no other users.
fn check_users(topology: &Topology) -> Result<(), String> {
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
                let error = FieldError {
                    field: "capacity".to_owned(),
                    message: format!(
                        "{:?} must be a user of the radio access network, each way once",
                        link.capacity
                    ),
                };
                return Err(format!("link {:?}: {error}", link.name));
            }
        }
    }
    match has_link
        .iter()
        .position(|directions| *directions != [true; 2])
    {
        Some(user) => Err(format!(
            "user {user} of the radio access network has no link in each direction"
        )),
        None => Ok(()),
    }
}

/// Returns the error of a node from which two ways lead to another one.
pub(crate) fn cycle(node: &str) -> String {
    format!("there are two ways from {node:?}: the links must form a tree")
}

fn check_unique_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("the name {name:?} is used twice"));
        }
    }
    Ok(())
}

/// Checks the values of a link, which need not come from a file.
fn validate_link(link: &LinkConfig) -> Result<(), String> {
    if link.capacity == LinkCapacity::Constant(Rate::ZERO) {
        let (link, error) = (&link.name, StepsError::AllZero);
        return Err(format!("link {link:?}: capacity: {error}"));
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
    check().map_err(|error| format!("link {:?}: {error}", link.name))
}
