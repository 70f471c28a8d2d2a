//! What a topology must be like.

use std::collections::BTreeSet;

use trace::StepsError;
use units::{Bytes, Rate};

use crate::capacity::LinkCapacity;
use crate::{
    Capacity, CrossTraffic, DisciplineConfig, HostId, Limit, LinkConfig, Loss, Pattern, Times,
    Topology,
};

/// Why a topology cannot be.
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
        /// Number of the node.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// Two links from one node to the same other one.
    #[error("links {0:?} and {1:?} lead the same way")]
    Parallel(String, String),
    /// A link without another one back.
    #[error("link {0:?} has no link back")]
    OneWay(String),
    /// There are two ways.
    #[error("there are two ways from {node:?}: the links must form a tree")]
    Cycle {
        /// A node on the cycle.
        node: String,
    },
    /// There is no way.
    #[error("there is no way from {from:?} to {to:?}")]
    Unconnected {
        /// Where a packet would be.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// Steps or rate of a link.
    #[error("link {link:?}: capacity: {error}")]
    Capacity {
        /// The link.
        link: String,
        /// What is wrong.
        error: StepsError,
    },
    /// A user of the radio access network without links in both directions.
    #[error("user {user} of the radio access network has no link in each direction")]
    Unlinked {
        /// The user.
        user: usize,
    },
    /// Any other value.
    #[error("link {link:?}: {field}: {value} must be {allowed}")]
    Value {
        /// The link.
        link: String,
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
}

/// Minimum MTU of IPv4 (RFC 791 §3.2).
const MIN_MTU: u32 = 68;
/// An IPv4 packet with the smallest UDP header.
const MIN_CROSS_PACKET: u32 = 28;
/// FQ-CoDel's sub-queues are kept ready.
const MAX_FLOWS: u32 = 65_536;

/// The capacity of each link, if the topology is one that can be.
pub(crate) fn validate(topology: &Topology) -> Result<Vec<LinkCapacity>, TopologyError> {
    unique(topology.nodes.iter())?;
    unique(topology.links.iter().map(|link| &link.name))?;
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
    users(topology)?;
    topology.links.iter().map(validate_link).collect()
}

/// Each user of the radio access network has a link each way, and no link has another one.
fn users(topology: &Topology) -> Result<(), TopologyError> {
    let users = topology.radio.as_ref().map_or(0, |radio| radio.users.len());
    let mut found = vec![[false; 2]; users];
    for link in &topology.links {
        let Capacity::Radio { user, direction } = link.capacity else {
            continue;
        };
        let place = found
            .get_mut(user as usize)
            .map(|ways| &mut ways[direction as usize]);
        match place {
            Some(taken) if !*taken => *taken = true,
            _ => {
                return Err(TopologyError::Value {
                    link: link.name.clone(),
                    field: "capacity",
                    value: format!("{:?}", link.capacity),
                    allowed: "a user of the radio access network, each way once",
                });
            }
        }
    }
    match found.iter().position(|ways| *ways != [true; 2]) {
        Some(user) => Err(TopologyError::Unlinked { user }),
        None => Ok(()),
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(TopologyError::DuplicateName(name.clone()));
        }
    }
    Ok(())
}

fn validate_link(link: &LinkConfig) -> Result<LinkCapacity, TopologyError> {
    let check = |valid: bool, field: &'static str, value: String, allowed: &'static str| {
        let name = || link.name.clone();
        if valid {
            Ok(())
        } else {
            Err(TopologyError::Value {
                link: name(),
                field,
                value,
                allowed,
            })
        }
    };
    check(
        link.mtu >= MIN_MTU,
        "mtu",
        link.mtu.to_string(),
        "at least 68",
    )?;
    let probabilities = match link.loss {
        Loss::None => vec![],
        Loss::Random { probability } => vec![("loss.probability", probability)],
        Loss::GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        } => vec![
            ("loss.p", p),
            ("loss.r", r),
            ("loss.loss_good", loss_good),
            ("loss.loss_bad", loss_bad),
        ],
    };
    for (field, value) in probabilities {
        check(
            (0.0..=1.0).contains(&value),
            field,
            value.to_string(),
            "from 0 to 1",
        )?;
    }
    let empty = matches!(link.queue.limit, Limit::Packets(0))
        || link.queue.limit == Limit::Bytes(Bytes::new(0));
    check(!empty, "queue.limit", "0".to_owned(), "more than zero")?;
    match link.queue.discipline {
        DisciplineConfig::FqCodel(fq) => {
            let flows = (1..=MAX_FLOWS).contains(&fq.flows);
            check(
                flows,
                "queue.flows",
                fq.flows.to_string(),
                "from 1 to 65536",
            )?;
            check(
                fq.quantum > 0,
                "queue.quantum",
                "0".to_owned(),
                "more than zero",
            )?;
        }
        DisciplineConfig::Pie(pie) => {
            check(
                !pie.tupdate.is_zero(),
                "queue.tupdate",
                "0s".to_owned(),
                "more than zero",
            )?;
            for (field, value) in [("queue.alpha", pie.alpha), ("queue.beta", pie.beta)] {
                let positive = value.is_finite() && value >= 0.0;
                check(positive, field, value.to_string(), "a number from zero")?;
            }
        }
        DisciplineConfig::DropTail
        | DisciplineConfig::Threshold { .. }
        | DisciplineConfig::Codel(_) => {}
    }
    for CrossTraffic {
        rate,
        packet_size,
        pattern,
        ..
    } in &link.cross
    {
        check(
            *rate != Rate::ZERO,
            "cross.rate",
            rate.to_string(),
            "more than zero",
        )?;
        let size = *packet_size >= MIN_CROSS_PACKET;
        check(
            size,
            "cross.packet_size",
            packet_size.to_string(),
            "at least 28",
        )?;
        if let Pattern::OnOff { on, off } = pattern {
            for (field, times) in [("cross.on", on), ("cross.off", off)] {
                check(
                    times.is_valid(),
                    field,
                    format!("{times:?}"),
                    "positive and finite",
                )?;
            }
        }
    }
    LinkCapacity::new(&link.capacity).map_err(|error| TopologyError::Capacity {
        link: link.name.clone(),
        error,
    })
}

impl Times {
    fn is_valid(self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        match self {
            Self::Constant(time) | Self::Exponential { mean: time } => !time.is_zero(),
            Self::Uniform { min, max } => min <= max && !max.is_zero(),
            Self::Pareto { min, shape } => !min.is_zero() && positive(shape),
            Self::Weibull { scale, shape } => !scale.is_zero() && positive(shape),
            Self::Lognormal { median, sigma } => {
                !median.is_zero() && sigma.is_finite() && sigma >= 0.0
            }
        }
    }
}
