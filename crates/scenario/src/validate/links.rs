//! The path, the links beside it, and the tree they make.

use std::collections::BTreeMap;

use units::{Bytes, Duration};

use super::{Wrong, number, positive, refuse, within, wrong};
use crate::model::{
    Buffer, Capacity, Cross, Jitter, JitterDistribution, Loss, Queue, Radio, Scenario, Step,
};
use config::Quantity;

/// Smallest datagram that every host must take (RFC 791), and jumbo frames.
const MTU: (Bytes, Bytes) = (Bytes::new(576), Bytes::new(9000));

pub(super) fn check(scenario: &Scenario) -> Result<(), Wrong> {
    let path = &scenario.path;
    positive("path.rtt", path.rtt)?;
    capacity("path.down", &path.down)?;
    capacity("path.up", &path.up)?;
    within("path.mtu", path.mtu, MTU.0, MTU.1)?;
    buffer("path.buffer", path.buffer, path.mtu)?;
    buffer("path.uplink_buffer", path.uplink_buffer, path.mtu)?;
    queue("path.queue", &path.queue)?;
    loss("path.loss", &path.loss)?;
    loss("path.uplink_loss", &path.uplink_loss)?;
    jitter("path.jitter", path.jitter.as_ref())?;
    cross("path.cross", &path.cross, path.mtu)?;
    if path.wired.is_empty() {
        return refuse(
            "path.wired".to_owned(),
            "the list is empty; allowed: one hop or more".to_owned(),
        );
    }
    let mut names = BTreeMap::new();
    for (index, hop) in path.wired.iter().enumerate() {
        let field = |name: &str| format!("path.wired.{index}.{name}");
        unique(&mut names, &hop.name, field("name"))?;
        capacity(&field("rate"), &hop.rate)?;
        within(field("mtu"), hop.mtu, MTU.0, MTU.1)?;
        buffer(&field("buffer"), hop.buffer, hop.mtu)?;
        queue(&field("queue"), &hop.queue)?;
        loss(&field("loss"), &hop.loss)?;
        jitter(&field("jitter"), hop.jitter.as_ref())?;
        cross(&field("cross"), &hop.cross, hop.mtu)?;
    }
    delays(scenario)?;
    for (index, link) in scenario.links.iter().enumerate() {
        let field = |name: &str| format!("links.{index}.{name}");
        unique(&mut names, &link.name, field("name"))?;
        capacity(&field("rate"), &link.rate)?;
        within(field("mtu"), link.mtu, MTU.0, MTU.1)?;
        buffer(&field("buffer"), link.buffer, link.mtu)?;
        queue(&field("queue"), &link.queue)?;
        loss(&field("loss"), &link.loss)?;
        jitter(&field("jitter"), link.jitter.as_ref())?;
        cross(&field("cross"), &link.cross, link.mtu)?;
    }
    tree(scenario)
}

/// Names appear in results, where they must tell things apart.
pub(super) fn unique<'a>(
    names: &mut BTreeMap<&'a str, String>,
    name: &'a str,
    field: String,
) -> Result<(), Wrong> {
    match names.get(name) {
        Some(first) => refuse(field, format!("{name:?} is already the value of {first}")),
        None => {
            names.insert(name, field);
            Ok(())
        }
    }
}

/// Named delays and half the RTT have to agree.
fn delays(scenario: &Scenario) -> Result<(), Wrong> {
    let (wired, half) = (&scenario.path.wired, scenario.path.rtt / 2);
    let mut named = Duration::ZERO;
    for (index, hop) in wired.iter().enumerate() {
        named += hop.delay.unwrap_or_default();
        if named > half {
            let allowed = format!("delays that add up to half of path.rtt, {half}, at most");
            let delay = hop.delay.unwrap_or_default();
            return wrong(format!("path.wired.{index}.delay"), delay, allowed);
        }
    }
    if named < half && wired.iter().all(|hop| hop.delay.is_some()) {
        let message =
            format!("the delays add up to {named}, but half of path.rtt is {half}; leave one out");
        return refuse(format!("path.wired.{}.delay", wired.len() - 1), message);
    }
    Ok(())
}

fn capacity(field: &str, capacity: &Capacity) -> Result<(), Wrong> {
    match capacity {
        Capacity::Constant { rate } => positive(format!("{field}.rate"), *rate),
        Capacity::Steps { steps: list } => steps(&format!("{field}.steps"), list),
        Capacity::Trace(file) if file.trace.is_empty() => {
            wrong(format!("{field}.trace"), "\"\"", "the name of a file")
        }
        Capacity::Trace(_) => Ok(()),
        Capacity::Generated { generate } => {
            let field = |name: &str| format!("{field}.generate.{name}");
            positive(field("mean"), generate.mean)?;
            number(field("variability"), generate.variability, 0.0, 10.0)?;
            positive(field("correlation"), generate.correlation)?;
            positive(field("period"), generate.period)?;
            if generate.outage_interval.is_zero() {
                return Ok(());
            }
            positive(field("outage_duration"), generate.outage_duration)
        }
    }
}

fn steps(field: &str, steps: &[Step]) -> Result<(), Wrong> {
    match steps.first() {
        None => {
            return refuse(
                field.to_owned(),
                "the list is empty; allowed: one step or more".to_owned(),
            );
        }
        Some(first) if !first.at.is_zero() => {
            return wrong(format!("{field}.0.at"), first.at, "0s for the first step");
        }
        Some(_) => {}
    }
    for (index, pair) in steps.windows(2).enumerate() {
        if pair[1].at <= pair[0].at {
            let allowed = format!("times after the step before, {}", pair[0].at);
            return wrong(format!("{field}.{}.at", index + 1), pair[1].at, allowed);
        }
    }
    if steps.iter().all(|step| step.rate == units::Rate::ZERO) {
        return wrong(
            format!("{field}.0.rate"),
            "0bit/s throughout",
            "some rate above zero",
        );
    }
    Ok(())
}

fn buffer(field: &str, buffer: Buffer, mtu: Bytes) -> Result<(), Wrong> {
    let fits = match buffer {
        Buffer::Bdp(products) => products > 0.0,
        Buffer::Packets(packets) => packets > 0,
        Buffer::Bytes(bytes) => bytes >= mtu,
    };
    if fits {
        Ok(())
    } else {
        wrong(
            field,
            buffer.write(),
            format!("a packet of the MTU, {}, at least", mtu.write()),
        )
    }
}

fn queue(field: &str, queue: &Queue) -> Result<(), Wrong> {
    let field = |name: &str| format!("{field}.{name}");
    match queue {
        Queue::Droptail | Queue::Threshold(_) => Ok(()),
        Queue::Codel(codel) => {
            positive(field("target"), codel.target)?;
            positive(field("interval"), codel.interval)
        }
        Queue::FqCodel(fq) => {
            positive(field("target"), fq.target)?;
            positive(field("interval"), fq.interval)?;
            positive(field("quantum"), fq.quantum)?;
            number(field("flows"), f64::from(fq.flows), 1.0, 65_536.0)
        }
        Queue::Pie(pie) => {
            positive(field("target"), pie.target)?;
            positive(field("update"), pie.update)?;
            number(field("alpha"), pie.alpha, 0.0, 1000.0)?;
            number(field("beta"), pie.beta, 0.0, 1000.0)
        }
    }
}

fn loss(field: &str, loss: &Loss) -> Result<(), Wrong> {
    match loss {
        Loss::Random(probability) => number(field, *probability, 0.0, 1.0),
        Loss::GilbertElliott(model) => [
            ("to_bad", model.to_bad),
            ("to_good", model.to_good),
            ("loss_good", model.loss_good),
            ("loss_bad", model.loss_bad),
        ]
        .into_iter()
        .try_for_each(|(name, value)| number(format!("{field}.{name}"), value, 0.0, 1.0)),
    }
}

fn jitter(field: &str, jitter: Option<&Jitter>) -> Result<(), Wrong> {
    match jitter {
        Some(jitter)
            if jitter.distribution == JitterDistribution::Exponential && !jitter.sd.is_zero() =>
        {
            wrong(
                format!("{field}.sd"),
                jitter.sd,
                "0s for \"exponential\", where it is the mean",
            )
        }
        _ => Ok(()),
    }
}

fn cross(field: &str, cross: &[Cross], mtu: Bytes) -> Result<(), Wrong> {
    for (index, source) in cross.iter().enumerate() {
        super::traffic::check_cross(&format!("{field}.{index}"), source, mtu)?;
    }
    Ok(())
}

/// Every link joins two parts that were apart, and in the end nothing is.
fn tree(scenario: &Scenario) -> Result<(), Wrong> {
    let mut part: BTreeMap<&str, &str> = ["server", "gateway", "phone"]
        .map(|node| (node, "server"))
        .into();
    let ues: Vec<String> = scenario.radio.iter().flat_map(Radio::nodes).collect();
    part.extend(ues.iter().map(|ue| (ue.as_str(), "server")));
    for (index, link) in scenario.links.iter().enumerate() {
        for (name, node) in [("from", &link.from), ("to", &link.to)] {
            if node.is_empty() {
                return wrong(
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
            return refuse(format!("links.{index}.to"), message);
        }
        for joined in part.values_mut().filter(|p| **p == to) {
            *joined = from;
        }
    }
    let of_path = part["server"];
    let apart = scenario
        .links
        .iter()
        .position(|link| part[link.from.as_str()] != of_path);
    match apart {
        Some(index) => refuse(
            format!("links.{index}.from"),
            format!(
                "{:?} is not connected to the path",
                scenario.links[index].from
            ),
        ),
        None => Ok(()),
    }
}
