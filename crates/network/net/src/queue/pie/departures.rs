//! Rate at which packets leave a queue (RFC 8033 §5.2).

use units::{Duration, Instant};

/// Bytes that have to wait for a measurement, and whose departure is one (RFC 8033 §5.2, `DQ_THRESHOLD`).
const CYCLE: u64 = 1 << 14;

/// Weight of a measurement in the mean (RFC 8033 §5.2).
const WEIGHT: f64 = 0.125;

/// Measurements of the rate.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Departures {
    /// Mean, bytes per second.
    rate: Option<f64>,
    /// Start of the measurement and the bytes that have left since.
    cycle: Option<(Instant, u64)>,
}

impl Departures {
    /// Returns whether there was a measurement.
    pub(super) fn is_known(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns the queueing delay of this many bytes; nothing before the first measurement.
    pub(super) fn delay_of(&self, backlog: u64) -> Duration {
        let seconds = self.rate.map_or(0.0, |rate| backlog as f64 / rate);
        Duration::from_nanos((seconds * 1e9) as u64)
    }

    /// Notes a packet that leaves these bytes behind. Returns the length of the measurement that it ends.
    pub(super) fn leave(&mut self, now: Instant, size: u64, backlog: u64) -> Option<Duration> {
        let full = backlog >= CYCLE;
        let start = full.then_some((now, 0));
        let (since, bytes) = self.cycle.or(start)?;
        let bytes = bytes + size;
        let length = now.saturating_since(since);
        self.cycle = Some((since, bytes));
        if bytes < CYCLE || length.is_zero() {
            return None;
        }
        let rate = bytes as f64 / length.as_secs_f64();
        self.rate = Some(self.rate.map_or(rate, |mean| mean + WEIGHT * (rate - mean)));
        self.cycle = start;
        Some(length)
    }
}
