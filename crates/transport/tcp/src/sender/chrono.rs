//! Phase times: the time that a sender has spent in each of several phases, as in Linux's `tcp_chrono`.

use units::{Duration, Instant};

/// Current phase, and the times in all `N` phases.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseTimes<P, const N: usize> {
    pub(super) current: P,
    /// Start of the current phase.
    pub(super) since: Instant,
    /// Times in each phase before the current one began.
    past: [Duration; N],
}

impl<P: Copy + PartialEq + Into<usize>, const N: usize> PhaseTimes<P, N> {
    /// Returns the times of a sender that has been in the phase `first` from the start.
    pub(super) fn new(first: P) -> Self {
        Self {
            current: first,
            since: Instant::ZERO,
            past: [Duration::ZERO; N],
        }
    }

    /// Returns the time in `phase` until `now`.
    #[inline]
    pub(super) fn time(&self, now: Instant, phase: P) -> Duration {
        let past = self.past[phase.into()];
        if phase == self.current {
            past + now.saturating_since(self.since)
        } else {
            past
        }
    }

    /// Notes that `phase` lasts from `now` on.
    #[inline]
    pub(super) fn enter(&mut self, now: Instant, phase: P) {
        if phase != self.current {
            self.change(now, phase);
        }
    }

    /// Ends the current phase at `now`.
    fn change(&mut self, now: Instant, phase: P) {
        self.past[self.current.into()] = self.time(now, self.current);
        self.current = phase;
        self.since = now;
    }
}
