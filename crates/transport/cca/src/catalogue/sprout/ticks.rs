//! Deliveries per tick, and the time in each tick for which the path had segments to deliver.

use units::{Duration, Instant};

/// Observation of one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tick {
    /// Segments delivered.
    pub(super) delivered: u32,
    /// Time for which segments waited at the bottleneck.
    pub(super) busy: Duration,
}

/// Ticks that are processed when an ACK arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    length: Duration,
    start: Instant,
    current: Tick,
    /// End of the time that is already counted as busy or idle.
    counted_until: Instant,
}

impl Ticks {
    pub(super) fn new(length: Duration, start: Instant) -> Self {
        Self {
            length,
            start,
            current: Tick::default(),
            counted_until: start,
        }
    }

    /// Skips all ticks but the last `max`, because older ones do not matter.
    pub(super) fn skip_to_last(&mut self, now: Instant, max: u32) {
        let last_ticks = self.length * u64::from(max);
        if now.saturating_since(self.start) > last_ticks + self.length {
            *self = Self::new(
                self.length,
                Instant::from_nanos(now.as_nanos() - last_ticks.as_nanos()),
            );
        }
    }

    /// Returns the next tick that has ended by `now`. An ACK at `now` shows that the path was busy since
    /// `busy_since`.
    pub(super) fn next_ended(&mut self, now: Instant, busy_since: Instant) -> Option<Tick> {
        let end = self.start + self.length;
        if end > now {
            return None;
        }
        self.note_busy(busy_since, end);
        self.start = end;
        Some(core::mem::take(&mut self.current))
    }

    /// Adds an ACK at `now` to the current tick.
    pub(super) fn add(&mut self, now: Instant, busy_since: Instant, delivered: u32) {
        self.note_busy(busy_since, now);
        self.current.delivered = self.current.delivered.saturating_add(delivered);
    }

    fn note_busy(&mut self, since: Instant, until: Instant) {
        let since = since.max(self.counted_until).max(self.start);
        self.current.busy += until.saturating_since(since);
        self.counted_until = self.counted_until.max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    /// An ACK at 70 ms for a segment that has waited since 25 ms: of the ticks of 20 ms the first was idle,
    /// the second busy for 15 ms, the third busy all the time.
    #[test]
    fn a_waiting_segment_makes_ticks_busy() {
        let mut ticks = Ticks::new(MS * 20, at(0));
        ticks.add(at(10), at(10), 3);
        let over: Vec<Tick> = std::iter::from_fn(|| ticks.next_ended(at(70), at(25))).collect();
        let tick = |delivered, busy: u64| Tick {
            delivered,
            busy: MS * busy,
        };
        assert_eq!(over, [tick(3, 0), tick(0, 15), tick(0, 20)]);
        ticks.add(at(70), at(25), 2);
        assert_eq!(ticks.current, tick(2, 10));
    }

    #[test]
    fn busy_time_is_counted_once() {
        let mut ticks = Ticks::new(MS * 20, at(0));
        for ms in 1..20 {
            ticks.add(at(ms), at(0), 1);
        }
        assert_eq!(ticks.current.busy, MS * 19);
    }

    #[test]
    fn old_ticks_are_skipped_after_a_silence() {
        let mut ticks = Ticks::new(MS * 20, at(0));
        ticks.skip_to_last(at(60_000), 10);
        let over = std::iter::from_fn(|| ticks.next_ended(at(60_000), at(60_000)));
        assert_eq!(over.count(), 10);
    }
}
