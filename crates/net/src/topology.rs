//! The path as it is configured.

use std::sync::Arc;

use radio::ran::{Direction, UserId};
use trace::Trace;
use units::{Bytes, Duration, Instant, Rate};

use crate::HostId;

/// Nodes and the links between them, which must form a tree with a link in each direction.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Names of the nodes; any of them may be a host.
    pub nodes: Vec<String>,
    /// Directed links.
    pub links: Vec<LinkConfig>,
    /// The radio access network that links of [`Capacity::Radio`] belong to.
    pub radio: Option<radio::ran::RanConfig>,
}

impl Topology {
    /// Adds a node.
    pub fn node(&mut self, name: &str) -> HostId {
        self.nodes.push(name.to_owned());
        HostId(self.nodes.len() as u32 - 1)
    }
}

/// One directed link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkConfig {
    /// Unique name.
    pub name: String,
    /// Where packets enter.
    pub from: HostId,
    /// Where packets leave.
    pub to: HostId,
    /// What it carries.
    pub capacity: Capacity,
    /// Propagation delay.
    pub delay: Duration,
    /// Additional delay that varies from packet to packet.
    pub jitter: Option<Jitter>,
    /// Random loss, of packets that have been transmitted.
    pub loss: Loss,
    /// Largest packet in bytes at the IP layer; larger ones are dropped.
    pub mtu: u32,
    /// Where packets wait; the one in transmission does not count, except between delivery
    /// opportunities, where it waits for the first one that takes it.
    pub queue: QueueConfig,
    /// Traffic that shares this link only.
    pub cross: Vec<CrossTraffic>,
}

impl LinkConfig {
    /// A link without jitter, loss or cross-traffic, for packets of up to 1500 bytes and with a
    /// tail-drop queue that never overflows.
    pub fn new(name: &str, from: HostId, to: HostId, capacity: Capacity, delay: Duration) -> Self {
        Self {
            name: name.to_owned(),
            from,
            to,
            capacity,
            delay,
            jitter: None,
            loss: Loss::None,
            mtu: 1500,
            queue: QueueConfig {
                limit: Limit::Unlimited,
                discipline: DisciplineConfig::DropTail,
            },
            cross: Vec::new(),
        }
    }
}

/// What a link carries. But for the radio, where users share a cell, a function of time alone, never of the
/// traffic.
#[derive(Clone, PartialEq, Debug)]
pub enum Capacity {
    /// Always the same rate.
    Constant(Rate),
    /// A rate from each instant on, the first at [`Instant::ZERO`]; the last one stays.
    Steps(Vec<(Instant, Rate)>),
    /// A trace, begun `offset` into it.
    Trace {
        /// The trace.
        trace: Arc<Trace>,
        /// Where in it the run begins.
        offset: Duration,
    },
    /// What the radio access network carries for one of its users. It has its own queues, so that the
    /// link's limit, discipline, loss and jitter are of no effect; its delay is zero.
    Radio {
        /// The user.
        user: UserId,
        /// To the user or from it.
        direction: Direction,
    },
}

/// Additional delay of each packet, never negative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// How it is distributed.
    pub distribution: JitterDistribution,
    /// Whether packets may overtake each other. If not, one waits for those before it.
    pub reorder: bool,
}

/// A distribution of delays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum JitterDistribution {
    /// From zero up to, not including, `max`.
    Uniform {
        /// Upper end.
        max: Duration,
    },
    /// Normal, where negative values become zero.
    Normal {
        /// Mean before that.
        mean: Duration,
        /// Standard deviation before that.
        deviation: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

/// Random loss. Probabilities are from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each packet on its own.
    Random {
        /// Probability.
        probability: f64,
    },
    /// Two states, changing from packet to packet (Gilbert, BSTJ 39(5), 1960; Elliott, BSTJ 42(5),
    /// 1963). Starts good.
    GilbertElliott {
        /// Probability of going from good to bad.
        p: f64,
        /// Probability of going from bad to good.
        r: f64,
        /// Loss probability while good.
        loss_good: f64,
        /// Loss probability while bad.
        loss_bad: f64,
    },
}

/// Where packets wait.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueConfig {
    /// How much may wait.
    pub limit: Limit,
    /// Who goes next, and who has to go.
    pub discipline: DisciplineConfig,
}

/// How much may wait in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Bytes at the IP layer.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
    /// No limit.
    Unlimited,
}

/// A queue discipline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DisciplineConfig {
    /// First in, first out; who does not fit is dropped.
    DropTail,
    /// First in, first out; ECN-capable packets that find more bytes waiting are marked (RFC 8257 §3.1).
    Threshold {
        /// K, bytes at the IP layer.
        mark_above: Bytes,
    },
    /// RFC 8289.
    Codel(CodelConfig),
    /// RFC 8290.
    FqCodel(FqCodelConfig),
    /// RFC 8033.
    Pie(PieConfig),
}

/// Parameters of CoDel; the default is that of RFC 8289 §5.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    /// Acceptable standing delay.
    pub target: Duration,
    /// How long the delay may stay above it.
    pub interval: Duration,
    /// Mark ECN-capable packets where others are dropped.
    pub ecn: bool,
}

impl Default for CodelConfig {
    fn default() -> Self {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        Self {
            target,
            interval,
            ecn: false,
        }
    }
}

/// Parameters of FQ-CoDel; the default is that of RFC 8290 §5.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelConfig {
    /// CoDel in each sub-queue.
    pub codel: CodelConfig,
    /// Sub-queues that flows are hashed to.
    pub flows: u32,
    /// Bytes per turn.
    pub quantum: u32,
}

impl Default for FqCodelConfig {
    fn default() -> Self {
        let codel = CodelConfig {
            ecn: true,
            ..CodelConfig::default()
        };
        Self {
            codel,
            flows: 1024,
            quantum: 1514,
        }
    }
}

/// Parameters of PIE; the default is that of RFC 8033 §4.2 and §5.1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieConfig {
    /// Wanted queueing delay.
    pub target: Duration,
    /// Time between updates of the drop probability.
    pub tupdate: Duration,
    /// Length of a burst that passes after quiet times.
    pub max_burst: Duration,
    /// Weight of the distance from the target, in 1/s.
    pub alpha: f64,
    /// Weight of the change of the delay, in 1/s.
    pub beta: f64,
    /// Mark ECN-capable packets while the drop probability is at most a tenth.
    pub ecn: bool,
}

impl Default for PieConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(15),
            max_burst: Duration::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
        }
    }
}

/// A source of packets that enter at a link and leave behind it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CrossTraffic {
    /// Rate while on.
    pub rate: Rate,
    /// Bytes per packet at the IP layer.
    pub packet_size: u32,
    /// When it is on.
    pub pattern: Pattern,
    /// First packet.
    pub start: Instant,
    /// No packet from here on; [`Instant::NEVER`] for no end.
    pub stop: Instant,
}

/// When a source is on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// Always.
    Constant,
    /// In turns, on first. Each turn sends one packet at least.
    OnOff {
        /// Time on.
        on: Times,
        /// Time off.
        off: Times,
    },
}

/// A distribution of times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Times {
    /// Always the same.
    Constant(Duration),
    /// Anything between.
    Uniform {
        /// Lower end.
        min: Duration,
        /// Upper end.
        max: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Duration,
    },
    /// Pareto.
    Pareto {
        /// Shortest time.
        min: Duration,
        /// Tail index; the mean is finite above one.
        shape: f64,
    },
    /// Weibull.
    Weibull {
        /// Scale.
        scale: Duration,
        /// Shape; below one the tail is heavy.
        shape: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Median.
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}
