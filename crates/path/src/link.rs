//! One link: from the scenario's words to those of the network.

use net::{
    CodelConfig, CrossTraffic, DisciplineConfig, FqCodelConfig, HostId, JitterDistribution, Limit,
    LinkConfig, Pattern, PieConfig, QueueConfig, Times,
};
use scenario::{Buffer, Cross, Distribution, Jitter, Loss, Queue};
use units::{Duration, Instant, Rate};

use crate::PlanError;

/// What is common to the links of a scenario.
pub(crate) struct LinkParts<'a> {
    pub(crate) name: String,
    pub(crate) ends: (HostId, HostId),
    pub(crate) capacity: net::Capacity,
    pub(crate) mean: Rate,
    pub(crate) rtt: Duration,
    pub(crate) delay: Duration,
    pub(crate) jitter: Option<&'a Jitter>,
    pub(crate) loss: &'a Loss,
    pub(crate) mtu: u32,
    pub(crate) buffer: Buffer,
    pub(crate) queue: &'a Queue,
    pub(crate) cross: &'a [Cross],
}

impl LinkParts<'_> {
    pub(crate) fn build(self) -> Result<LinkConfig, PlanError> {
        let (from, to) = self.ends;
        let mut link = LinkConfig::new(&self.name, from, to, self.capacity, self.delay);
        if let Some(jitter) = self.jitter {
            let (least, distribution) = jitter_of(jitter);
            link.delay += least;
            link.jitter = Some(net::Jitter {
                distribution,
                reorder: jitter.reorder,
            });
        }
        link.loss = loss_of(self.loss);
        link.mtu = self.mtu;
        link.queue = QueueConfig {
            limit: match self.buffer.on(self.mean, self.rtt) {
                // One packet always fits, or nothing would ever pass.
                Buffer::Bytes(bytes) => Limit::Bytes(bytes.max(units::Bytes::new(self.mtu.into()))),
                Buffer::Packets(packets) => Limit::Packets(packets.max(1)),
                Buffer::Bdp(_) => unreachable!("a buffer on a link is in bytes or packets"),
            },
            discipline: discipline_of(self.queue),
        };
        link.cross = self
            .cross
            .iter()
            .map(|cross| cross_of(cross, self.mtu, &self.name))
            .collect::<Result<_, _>>()?;
        Ok(link)
    }
}

/// The least additional delay, and what comes on top of it.
fn jitter_of(jitter: &Jitter) -> (Duration, JitterDistribution) {
    let (mean, deviation) = (jitter.mean, jitter.sd);
    match jitter.distribution {
        scenario::JitterDistribution::Normal => (
            Duration::ZERO,
            JitterDistribution::Normal { mean, deviation },
        ),
        scenario::JitterDistribution::Exponential => {
            (Duration::ZERO, JitterDistribution::Exponential { mean })
        }
        scenario::JitterDistribution::Uniform => {
            let half = Duration::from_secs_f64(deviation.as_secs_f64() * libm::sqrt(3.0));
            (
                mean.saturating_sub(half),
                JitterDistribution::Uniform { max: half * 2 },
            )
        }
    }
}

fn loss_of(loss: &Loss) -> net::Loss {
    match loss {
        loss if loss.is_none() => net::Loss::None,
        Loss::Random(probability) => net::Loss::Random {
            probability: *probability,
        },
        Loss::GilbertElliott(model) => net::Loss::GilbertElliott {
            p: model.to_bad,
            r: model.to_good,
            loss_good: model.loss_good,
            loss_bad: model.loss_bad,
        },
    }
}

fn discipline_of(queue: &Queue) -> DisciplineConfig {
    let codel = |target, interval, ecn| CodelConfig {
        target,
        interval,
        ecn,
    };
    match queue {
        Queue::Droptail => DisciplineConfig::DropTail,
        Queue::Threshold(q) => DisciplineConfig::Threshold {
            mark_above: q.mark_above,
        },
        Queue::Codel(q) => DisciplineConfig::Codel(codel(q.target, q.interval, q.ecn)),
        Queue::FqCodel(q) => DisciplineConfig::FqCodel(FqCodelConfig {
            codel: codel(q.target, q.interval, q.ecn),
            flows: q.flows,
            quantum: q.quantum.get() as u32,
        }),
        Queue::Pie(q) => DisciplineConfig::Pie(PieConfig {
            target: q.target,
            tupdate: q.update,
            max_burst: q.max_burst,
            alpha: q.alpha,
            beta: q.beta,
            ecn: q.ecn,
        }),
    }
}

pub(crate) fn cross_of(cross: &Cross, mtu: u32, link: &str) -> Result<CrossTraffic, PlanError> {
    let pattern = match (&cross.on, &cross.off) {
        (Some(on), Some(off)) => Pattern::OnOff {
            on: times_of(on, link)?,
            off: times_of(off, link)?,
        },
        _ => Pattern::Constant,
    };
    Ok(CrossTraffic {
        rate: cross.rate,
        packet_size: cross.packet.map_or(mtu, |bytes| bytes.get() as u32),
        pattern,
        start: Instant::ZERO + cross.start,
        stop: cross
            .stop
            .map_or(Instant::NEVER, |stop| Instant::ZERO + stop),
    })
}

fn times_of(distribution: &Distribution<Duration>, link: &str) -> Result<Times, PlanError> {
    Ok(match *distribution {
        Distribution::Constant { value } => Times::Constant(value),
        Distribution::Uniform { min, max } => Times::Uniform { min, max },
        Distribution::Exponential { mean } => Times::Exponential { mean },
        Distribution::Lognormal { median, sigma } => Times::Lognormal { median, sigma },
        Distribution::Weibull { scale, shape } => Times::Weibull { scale, shape },
        Distribution::Pareto { scale, shape } => Times::Pareto { min: scale, shape },
        Distribution::Gamma { .. }
        | Distribution::Normal { .. }
        | Distribution::Logistic { .. } => {
            return Err(PlanError::CrossTimes {
                link: link.to_owned(),
            });
        }
    })
}
