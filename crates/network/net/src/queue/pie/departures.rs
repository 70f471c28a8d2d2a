//! Departures: the rate at which packets leave a queue (RFC 8033 §5.2).

use units::{Duration, Instant};

/// Minimum backlog at the start of a measurement, and bytes whose departure ends it (RFC 8033 §5.2, `DQ_THRESHOLD`).
const DQ_THRESHOLD: u64 = 1 << 14;

/// Weight of a measurement in the mean (RFC 8033 §5.2).
const WEIGHT: f64 = 0.125;

/// Measurements of the rate.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Departures {
    /// Mean rate, bytes per second.
    rate: Option<f64>,
    /// Start of the current measurement, and the bytes that have left since.
    measurement: Option<(Instant, u64)>,
}

impl Departures {
    /// Returns whether there was a measurement.
    pub(super) fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns the queueing delay of this many bytes; zero before the first measurement.
    pub(super) fn delay(&self, backlog: u64) -> Duration {
        let seconds = self.rate.map_or(0.0, |rate| backlog as f64 / rate);
        Duration::from_nanos((seconds * 1e9) as u64)
    }

    /// Processes the departure of a packet, after which `backlog` bytes wait. Returns the length of the measurement that it
    /// ends.
    pub(super) fn on_departure(
        &mut self,
        now: Instant,
        size: u64,
        backlog: u64,
    ) -> Option<Duration> {
        let start = (backlog >= DQ_THRESHOLD).then_some((now, 0));
        let (since, bytes) = self.measurement.or(start)?;
        let bytes = bytes + size;
        let length = now.saturating_since(since);
        self.measurement = Some((since, bytes));
        if bytes < DQ_THRESHOLD || length.is_zero() {
            return None;
        }
        let rate = bytes as f64 / length.as_secs_f64();
        self.rate = Some(self.rate.map_or(rate, |mean| mean + WEIGHT * (rate - mean)));
        self.measurement = start;
        Some(length)
    }
}
