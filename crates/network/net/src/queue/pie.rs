//! Proportional integral controller enhanced (RFC 8033), as in Linux (`net/sched/sch_pie.c`).

mod departures;

use config::{FieldError, check_number, check_positive, check_range, table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::{PacketHandle, PacketList};
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
const MAX_MARK_PROBABILITY: f64 = 0.1;

/// Drop probability below which a queue with little delay drops nothing (RFC 8033 §4.1).
const SAFE_PROBABILITY: f64 = 0.2;

/// Sum of drop probabilities since the last drop below which nothing is dropped (RFC 8033 §5.4).
const MIN_ACCUMULATED: f64 = 0.85;

/// Sum of drop probabilities since the last drop at which the next packet is dropped (RFC 8033 §5.4).
const MAX_ACCUMULATED: f64 = 8.5;

/// Largest step of a high drop probability (RFC 8033 §5.5).
const MAX_STEP: f64 = 0.02;

/// Delay above which each update adds [`MAX_STEP`] (`pie_calculate_probability`).
const LONG_DELAY: Duration = Duration::from_millis(250);

/// Share of the drop probability that is left after an update of an empty queue (`pie_calculate_probability`).
const DECAY: f64 = 1.0 - 1.0 / 64.0;

/// Drop probability at which the integer of Linux overflows and becomes 1 (`pie_calculate_probability`). From 1 to this it
/// is not capped: after long congestion, everything beyond two packets is dropped until it has fallen.
const OVERFLOW_PROBABILITY: f64 = 256.0;

/// A queue under PIE.
pub(super) struct PieQdisc {
    config: Pie,
    list: PacketList,
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
    accumulated: f64,
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
            list: PacketList::default(),
            mtu: u64::from(mtu),
            draws: RngStream::new(seed, Purpose::QueueDrop, link.0),
            arrivals: 0,
            next_update: Instant::ZERO + config.update,
            state: State {
                probability: 0.0,
                accumulated: 0.0,
                delay: Duration::ZERO,
                old_delay: Duration::ZERO,
                burst_allowance: config.max_burst,
                last_departure: None,
                departures: Departures::default(),
            },
            config: config.clone(),
        }
    }

    /// Returns whether the packet may wait (RFC 8033 §4.1, §5.1 and §5.4). The draw has the ordinal of the arrival, so that
    /// it does not depend on the number of earlier draws.
    fn admit<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.update(context.now);
        let arrival = self.arrivals;
        self.arrivals += 1;
        let backlog = self.list.backlog().bytes;
        if self.is_safe(backlog) || !self.draw_drop(arrival) {
            return true;
        }
        self.state.accumulated = 0.0;
        self.config.ecn && self.state.probability <= MAX_MARK_PROBABILITY && context.mark(handle)
    }

    fn is_safe(&self, backlog: u64) -> bool {
        let state = &self.state;
        let is_short = state.delay < self.config.target / 2 && state.probability < SAFE_PROBABILITY;
        !state.burst_allowance.is_zero() || is_short || backlog < 2 * self.mtu
    }

    /// Draws whether the packet is dropped.
    fn draw_drop(&mut self, arrival: u64) -> bool {
        let state = &mut self.state;
        if state.probability > 0.0 {
            state.accumulated += state.probability;
        } else {
            state.accumulated = 0.0;
        }
        let uniform = self.draws.uniform_at(arrival);
        state.accumulated >= MAX_ACCUMULATED
            || (state.accumulated >= MIN_ACCUMULATED && uniform < state.probability)
    }

    /// Updates the delay at the departure of a packet of `size` bytes, which has waited for `wait`.
    fn on_departure(&mut self, now: Instant, size: u64, wait: Duration) {
        let state = &mut self.state;
        let backlog = self.list.backlog().bytes;
        let passed = match self.config.estimator {
            Estimator::Timestamps => {
                state.delay = if backlog == 0 { Duration::ZERO } else { wait };
                let last = state.last_departure.replace(now);
                last.map(|last| now.saturating_since(last))
            }
            Estimator::DepartureRate => state.departures.on_departure(now, size, backlog),
        };
        // Only time in which packets leave uses up the allowance (`pie_process_dequeue`).
        state.burst_allowance = state
            .burst_allowance
            .saturating_sub(passed.unwrap_or_default());
    }

    /// Performs the due updates. Between two calls the queue does not change.
    fn update(&mut self, now: Instant) {
        let backlog = self.list.backlog().bytes;
        while self.next_update <= now {
            let before = self.state.clone();
            self.update_probability(backlog);
            self.next_update += self.config.update;
            if self.state == before && self.next_update <= now {
                // Updates no longer change anything: the next one is the first after `now`.
                let update = self.config.update.as_nanos();
                let missed = now.saturating_since(self.next_update).as_nanos() / update;
                self.next_update += self.config.update * (missed + 1);
            }
        }
    }

    /// Updates the drop probability (RFC 8033 §4.2), with its scaling (§5.3) and the cap of §5.5.
    fn update_probability(&mut self, backlog: u64) {
        let (target, half) = (self.config.target.as_secs_f64(), self.config.target / 2);
        let state = &mut self.state;
        let old_delay = state.old_delay;
        if self.config.estimator == Estimator::DepartureRate {
            state.delay = state.departures.delay(backlog);
        }
        let (delay_s, old_s) = (state.delay.as_secs_f64(), old_delay.as_secs_f64());
        let mut step =
            self.config.alpha * (delay_s - target) + self.config.beta * (delay_s - old_s);
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
            step = step.min(MAX_STEP);
        }
        if state.delay > LONG_DELAY {
            step += MAX_STEP;
        }
        state.probability += step;
        if state.delay.is_zero() && old_delay.is_zero() && backlog == 0 {
            state.probability *= DECAY;
        }
        state.probability = match state.probability.max(0.0) {
            overflow if overflow >= OVERFLOW_PROBABILITY => 1.0,
            probability => probability,
        };
        state.old_delay = state.delay;
        let is_idle = state.probability <= 0.0 && state.delay < half && old_delay < half;
        if is_idle
            && (state.departures.has_rate() || self.config.estimator == Estimator::Timestamps)
        {
            state.burst_allowance = self.config.max_burst;
            state.accumulated = 0.0;
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
        self.state.accumulated = 0.0;
    }

    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        let is_admitted = self.admit(handle, context);
        if is_admitted {
            self.list.push(handle, context.now, context.pool);
        } else {
            context.discard(handle, DropReason::Aqm);
        }
        is_admitted
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.update(context.now);
        let handle = self.list.pop(context.pool)?;
        let size = u64::from(context.pool.packet(handle).size);
        let wait = context
            .now
            .saturating_since(context.pool.enqueued_at(handle));
        self.on_departure(context.now, size, wait);
        Some(handle)
    }
}
