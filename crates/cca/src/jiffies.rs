//! The coarse clock of the kernel, by which older congestion controls measure: jiffies.

use units::{Duration, Instant};

/// Jiffies in a second (the kernel's `HZ`, in the configuration that celltcp builds).
pub(super) const PER_SECOND: u64 = 1_000;

const NANOSECONDS: u64 = 1_000_000_000 / PER_SECOND;

/// The count at `instant`.
pub(super) const fn at(instant: Instant) -> u64 {
    instant.as_nanos() / NANOSECONDS
}

/// A duration in whole jiffies, begun ones counted (the kernel's `usecs_to_jiffies`).
pub(super) const fn of(duration: Duration) -> u64 {
    duration.as_nanos().div_ceil(NANOSECONDS)
}
