//! Random early detection (Floyd and Jacobson 1993), as in Linux (`include/net/red.h`).

use config::{FieldError, Quantity, check_number, check_positive, invalid_value, table};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant, Rate};

use super::droptail::DropTail;
use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::PacketHandle;
use crate::{Backlog, DropReason, Observer};

/// Minimum of the probability and of the weight.
const MIN_SHARE: f64 = 1e-6;

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
        check_number("probability", self.probability, MIN_SHARE, 1.0)?;
        check_number("weight", self.weight, MIN_SHARE, 1.0)?;
        check_positive("bandwidth", self.bandwidth)
    }
}

/// The adaptation of the probability (Floyd, Gummadi and Shenker 2001, section 4; `red_adaptative_algo`).
mod adaptation {
    use units::Duration;

    /// Time between two steps.
    pub(super) const INTERVAL: Duration = Duration::from_millis(500);
    /// Level of the mean, from the lower threshold, 0, to the upper one, 1, below which the probability decreases.
    pub(super) const MIN_LEVEL: f64 = 0.4;
    /// Level of the mean above which the probability increases.
    pub(super) const MAX_LEVEL: f64 = 0.6;
    /// Probability above which it does not increase.
    pub(super) const MAX_PROBABILITY: f64 = 0.5;
    /// Probability below which it does not decrease.
    pub(super) const MIN_PROBABILITY: f64 = 0.01;
    /// Largest increase in a step.
    pub(super) const MAX_INCREASE: f64 = 0.01;
    /// Increase in a step, as a share of the probability.
    pub(super) const INCREASE_SHARE: f64 = 0.25;
    /// Factor of a decrease.
    pub(super) const DECREASE: f64 = 0.9;
}

/// A queue under RED.
pub(super) struct RedQdisc {
    config: Red,
    queue: DropTail,
    /// Time for a packet of the MTU at the bandwidth.
    packet_time: Duration,
    draws: RngStream,
    arrivals: u64,
    /// Mean of the waiting bytes.
    mean: f64,
    /// Probability at the upper threshold.
    probability: f64,
    /// Packets since the last random drop or mark; `None` while the mean is not between the thresholds.
    since_drop: Option<u32>,
    /// Uniform draw from 0 to 1, by which the number of packets before the next drop is found.
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
            since_drop: None,
            draw: 0.0,
            empty_since: Some(Instant::ZERO),
            next_adaptation: Instant::ZERO + adaptation::INTERVAL,
            config: config.clone(),
        }
    }

    /// Returns the level of the mean, from the lower threshold, 0, to the upper one, 1.
    fn level(&self) -> f64 {
        let (min, max) = (self.config.min.get() as f64, self.config.max.get() as f64);
        (self.mean - min) / (max - min)
    }

    /// Updates the mean at an arrival. The time of an empty queue counts as arrivals that found it empty (`red_calc_qavg`).
    fn update_mean(&mut self, now: Instant) {
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

    /// Adapts the probability, if that is due. Without arrivals neither the mean nor the probability changes.
    fn adapt(&mut self, now: Instant) {
        if !self.config.adaptive || now < self.next_adaptation {
            return;
        }
        self.next_adaptation = now + adaptation::INTERVAL;
        let level = self.level();
        if level > adaptation::MAX_LEVEL && self.probability <= adaptation::MAX_PROBABILITY {
            let increase = adaptation::INCREASE_SHARE * self.probability;
            self.probability += adaptation::MAX_INCREASE.min(increase);
        } else if level < adaptation::MIN_LEVEL && self.probability >= adaptation::MIN_PROBABILITY {
            self.probability *= adaptation::DECREASE;
        }
    }

    /// Draws whether the packet is dropped or marked (`red_action`). The number of packets between two drops is uniform
    /// (Floyd and Jacobson 1993, section 7). A draw has the ordinal of its arrival.
    fn draw_drop(&mut self, arrival: u64) -> bool {
        let level = self.level();
        if !(0.0..1.0).contains(&level) {
            self.since_drop = None;
            return level >= 1.0;
        }
        let since = self.since_drop.map_or(0, |since| since + 1);
        self.since_drop = Some(since);
        let is_drop = since > 0 && level * self.probability * f64::from(since) >= self.draw;
        if is_drop {
            self.since_drop = Some(0);
        }
        if is_drop || since == 0 {
            self.draw = self.draws.uniform_at(arrival);
        }
        is_drop
    }
}

impl Qdisc for RedQdisc {
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.update_mean(context.now);
        self.adapt(context.now);
        let arrival = self.arrivals;
        self.arrivals += 1;
        if self.draw_drop(arrival) && !(self.config.ecn && context.mark(handle)) {
            context.discard(handle, DropReason::Aqm);
            if self.backlog().packets == 0 {
                self.empty_since = Some(context.now);
            }
            return false;
        }
        self.queue.enqueue(handle, context)
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
        let drops: Vec<u64> = (0..1_000_000).filter(|&at| queue.draw_drop(at)).collect();
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
        queue.update_mean(Instant::ZERO + Duration::from_millis(600));
        let expected = 10_000.0 * libm::pow(0.998, 500.0);
        assert!((queue.mean - expected).abs() < 1e-6, "{}", queue.mean);
        queue.update_mean(Instant::ZERO + Duration::from_millis(600));
        assert!(queue.mean < expected * 0.999, "{}", queue.mean);
    }
}
