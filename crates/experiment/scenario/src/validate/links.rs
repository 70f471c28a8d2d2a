//! Checks of the path, of further links, and of the tree that they form.

use std::collections::BTreeMap;

use units::{Bytes, Duration};

use crate::model::{
    Blackout, Buffer, Capacity, Cross, Jitter, Loss, Path, Policer, Queue, Radio, Scenario,
};
use config::{
    FieldContext, FieldError, changed_fields, check_each, check_positive, check_range,
    invalid_value, reject,
};

/// Limits of the MTU: the smallest `tcp.mss` with its headers, and jumbo frames. RFC 791 allows links of 68 bytes, but
/// an ACK with three blocks of SACK has 80, and celltcp does not fragment.
const MTU: (Bytes, Bytes) = (Bytes::new(128), Bytes::new(9000));

/// Name of the link to the phone, without its direction.
const ACCESS_LINK: &str = "access";

pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let path = &scenario.path;
    ue_names(scenario)?;
    path_itself(path).in_table("path")?;
    let access = access_links(scenario);
    let mut names = access.iter().map(|name| (name.as_str(), None)).collect();
    for (index, hop) in path.wired.iter().enumerate() {
        let field = format!("path.wired.{index}");
        link_name(&mut names, &hop.name, format!("{field}.name"))?;
        wire(&hop.rate, (&hop.buffer, &hop.queue, hop.mtu))
            .and_then(|()| impairments(&hop.loss, &hop.jitter, &hop.cross_traffic, hop.mtu))
            .and_then(|()| interruptions(&hop.blackouts, hop.policer.as_ref(), hop.mtu))
            .in_table(field)?;
    }
    delays(scenario)?;
    for (index, link) in scenario.links.iter().enumerate() {
        let field = format!("links.{index}");
        link_name(&mut names, &link.name, format!("{field}.name"))?;
        wire(&link.rate, (&link.buffer, &link.queue, link.mtu))
            .and_then(|()| impairments(&link.loss, &link.jitter, &link.cross_traffic, link.mtu))
            .and_then(|()| interruptions(&link.blackouts, link.policer.as_ref(), link.mtu))
            .in_table(field)?;
    }
    tree(scenario)
}

/// Checks that no UE has the name of a node of the path, or of the links to the phone.
fn ue_names(scenario: &Scenario) -> Result<(), FieldError> {
    let inner = scenario.path.inner_nodes();
    let ues = scenario.radio.iter().flat_map(|radio| &radio.ues);
    for (index, ue) in ues.enumerate() {
        let field = || format!("radio.ues.{index}.name");
        for name in ue.nodes() {
            if inner.contains(&name) {
                return reject(
                    field(),
                    format!("{name:?} is a node of the path; choose another name"),
                );
            }
            if name == ACCESS_LINK {
                let message = format!("{name:?} is the name of the phone's link; choose another");
                return reject(field(), message);
            }
        }
    }
    Ok(())
}

/// Returns the names of access links, which no other link can have.
fn access_links(scenario: &Scenario) -> Vec<String> {
    let ues = scenario.radio.iter().flat_map(Radio::nodes);
    ues.chain([ACCESS_LINK.to_owned()])
        .filter(|name| name != "phone")
        .collect()
}

/// Checks that no other link has the name of this one; access links have no field for it.
fn link_name<'a>(
    names: &mut BTreeMap<&'a str, Option<String>>,
    name: &'a str,
    field: String,
) -> Result<(), FieldError> {
    let used = match names.get(name) {
        Some(Some(first)) => format!("already the value of {first}"),
        Some(None) => "the name of an access link; choose another".to_owned(),
        None => {
            names.insert(name, Some(field));
            return Ok(());
        }
    };
    reject(field, format!("{name:?} is {used}"))
}

/// Rejects fields of the path's access link where the radio takes its place.
pub(super) fn access_link(path: &Path) -> Result<(), FieldError> {
    let allowed = [
        "rtt",
        "mtu",
        "queue",
        "uplink_queue",
        "wired",
        "middleboxes",
    ];
    let mut set = changed_fields(path).into_iter();
    match set.find(|(name, _)| !allowed.contains(&name.as_str())) {
        Some((name, _)) => reject(
            format!("path.{name}"),
            "the access link is the radio's; leave this out, or the section radio",
        ),
        None => Ok(()),
    }
}

fn path_itself(path: &Path) -> Result<(), FieldError> {
    check_positive("rtt", path.rtt)?;
    path.down.check().in_table("down")?;
    path.up.check().in_table("up")?;
    check_range("mtu", path.mtu, MTU.0, MTU.1)?;
    path.buffer.check(path.mtu).in_table("buffer")?;
    path.uplink_buffer
        .check(path.mtu)
        .in_table("uplink_buffer")?;
    path.queue.check().in_table("queue")?;
    let uplink_queue = path.uplink_queue.as_ref();
    uplink_queue
        .map_or(Ok(()), Queue::check)
        .in_table("uplink_queue")?;
    path.uplink_loss.check().in_table("uplink_loss")?;
    impairments(&path.loss, &path.jitter, &path.cross_traffic, path.mtu)?;
    interruptions(&path.blackouts, path.policer.as_ref(), path.mtu)?;
    if path.wired.is_empty() {
        return reject("wired", "the list is empty; allowed: one hop or more");
    }
    Ok(())
}

fn wire(rate: &Capacity, (buffer, queue, mtu): (&Buffer, &Queue, Bytes)) -> Result<(), FieldError> {
    rate.check().in_table("rate")?;
    check_range("mtu", mtu, MTU.0, MTU.1)?;
    buffer.check(mtu).in_table("buffer")?;
    queue.check().in_table("queue")
}

fn impairments(
    loss: &Loss,
    jitter: &Option<Jitter>,
    cross: &[Cross],
    mtu: Bytes,
) -> Result<(), FieldError> {
    loss.check().in_table("loss")?;
    jitter
        .as_ref()
        .map_or(Ok(()), Jitter::check)
        .in_table("jitter")?;
    check_each("cross_traffic", cross, |cross| cross.check(mtu))
}

fn interruptions(
    blackouts: &[Blackout],
    policer: Option<&Policer>,
    mtu: Bytes,
) -> Result<(), FieldError> {
    Blackout::check(blackouts).in_table("blackouts")?;
    policer
        .map_or(Ok(()), |policer| policer.check(mtu))
        .in_table("policer")
}

/// Checks that named delays and half the RTT agree.
fn delays(scenario: &Scenario) -> Result<(), FieldError> {
    let (wired, half) = (&scenario.path.wired, scenario.path.rtt / 2);
    let mut named = Duration::ZERO;
    for (index, hop) in wired.iter().enumerate() {
        named += hop.delay.unwrap_or_default();
        if named > half {
            let allowed = format!("delays that add up to half of path.rtt, {half}, at most");
            let delay = hop.delay.unwrap_or_default();
            return invalid_value(format!("path.wired.{index}.delay"), delay, allowed);
        }
    }
    if named < half && wired.iter().all(|hop| hop.delay.is_some()) {
        let message =
            format!("the delays add up to {named}, but half of path.rtt is {half}; leave one out");
        return reject(format!("path.wired.{}.delay", wired.len() - 1), message);
    }
    Ok(())
}

/// Checks that the links form a tree: each joins two separate parts, and in the end all nodes are joined.
fn tree(scenario: &Scenario) -> Result<(), FieldError> {
    let mut part: BTreeMap<&str, &str> = ["server", "gateway", "phone"]
        .map(|node| (node, "server"))
        .into();
    let ues: Vec<String> = scenario.radio.iter().flat_map(Radio::nodes).collect();
    let inner = scenario.path.inner_nodes();
    let known = ues.iter().chain(&inner);
    part.extend(known.map(|node| (node.as_str(), "server")));
    for (index, link) in scenario.links.iter().enumerate() {
        for (name, node) in [("from", &link.from), ("to", &link.to)] {
            if node.is_empty() {
                return invalid_value(
                    format!("links.{index}.{name}"),
                    "\"\"",
                    "the name of a node",
                );
            }
        }
        let from = *part.entry(&link.from).or_insert(&link.from);
        let to = *part.entry(&link.to).or_insert(&link.to);
        if from == to {
            let message = format!(
                "{:?} and {:?} are already connected; allowed: links that make a tree with the path",
                link.from, link.to
            );
            return reject(format!("links.{index}.to"), message);
        }
        for joined in part.values_mut().filter(|p| **p == to) {
            *joined = from;
        }
    }
    let of_path = part["server"];
    let disconnected = scenario
        .links
        .iter()
        .position(|link| part[link.from.as_str()] != of_path);
    match disconnected {
        Some(index) => reject(
            format!("links.{index}.from"),
            format!(
                "{:?} is not connected to the path",
                scenario.links[index].from
            ),
        ),
        None => Ok(()),
    }
}
