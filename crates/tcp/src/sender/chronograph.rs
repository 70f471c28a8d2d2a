//! Chronograph: the times of `TCP_INFO` in which a sender was busy, and held back by the offered window or the send
//! buffer, as Linux counts them (`tcp_chrono_start`, `tcp_chrono_stop`).

use units::{Duration, Instant};

use super::Sender;

/// Phase of a sender; a later one takes precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Phase {
    /// There is no data.
    #[default]
    Idle,
    /// There is data (`TCP_CHRONO_BUSY`).
    Busy,
    /// The other end's window has no room for the next segment (`TCP_CHRONO_RWND_LIMITED`).
    WindowLimited,
    /// The application waits for room in the send buffer, and all it holds was sent (`TCP_CHRONO_SNDBUF_LIMITED`).
    BufferLimited,
}

/// Times of a sender in each phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chronograph {
    phase: Phase,
    since: Instant,
    times: [Duration; 4],
}

impl Chronograph {
    /// Returns the time in `phase` until `now`.
    pub(super) fn time(&self, now: Instant, phase: Phase) -> Duration {
        let past = self.times[phase as usize];
        if phase == self.phase {
            past + now.saturating_since(self.since)
        } else {
            past
        }
    }

    /// Returns the time with data until `now`.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        let phases = [Phase::Busy, Phase::WindowLimited, Phase::BufferLimited];
        let times = phases.into_iter().map(|phase| self.time(now, phase));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }

    fn set(&mut self, now: Instant, phase: Phase) {
        self.times[self.phase as usize] = self.time(now, self.phase);
        self.phase = phase;
        self.since = now;
    }

    /// Begins a phase, unless one of precedence lasts.
    pub(super) fn start(&mut self, now: Instant, phase: Phase) {
        if phase > self.phase {
            self.set(now, phase);
        }
    }
}

impl Sender {
    /// Ends a phase: what remains is the transmission of data, if there is any.
    pub(super) fn stop_phase(&mut self, now: Instant, phase: Phase) {
        if self.write_end == self.snd_una {
            self.chronograph.set(now, Phase::Idle);
        } else if phase == self.chronograph.phase {
            self.chronograph.set(now, Phase::Busy);
        }
    }
}
