//! Base delay and current delay (RFC 6817 §2.4.2 and §3.1).

use units::{Duration, Instant};

/// Maximum number of minutes of base history.
pub(super) const MAX_MINUTES: u32 = 60;
/// Maximum number of samples of the current delay.
pub(super) const MAX_SAMPLES: u32 = 64;
/// Value that stands for a missing delay.
const NONE: i64 = i64::MAX;
const MINUTE: u64 = 60_000;

/// Lowest delay of each of the last minutes, and the latest delays, µs. One-way delays are relative to the
/// first one, which cancels the offset of the clocks.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    minutes: [i64; MAX_MINUTES as usize],
    kept_minutes: usize,
    minute: u64,
    latest: [i64; MAX_SAMPLES as usize],
    kept_latest: usize,
    next: usize,
    /// Offset of the clocks in the first pair of timestamps, ms.
    first: Option<u32>,
}

impl Delays {
    pub(super) fn new(minutes: u32, latest: u32) -> Self {
        Self {
            minutes: [NONE; MAX_MINUTES as usize],
            kept_minutes: minutes.clamp(1, MAX_MINUTES) as usize,
            minute: 0,
            latest: [NONE; MAX_SAMPLES as usize],
            kept_latest: latest.clamp(1, MAX_SAMPLES) as usize,
            next: 0,
            first: None,
        }
    }

    /// Adds a pair of timestamps: the clock of the peer at arrival and ours at departure, ms.
    pub(super) fn one_way(&mut self, now: Instant, (theirs, ours): (u32, u32)) {
        let difference = theirs.wrapping_sub(ours);
        let first = *self.first.get_or_insert(difference);
        let change = difference.wrapping_sub(first) as i32;
        self.add(now, i64::from(change) * 1_000);
    }

    /// Adds an RTT.
    pub(super) fn round_trip(&mut self, now: Instant, rtt: Duration) {
        self.add(now, rtt.as_micros().min(NONE as u64 - 1) as i64);
    }

    /// Sets the base delay to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, now: Instant, base: Duration) {
        self.turn(now);
        self.minutes[0] = base.as_micros().min(NONE as u64 - 1) as i64;
    }

    /// Returns the lowest of the latest delays less the base delay, µs.
    pub(super) fn queueing(&self) -> u64 {
        let lowest = |of: &[i64]| of.iter().copied().min().unwrap_or(NONE);
        let current = lowest(&self.latest[..self.kept_latest]);
        let base = lowest(&self.minutes[..self.kept_minutes]);
        if current == NONE || base == NONE {
            return 0;
        }
        current.saturating_sub(base).max(0) as u64
    }

    fn add(&mut self, now: Instant, delay: i64) {
        self.turn(now);
        self.minutes[0] = self.minutes[0].min(delay);
        self.latest[self.next] = delay;
        self.next = (self.next + 1) % self.kept_latest;
    }

    /// Begins a new minute if one has passed, and drops the oldest one.
    fn turn(&mut self, now: Instant) {
        let minute = now.since_start().as_millis() / MINUTE;
        let passed = minute.saturating_sub(self.minute);
        if passed == 0 {
            return;
        }
        self.minute = minute;
        // A minute without a sample drops nothing.
        if self.minutes[0] != NONE {
            self.minutes.copy_within(..self.kept_minutes - 1, 1);
            self.minutes[0] = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Delays;
    use units::{Duration, Instant};

    fn at(minute: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(60 * minute)
    }

    /// RFC 6817 §3.1: the base delay is the lowest one of BASE_HISTORY minutes.
    #[test]
    fn the_base_delay_is_forgotten_after_its_history() {
        let mut delays = Delays::new(3, 1);
        let ms = Duration::from_millis;
        delays.round_trip(at(0), ms(50));
        for minute in 1..3 {
            delays.round_trip(at(minute), ms(80));
            assert_eq!(delays.queueing(), 30_000, "minute {minute}");
        }
        delays.round_trip(at(3), ms(80));
        assert_eq!(delays.queueing(), 0);
    }

    /// §2.4.2: the current delay is the lowest one of the last CURRENT_FILTER samples.
    #[test]
    fn a_lone_late_sample_is_filtered() {
        let mut delays = Delays::new(10, 4);
        for delay in [50, 50, 90, 70, 80] {
            delays.round_trip(at(0), Duration::from_millis(delay));
        }
        assert_eq!(delays.queueing(), 0);
        delays.round_trip(at(0), Duration::from_millis(90));
        assert_eq!(delays.queueing(), 20_000);
    }

    /// RFC 7323 §5.4: clocks have random origins and wrap around.
    #[test]
    fn one_way_delays_do_not_depend_on_the_clocks() {
        for difference in [0, 5_000, 1 << 31, u32::MAX - 3] {
            let mut delays = Delays::new(10, 1);
            for (sent, way) in [(1_000_u32, 20_u32), (1_100, 25), (1_200, 60)] {
                let arrived = sent.wrapping_add(way).wrapping_add(difference);
                delays.one_way(at(0), (arrived, sent));
            }
            assert_eq!(delays.queueing(), 40_000, "clocks {difference} ms apart");
        }
    }
}
