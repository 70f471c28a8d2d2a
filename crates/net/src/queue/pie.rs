//! Proportional integral controller enhanced (RFC 8033).

use units::random::Stream;
use units::{Duration, Instant};

use super::Scene;
use crate::store::{Handle, List, Store};
use crate::{Observer, Pie};

/// Mean packet size, of which two may always wait (RFC 8033 §4.1).
const MEAN_PACKET: u64 = 1_500;

/// Drop probability up to which ECN-capable packets are marked (RFC 8033 §5.1).
const MARK_UP_TO: f64 = 0.1;

/// Drop probability below which a queue with little delay drops nothing (RFC 8033 §4.1).
const SAFE_BELOW: f64 = 0.2;

/// PIE at work.
pub(super) struct PieControl {
    config: Pie,
    draws: Stream,
    arrivals: u64,
    probability: f64,
    delay: Duration,
    old_delay: Duration,
    burst_allowance: Duration,
    next_update: Instant,
}

impl PieControl {
    pub(super) fn new(config: Pie, draws: Stream) -> Self {
        Self {
            draws,
            arrivals: 0,
            probability: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            burst_allowance: config.max_burst,
            next_update: Instant::ZERO + config.update,
            config,
        }
    }

    /// Returns whether the packet may wait (RFC 8033 §4.1, §4.4 and §5.1). The draw belongs to the number
    /// of the arrival, so that it does not depend on how often there was reason to draw.
    pub(super) fn admits<O: Observer>(
        &mut self,
        handle: Handle,
        list: &List,
        scene: &mut Scene<'_, O>,
    ) -> bool {
        self.update(list, scene.now, scene.store);
        let arrival = self.arrivals;
        self.arrivals += 1;
        let half = self.config.target / 2;
        let safe = self.delay < half && self.probability < SAFE_BELOW
            || list.backlog().bytes <= 2 * MEAN_PACKET;
        if !self.burst_allowance.is_zero() || safe {
            return true;
        }
        let uniform = (self.draws.at(arrival) >> 11) as f64 / (1_u64 << 53) as f64;
        uniform >= self.probability
            || (self.config.ecn && self.probability <= MARK_UP_TO && scene.mark(handle))
    }

    /// Does the updates that have become due. Between two calls the queue has not changed, so that
    /// its delay at each of them, the age of its head (RFC 8033 §4.3), is known now as well.
    pub(super) fn update(&mut self, list: &List, now: Instant, store: &Store) {
        while self.next_update <= now {
            let at = self.next_update;
            let since = list.head().map_or(at, |head| store.since(head));
            self.calculate(at.saturating_since(since));
            self.next_update += self.config.update;
            if self.is_at_rest() && list.head().is_none() {
                // Further updates would change nothing: go on with the first one after now.
                let update = self.config.update.as_nanos();
                let missed = now.saturating_since(self.next_update).as_nanos() / update;
                self.next_update += self.config.update * missed;
                if self.next_update <= now {
                    self.next_update += self.config.update;
                }
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.probability <= 0.0
            && self.delay.is_zero()
            && self.old_delay.is_zero()
            && self.burst_allowance == self.config.max_burst
    }

    /// Updates the drop probability (RFC 8033 §4.2), with self-tuning scaling (§4.4) and the cap of §5.5.
    fn calculate(&mut self, delay: Duration) {
        let (target, half) = (self.config.target.as_secs_f64(), self.config.target / 2);
        self.old_delay = self.delay;
        self.delay = delay;
        let (now, old) = (delay.as_secs_f64(), self.old_delay.as_secs_f64());
        let mut step = self.config.alpha * (now - target) + self.config.beta * (now - old);
        step /= match self.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay.is_zero() && self.old_delay.is_zero() {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.config.update);
        if self.probability <= 0.0 && delay < half && self.old_delay < half {
            self.burst_allowance = self.config.max_burst;
        }
    }
}
