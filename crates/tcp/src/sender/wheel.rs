//! Timer wheel: ticks of the kernel on which timers end (`calc_wheel_index` in `kernel/time/timer.c`).

use units::{Duration, Instant};

/// Time between two ticks (`HZ` is 1000 in the kernel that celltcp builds), nanoseconds.
const TICK: u64 = 1_000_000;
/// Wait from which on the second level of the wheel takes a timer (`LVL_START(1)`), ticks.
const SECOND_LEVEL: u64 = 63;
/// Logarithm of the ratio of two levels' ticks (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// Index of the last level (`LVL_DEPTH` is 9).
const LAST_LEVEL: u32 = 8;

/// Returns the instant at which a timer ends that was set at `now` for `wait`: a tick of its level, never earlier than
/// the wait.
pub(super) fn end(now: Instant, wait: Duration) -> Instant {
    let ticks = wait.as_nanos().div_ceil(TICK);
    let asked = now.as_nanos() / TICK + ticks;
    let level = (0..LAST_LEVEL)
        .find(|level| ticks < SECOND_LEVEL << (level * LEVEL_SHIFT))
        .unwrap_or(LAST_LEVEL);
    let shift = level * LEVEL_SHIFT;
    Instant::from_nanos((((asked >> shift) + 1) << shift) * TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_in_micros(now: u64, wait: u64) -> u64 {
        let now = Instant::ZERO + Duration::from_micros(now);
        end(now, Duration::from_micros(wait)).as_nanos() / 1_000
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
        assert_eq!(end_in_micros(0, 504_000), 512_000);
        assert_eq!(end_in_micros(0, 512_000), 576_000);
    }
}
