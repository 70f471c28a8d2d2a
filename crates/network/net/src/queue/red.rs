//! Random early detection (Floyd and Jacobson 1993), as in Linux (`include/net/red.h`).

use config::{FieldError, Quantity, check_number, check_positive, invalid_value, table};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant, Rate};

use super::droptail::DropTail;
use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::PacketHandle;
use crate::{Backlog, DropReason, Observer};

/// Minimum share of drops at the upper threshold.
const LEAST: f64 = 1e-6;

table! {
    /// The parameters of RED.
    pub struct Red {
        /// Lower threshold of the mean queue: nothing is dropped below it; default 7500B (5 packets, Floyd and
        /// Jacobson 1993).
        pub min: Bytes = Bytes::new(7_500),
        /// Upper threshold of the mean queue: everything is dropped from there on; default 22500B (three times
        /// the lower one).
        pub max: Bytes = Bytes::new(22_500),
        /// Share of packets that are dropped just below the upper threshold; default 0.02 (Floyd and Jacobson
        /// 1993; tc-red(8)).
        pub probability: f64 = 0.02,
        /// Weight of the queue at an arrival in its mean; default 0.002 (Floyd and Jacobson 1993).
        pub weight: f64 = 0.002,
        /// Rate of the packets of the MTU that an empty queue could have sent, by which its mean falls; default
        /// 10Mbit/s (tc-red(8)).
        pub bandwidth: Rate = Rate::from_bits_per_second(10_000_000),
        /// Adapt the probability, so that the mean stays half-way between the thresholds (Floyd, Gummadi and
        /// Shenker 2001); default false.
        pub adaptive: bool,
        /// Mark ECN-capable packets rather than drop them; default false.
        pub ecn: bool,
    }
}

impl Red {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_positive("min", self.min)?;
        if self.max <= self.min {
            invalid_value(
                "max",
                self.max.write(),
                format!("more than min, {}", self.min.write()),
            )?;
        }
        check_number("probability", self.probability, LEAST, 1.0)?;
        check_number("weight", self.weight, LEAST, 1.0)?;
        check_positive("bandwidth", self.bandwidth)
    }
}

/// The adaptation of the probability (Floyd, Gummadi and Shenker 2001, section 4; `red_adaptative_algo`).
mod adaptation {
    use units::Duration;

    /// Time between two steps.
    pub(super) const INTERVAL: Duration = Duration::from_millis(500);
    /// Range of the mean that is wanted, as shares of the way from the lower to the upper threshold.
    pub(super) const WANTED: (f64, f64) = (0.4, 0.6);
    /// Probability that it approaches: below, it grows; above, it shrinks.
    pub(super) const LIMITS: (f64, f64) = (0.5, 0.01);
    /// Largest growth, and its share of the probability.
    pub(super) const GROWTH: (f64, f64) = (0.01, 0.25);
    /// Factor by which it shrinks.
    pub(super) const DECREASE: f64 = 0.9;
}

/// A queue under RED.
pub(super) struct RedQdisc {
    config: Red,
    queue: DropTail,
    /// Time in which an empty queue could have sent a packet.
    packet_time: Duration,
    draws: RngStream,
    arrivals: u64,
    /// Mean of the waiting bytes.
    mean: f64,
    /// Probability at the upper threshold.
    probability: f64,
    /// Packets since the last one that was dropped or marked at random; none before the mean was between the thresholds.
    since: Option<u32>,
    /// Draw from 0 to 1 for the number of packets before the next drop.
    draw: f64,
    /// Time since which the queue has been empty.
    empty_since: Option<Instant>,
    next_adaptation: Instant,
}

impl RedQdisc {
    pub(super) fn new(config: &Red, attachment: Attachment) -> Self {
        let Attachment { mtu, seed, link } = attachment;
        Self {
            queue: DropTail::default(),
            packet_time: config.bandwidth.time_to_send(Bytes::new(u64::from(mtu))),
            draws: RngStream::new(seed, Purpose::QueueDrop, link.0),
            arrivals: 0,
            mean: 0.0,
            probability: config.probability,
            since: None,
            draw: 0.0,
            empty_since: Some(Instant::ZERO),
            next_adaptation: Instant::ZERO + adaptation::INTERVAL,
            config: config.clone(),
        }
    }

    /// Returns where the mean is on the way from the lower threshold, 0, to the upper one, 1.
    fn level(&self) -> f64 {
        let (min, max) = (self.config.min.get() as f64, self.config.max.get() as f64);
        (self.mean - min) / (max - min)
    }

    /// Updates the mean at an arrival. An empty queue counts as packets that found nothing (`red_calc_qavg`).
    fn average(&mut self, now: Instant) {
        let weight = self.config.weight;
        match self.empty_since.take() {
            Some(since) => {
                let packets =
                    now.saturating_since(since).as_secs_f64() / self.packet_time.as_secs_f64();
                self.mean *= libm::pow(1.0 - weight, packets);
            }
            None => self.mean += (self.queue.backlog().bytes as f64 - self.mean) * weight,
        }
    }

    /// Does the steps of the adaptation that have become due. Without arrivals the mean stands still, and so does the
    /// probability.
    fn adapt(&mut self, now: Instant) {
        if !self.config.adaptive || now < self.next_adaptation {
            return;
        }
        self.next_adaptation = now + adaptation::INTERVAL;
        let (low, high) = adaptation::WANTED;
        let (max, min) = adaptation::LIMITS;
        let level = self.level();
        if level > high && self.probability <= max {
            let (largest, share) = adaptation::GROWTH;
            self.probability += largest.min(share * self.probability);
        } else if level < low && self.probability >= min {
            self.probability *= adaptation::DECREASE;
        }
    }

    /// Returns whether the packet is one to drop or mark (`red_action`). The number of packets between two of them is
    /// uniform (Floyd and Jacobson 1993, section 7). A draw belongs to the number of its arrival.
    fn hits(&mut self, arrival: u64) -> bool {
        let level = self.level();
        if !(0.0..1.0).contains(&level) {
            self.since = None;
            return level >= 1.0;
        }
        let since = self.since.map_or(0, |since| since + 1);
        self.since = Some(since);
        let hit = since > 0 && level * self.probability * f64::from(since) >= self.draw;
        if hit {
            self.since = Some(0);
        }
        if hit || since == 0 {
            self.draw = self.draws.uniform_at(arrival);
        }
        hit
    }
}

impl Qdisc for RedQdisc {
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn offer<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.average(context.now);
        self.adapt(context.now);
        let arrival = self.arrivals;
        self.arrivals += 1;
        if self.hits(arrival) && !(self.config.ecn && context.mark(handle)) {
            context.discard(handle, DropReason::Aqm);
            if self.backlog().packets == 0 {
                self.empty_since = Some(context.now);
            }
            return false;
        }
        self.queue.offer(handle, context)
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        let handle = self.queue.dequeue(context);
        if self.backlog().packets == 0 {
            self.empty_since.get_or_insert(context.now);
        }
        handle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkId;

    fn red() -> RedQdisc {
        let attachment = Attachment {
            mtu: 1_500,
            seed: 1,
            link: LinkId(0),
        };
        RedQdisc::new(&Red::default(), attachment)
    }

    /// Floyd and Jacobson 1993, section 7: uniform from 1 to the inverse of the probability, at a mean half-way 100.
    #[test]
    fn packets_between_two_drops_are_uniform() {
        let mut queue = red();
        queue.mean = 15_000.0;
        let drops: Vec<u64> = (0..1_000_000).filter(|&at| queue.hits(at)).collect();
        let gaps: Vec<u64> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1..=100).contains(gap)));
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean - 50.5).abs() < 1.0, "{mean}");
        let short = gaps.iter().filter(|&&gap| gap <= 25).count() as f64 / gaps.len() as f64;
        assert!((short - 0.25).abs() < 0.02, "{short}");
    }

    /// The mean of an empty queue falls as with arrivals of packets of the MTU at 10 Mbit/s, 1.2 ms each.
    #[test]
    fn the_mean_of_an_empty_queue_falls_with_time() {
        let mut queue = red();
        queue.mean = 10_000.0;
        queue.empty_since = Some(Instant::ZERO);
        queue.average(Instant::ZERO + Duration::from_millis(600));
        let expected = 10_000.0 * libm::pow(0.998, 500.0);
        assert!((queue.mean - expected).abs() < 1e-6, "{}", queue.mean);
        queue.average(Instant::ZERO + Duration::from_millis(600));
        assert!(queue.mean < expected * 0.999, "{}", queue.mean);
    }
}
