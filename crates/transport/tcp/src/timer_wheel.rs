//! Timer wheel: ticks of the kernel on which timers expire (`calc_wheel_index` in `kernel/time/timer.c`).

use units::{Duration, Instant};

/// Time between two ticks (`HZ` is 1000 in the kernel that celltcp builds), nanoseconds.
const TICK_NS: u64 = 1_000_000;
/// Count of ticks at time zero (`INITIAL_JIFFIES` modulo 2^32): the kernel starts its count five minutes before an
/// overflow.
const FIRST_TICK: u64 = (1 << 32) - 300_000;
/// Minimum wait of a timer on the second level of the wheel (`LVL_START(1)`), ticks.
const SECOND_LEVEL: u64 = 63;
/// Logarithm of the ratio of two levels' ticks (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// Index of the last level (`LVL_DEPTH` is 9).
const LAST_LEVEL: u32 = 8;

/// Instants at which timers expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerExpiry {
    /// On ticks of the kernel's wheel, which are coarser the longer a timer runs: a timer of 200 ms is up to 8 ms late, one
    /// of a second up to 64 ms.
    Wheel,
    /// Exactly after the wait, as the times of packetdrill scripts expect.
    Exact,
}

impl TimerExpiry {
    /// Returns the instant at which a timer expires that was set at `now` for `wait`.
    pub(crate) fn expiry(self, now: Instant, wait: Duration) -> Instant {
        match self {
            Self::Wheel => wheel_expiry(now, wait),
            Self::Exact => now + wait,
        }
    }
}

/// Returns the time at which a timer expires that was set at `now` for `wait`: the first tick of its level after the wait.
fn wheel_expiry(now: Instant, wait: Duration) -> Instant {
    let ticks = wait.as_nanos().div_ceil(TICK_NS);
    let expires = FIRST_TICK + now.as_nanos() / TICK_NS + ticks;
    let level = (0..LAST_LEVEL)
        .find(|level| ticks < SECOND_LEVEL << (level * LEVEL_SHIFT))
        .unwrap_or(LAST_LEVEL);
    let shift = level * LEVEL_SHIFT;
    Instant::from_nanos(((((expires >> shift) + 1) << shift) - FIRST_TICK) * TICK_NS)
}

/// Rounds down to whole ticks (`nsecs_to_jiffies`).
pub(crate) fn floor_to_tick(wait: Duration) -> Duration {
    Duration::from_nanos(wait.as_nanos() / TICK_NS * TICK_NS)
}

/// Rounds up to whole ticks (`usecs_to_jiffies`).
pub(crate) fn ceil_to_tick(wait: Duration) -> Duration {
    Duration::from_nanos(wait.as_nanos().next_multiple_of(TICK_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_in_micros(now: u64, wait: u64) -> u64 {
        let now = Instant::ZERO + Duration::from_micros(now);
        let end = TimerExpiry::Wheel.expiry(now, Duration::from_micros(wait));
        end.as_nanos() / 1_000
    }

    /// Linux 7.3.4, traced: a reordering timer of 11.3 ms that was set 0.69 ms after a tick ended 12.3 ms later.
    #[test]
    fn a_timer_ends_on_the_tick_after_its_wait() {
        assert_eq!(end_in_micros(159_690, 11_368), 172_000);
        assert_eq!(end_in_micros(160_000, 12_000), 173_000);
        assert_eq!(end_in_micros(160_999, 12_000), 173_000);
        assert_eq!(end_in_micros(160_000, 12_001), 174_000);
    }

    #[test]
    fn long_waits_end_on_coarser_ticks() {
        assert_eq!(end_in_micros(0, 62_000), 63_000);
        assert_eq!(end_in_micros(0, 63_000), 64_000);
        assert_eq!(end_in_micros(2_000, 63_000), 72_000);
        assert_eq!(end_in_micros(0, 503_000), 504_000);
        assert_eq!(end_in_micros(0, 504_000), 544_000);
        assert_eq!(end_in_micros(0, 512_000), 544_000);
        assert_eq!(end_in_micros(0, 544_000), 608_000);
    }

    /// Linux 7.3.4, traced in the scenario `outage`: the time-out of 636 ms that was set at 20.568 s came at 21.216 s.
    #[test]
    fn a_doubled_time_out_ends_on_the_third_level() {
        assert_eq!(end_in_micros(20_568_000, 636_000), 21_216_000);
    }

    #[test]
    fn an_exact_timer_ends_after_its_wait() {
        let (now, wait) = (Instant::from_nanos(1_234), Duration::from_nanos(567));
        assert_eq!(
            TimerExpiry::Exact.expiry(now, wait),
            Instant::from_nanos(1_801)
        );
    }

    #[test]
    fn waits_are_counted_in_ticks() {
        let micros = Duration::from_micros;
        assert_eq!(floor_to_tick(micros(2_999)), micros(2_000));
        assert_eq!(ceil_to_tick(micros(2_001)), micros(3_000));
        assert_eq!(ceil_to_tick(micros(2_000)), micros(2_000));
    }
}
