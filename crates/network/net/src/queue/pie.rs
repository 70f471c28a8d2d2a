//! Proportional integral controller enhanced (RFC 8033), as in Linux (`net/sched/sch_pie.c`).

mod departures;

use config::{FieldError, check_number, check_positive, check_range, table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::{List, PacketHandle};
use crate::{Backlog, DropReason, Observer};
use departures::Departures;

/// Shortest time between updates, a thousandth of the one in Linux.
const MIN_UPDATE: Duration = Duration::from_micros(15);

table! {
    /// The parameters of PIE.
    pub struct Pie {
        /// Reference delay, `QDELAY_REF`; default 15ms (RFC 8033 section 4.2).
        pub target: Duration = Duration::from_millis(15),
        /// Time between updates of the drop probability, `T_UPDATE`; default 15ms (RFC 8033 section 4.2).
        pub update: Duration = Duration::from_millis(15),
        /// Burst that passes unharmed, `MAX_BURST`; default 150ms (RFC 8033 section 4.4).
        pub max_burst: Duration = Duration::from_millis(150),
        /// Weight of the deviation from the reference, per second; default 0.125 (RFC 8033 section 4.2).
        pub alpha: f64 = 0.125,
        /// Weight of the trend of the delay, per second; default 1.25 (RFC 8033 section 4.2).
        pub beta: f64 = 1.25,
        /// Mark ECN-capable packets rather than drop them; default false.
        pub ecn: bool,
        /// How the delay is known: "timestamps" or "departure-rate"; default "timestamps", as in Linux.
        pub estimator: Estimator,
    }
}

/// Estimator by which PIE knows the delay of its queue (RFC 8033 sections 4.3 and 5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Queueing delay of the last packet that left (section 4.3).
    #[default]
    Timestamps,
    /// Queued bytes over the rate at which 16 KiB left, once that much is queued (section 5.2, Linux's
    /// `dq_rate_estimator`).
    DepartureRate,
}

impl Pie {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_positive("target", self.target)?;
        // Each update costs time, whether packets come or not.
        check_range("update", self.update, MIN_UPDATE, Duration::MAX)?;
        check_number("alpha", self.alpha, 0.0, 1000.0)?;
        check_number("beta", self.beta, 0.0, 1000.0)
    }
}

/// Maximum drop probability at which ECN-capable packets are marked (RFC 8033 §5.1).
const MARK_UP_TO: f64 = 0.1;

/// Drop probability below which a queue with little delay drops nothing (RFC 8033 §4.1).
const SAFE_BELOW: f64 = 0.2;

/// Sums of drop probabilities since the last drop: below the first nothing is dropped, above the second the next packet
/// is (RFC 8033 §5.4). They separate drops.
const DROP_ACCUMULATION: (f64, f64) = (0.85, 8.5);

/// Largest step of the drop probability where it is high (RFC 8033 §5.5).
const LARGEST_STEP: f64 = 0.02;

/// Delay above which each update adds [`LARGEST_STEP`] (`pie_calculate_probability`).
const LONG_DELAY: Duration = Duration::from_millis(250);

/// Share of the drop probability that is left after an update of an empty queue (`pie_calculate_probability`).
const DECAY: f64 = 1.0 - 1.0 / 64.0;

/// End of Linux' integer for the drop probability, where a probability of 1 takes its place. Above 1 it is not capped
/// (`pie_calculate_probability`): after a long congestion everything beyond two packets is dropped until it has come
/// down again.
const WRAPS: f64 = 256.0;

/// A queue under PIE.
pub(super) struct PieQdisc {
    config: Pie,
    list: List,
    /// Bytes of the largest packet, of which two may always wait (`pie_drop_early`).
    mtu: u64,
    draws: RngStream,
    arrivals: u64,
    next_update: Instant,
    state: State,
}

/// State that an update of the drop probability changes.
#[derive(Clone, PartialEq)]
struct State {
    probability: f64,
    /// Sum of drop probabilities of packets since the last drop.
    sum: f64,
    delay: Duration,
    /// Delay at the last update.
    old_delay: Duration,
    burst_allowance: Duration,
    last_departure: Option<Instant>,
    departures: Departures,
}

impl PieQdisc {
    pub(super) fn new(config: &Pie, attachment: Attachment) -> Self {
        let Attachment { mtu, seed, link } = attachment;
        Self {
            list: List::EMPTY,
            mtu: u64::from(mtu),
            draws: RngStream::new(seed, Purpose::QueueDrop, link.0),
            arrivals: 0,
            next_update: Instant::ZERO + config.update,
            state: State {
                probability: 0.0,
                sum: 0.0,
                delay: Duration::ZERO,
                old_delay: Duration::ZERO,
                burst_allowance: config.max_burst,
                last_departure: None,
                departures: Departures::default(),
            },
            config: config.clone(),
        }
    }

    /// Returns whether the packet may wait (RFC 8033 §4.1, §5.1 and §5.4). The draw belongs to the number of the
    /// arrival, so that it does not depend on how often there was reason to draw.
    fn admits<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.update(context.now);
        let arrival = self.arrivals;
        self.arrivals += 1;
        let backlog = self.list.backlog().bytes;
        if self.is_safe(backlog) || !self.hits(arrival) {
            return true;
        }
        self.state.sum = 0.0;
        self.config.ecn && self.state.probability <= MARK_UP_TO && context.mark(handle)
    }

    fn is_safe(&self, backlog: u64) -> bool {
        let state = &self.state;
        let short = state.delay < self.config.target / 2 && state.probability < SAFE_BELOW;
        !state.burst_allowance.is_zero() || short || backlog < 2 * self.mtu
    }

    /// Returns whether the packet is one to drop.
    fn hits(&mut self, arrival: u64) -> bool {
        let state = &mut self.state;
        if state.probability > 0.0 {
            state.sum += state.probability;
        } else {
            state.sum = 0.0;
        }
        let uniform = self.draws.uniform_at(arrival);
        state.sum >= DROP_ACCUMULATION.1
            || (state.sum >= DROP_ACCUMULATION.0 && uniform < state.probability)
    }

    /// Notes a packet of this size that leaves after so long a wait.
    fn depart(&mut self, now: Instant, size: u64, wait: Duration) {
        let state = &mut self.state;
        let backlog = self.list.backlog().bytes;
        let passed = match self.config.estimator {
            Estimator::Timestamps => {
                state.delay = if backlog == 0 { Duration::ZERO } else { wait };
                let last = state.last_departure.replace(now);
                last.map(|last| now.saturating_since(last))
            }
            Estimator::DepartureRate => state.departures.leave(now, size, backlog),
        };
        // Only time in which packets leave uses up the allowance (`pie_process_dequeue`).
        state.burst_allowance = state
            .burst_allowance
            .saturating_sub(passed.unwrap_or_default());
    }

    /// Does the updates that have become due. Between two calls the queue has not changed.
    fn update(&mut self, now: Instant) {
        let backlog = self.list.backlog().bytes;
        while self.next_update <= now {
            let before = self.state.clone();
            self.calculate(backlog);
            self.next_update += self.config.update;
            if self.state == before && self.next_update <= now {
                // Further updates would change nothing: go on with the first one after now.
                let update = self.config.update.as_nanos();
                let missed = now.saturating_since(self.next_update).as_nanos() / update;
                self.next_update += self.config.update * (missed + 1);
            }
        }
    }

    /// Updates the drop probability (RFC 8033 §4.2), with its scaling (§5.3) and the cap of §5.5.
    fn calculate(&mut self, backlog: u64) {
        let (target, half) = (self.config.target.as_secs_f64(), self.config.target / 2);
        let state = &mut self.state;
        let old_delay = state.old_delay;
        if self.config.estimator == Estimator::DepartureRate {
            state.delay = state.departures.delay_of(backlog);
        }
        let (now, old) = (state.delay.as_secs_f64(), old_delay.as_secs_f64());
        let mut step = self.config.alpha * (now - target) + self.config.beta * (now - old);
        step /= match state.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if state.probability >= 0.1 {
            step = step.min(LARGEST_STEP);
        }
        if state.delay > LONG_DELAY {
            step += LARGEST_STEP;
        }
        state.probability += step;
        if state.delay.is_zero() && old_delay.is_zero() && backlog == 0 {
            state.probability *= DECAY;
        }
        state.probability = match state.probability.max(0.0) {
            too_high if too_high >= WRAPS => 1.0,
            fits => fits,
        };
        state.old_delay = state.delay;
        let calm = state.probability <= 0.0 && state.delay < half && old_delay < half;
        if calm && (state.departures.is_known() || self.config.estimator == Estimator::Timestamps) {
            state.burst_allowance = self.config.max_burst;
            state.sum = 0.0;
            state.last_departure = None;
            state.departures = Departures::default();
        }
    }
}

impl Qdisc for PieQdisc {
    fn backlog(&self) -> Backlog {
        self.list.backlog()
    }

    fn on_overflow(&mut self) {
        self.state.sum = 0.0;
    }

    fn offer<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let is_admitted = self.admits(handle, context);
        if is_admitted {
            self.list.push(handle, context.now, context.store);
        } else {
            context.discard(handle, DropReason::Aqm);
        }
        is_admitted
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.update(context.now);
        let handle = self.list.pop(context.store)?;
        let size = u64::from(context.store.packet(handle).size);
        let wait = context
            .now
            .saturating_since(context.store.enqueued_at(handle));
        self.depart(context.now, size, wait);
        Some(handle)
    }
}
