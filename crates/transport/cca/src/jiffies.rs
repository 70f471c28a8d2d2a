//! Jiffies, the coarse clock of the kernel, which older congestion controls use for their measurements.

use units::{Duration, Instant};

/// Jiffies per second (the kernel's `HZ`, in the configuration that celltcp builds).
pub(super) const PER_SECOND: u64 = 1_000;

/// Length of a jiffy, ns.
const JIFFY_NS: u64 = 1_000_000_000 / PER_SECOND;

/// Returns the count of jiffies at `instant`.
pub(super) const fn at(instant: Instant) -> u64 {
    instant.as_nanos() / JIFFY_NS
}

/// Returns a duration in jiffies, rounded up (the kernel's `usecs_to_jiffies`).
pub(super) const fn of(duration: Duration) -> u64 {
    duration.as_nanos().div_ceil(JIFFY_NS)
}
