//! Base delay and current delay (RFC 6817 §2.4.2 and §3.1).

use units::{Duration, Instant};

/// Maximum number of minutes of base history.
pub(super) const MAX_MINUTES: u32 = 60;
/// Maximum number of samples of the current delay.
pub(super) const MAX_SAMPLES: u32 = 64;
/// Value that stands for a missing delay.
const NO_DELAY: i64 = i64::MAX;
const MINUTE_MS: u64 = 60_000;

/// Lowest delay of each of the last minutes, and the latest delays, µs. One-way delays are relative to the
/// first one, which cancels the offset of the clocks.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// Lowest delay of each minute, the current one first.
    minutes: [i64; MAX_MINUTES as usize],
    /// Number of minutes in the base history.
    minute_count: usize,
    /// Number of the current minute.
    minute: u64,
    latest: [i64; MAX_SAMPLES as usize],
    /// Number of samples of the current delay.
    latest_count: usize,
    /// Index in `latest` of the next sample.
    next: usize,
    /// Offset of the clocks in the first pair of timestamps, ms.
    first_offset: Option<u32>,
}

impl Delays {
    pub(super) fn new(minutes: u32, latest: u32) -> Self {
        Self {
            minutes: [NO_DELAY; MAX_MINUTES as usize],
            minute_count: minutes.clamp(1, MAX_MINUTES) as usize,
            minute: 0,
            latest: [NO_DELAY; MAX_SAMPLES as usize],
            latest_count: latest.clamp(1, MAX_SAMPLES) as usize,
            next: 0,
            first_offset: None,
        }
    }

    /// Adds a pair of timestamps: the remote clock at arrival and the local one at departure, ms.
    pub(super) fn add_timestamps(&mut self, now: Instant, (remote, local): (u32, u32)) {
        let offset = remote.wrapping_sub(local);
        let first_offset = *self.first_offset.get_or_insert(offset);
        let change = offset.wrapping_sub(first_offset) as i32;
        self.add(now, i64::from(change) * 1_000);
    }

    /// Adds an RTT.
    pub(super) fn add_rtt(&mut self, now: Instant, rtt: Duration) {
        self.add(now, rtt.as_micros().min(NO_DELAY as u64 - 1) as i64);
    }

    /// Sets the base delay to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, now: Instant, base: Duration) {
        self.advance_minute(now);
        self.minutes[0] = base.as_micros().min(NO_DELAY as u64 - 1) as i64;
    }

    /// Returns the lowest of the latest delays less the base delay, µs.
    pub(super) fn queueing_delay(&self) -> u64 {
        let min = |delays: &[i64]| delays.iter().copied().min().unwrap_or(NO_DELAY);
        let current = min(&self.latest[..self.latest_count]);
        let base = min(&self.minutes[..self.minute_count]);
        if current == NO_DELAY || base == NO_DELAY {
            return 0;
        }
        current.saturating_sub(base).max(0) as u64
    }

    fn add(&mut self, now: Instant, delay: i64) {
        self.advance_minute(now);
        self.minutes[0] = self.minutes[0].min(delay);
        self.latest[self.next] = delay;
        self.next = (self.next + 1) % self.latest_count;
    }

    /// Begins a new minute if one has passed, and drops the oldest one.
    fn advance_minute(&mut self, now: Instant) {
        let minute = now.since_start().as_millis() / MINUTE_MS;
        if minute <= self.minute {
            return;
        }
        self.minute = minute;
        // A minute without a sample drops nothing.
        if self.minutes[0] != NO_DELAY {
            self.minutes.copy_within(..self.minute_count - 1, 1);
            self.minutes[0] = NO_DELAY;
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
        delays.add_rtt(at(0), ms(50));
        for minute in 1..3 {
            delays.add_rtt(at(minute), ms(80));
            assert_eq!(delays.queueing_delay(), 30_000, "minute {minute}");
        }
        delays.add_rtt(at(3), ms(80));
        assert_eq!(delays.queueing_delay(), 0);
    }

    /// §2.4.2: the current delay is the lowest one of the last CURRENT_FILTER samples.
    #[test]
    fn a_lone_late_sample_is_filtered() {
        let mut delays = Delays::new(10, 4);
        for delay in [50, 50, 90, 70, 80] {
            delays.add_rtt(at(0), Duration::from_millis(delay));
        }
        assert_eq!(delays.queueing_delay(), 0);
        delays.add_rtt(at(0), Duration::from_millis(90));
        assert_eq!(delays.queueing_delay(), 20_000);
    }

    /// RFC 7323 §5.4: clocks have random origins and wrap around.
    #[test]
    fn one_way_delays_do_not_depend_on_the_clocks() {
        for difference in [0, 5_000, 1 << 31, u32::MAX - 3] {
            let mut delays = Delays::new(10, 1);
            for (sent, way) in [(1_000_u32, 20_u32), (1_100, 25), (1_200, 60)] {
                let arrived = sent.wrapping_add(way).wrapping_add(difference);
                delays.add_timestamps(at(0), (arrived, sent));
            }
            assert_eq!(
                delays.queueing_delay(),
                40_000,
                "clocks {difference} ms apart"
            );
        }
    }
}
