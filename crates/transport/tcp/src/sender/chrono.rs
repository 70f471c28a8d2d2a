//! Phase times: the time that a sender has spent in each of several phases, as Linux's `tcp_chrono` keeps it.

use units::{Duration, Instant};

/// The present phase and the times in all `N` phases.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseTimes<P, const N: usize> {
    present: P,
    since: Instant,
    /// Times in each phase, without that in the present one since it began.
    past: [Duration; N],
}

impl<P: Copy + PartialEq + Into<usize>, const N: usize> PhaseTimes<P, N> {
    /// Returns the times of a sender that has been in the phase `first` from the start.
    pub(super) fn new(first: P) -> Self {
        Self {
            present: first,
            since: Instant::ZERO,
            past: [Duration::ZERO; N],
        }
    }

    /// Returns the present phase.
    pub(super) fn present(&self) -> P {
        self.present
    }

    /// Returns the time in `phase` until `now`.
    #[inline]
    pub(super) fn time(&self, now: Instant, phase: P) -> Duration {
        let past = self.past[phase.into()];
        if phase == self.present {
            past + now.saturating_since(self.since)
        } else {
            past
        }
    }

    /// Notes that `phase` has lasted since `start`, or since the present phase began if that is later.
    pub(super) fn enter_since(&mut self, start: Instant, phase: P) {
        self.enter(start.max(self.since), phase);
    }

    /// Notes that `phase` lasts from `now` on.
    #[inline]
    pub(super) fn enter(&mut self, now: Instant, phase: P) {
        if phase != self.present {
            self.change(now, phase);
        }
    }

    fn change(&mut self, now: Instant, phase: P) {
        self.past[self.present.into()] = self.time(now, self.present);
        self.present = phase;
        self.since = now;
    }
}
