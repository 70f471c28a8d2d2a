//! Chronograph: the times of `TCP_INFO` in which a sender was busy, and held back by the offered window or the send
//! buffer, as Linux counts them (`tcp_chrono_start`, `tcp_chrono_stop`).

use units::{Duration, Instant};

use super::Sender;
use super::chrono::PhaseTimes;

/// Phase of a sender; a later one takes precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// There is no data.
    Idle,
    /// There is data (`TCP_CHRONO_BUSY`).
    Busy,
    /// The other end's window has no room for the next segment (`TCP_CHRONO_RWND_LIMITED`).
    WindowLimited,
    /// The application waits for room in the send buffer, and all it holds was sent (`TCP_CHRONO_SNDBUF_LIMITED`).
    BufferLimited,
}

impl From<Phase> for usize {
    fn from(phase: Phase) -> Self {
        phase as Self
    }
}

/// Times of a sender in each phase.
pub(super) type Chronograph = PhaseTimes<Phase, 4>;

impl Chronograph {
    /// Returns the time with data until `now`.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        let phases = [Phase::Busy, Phase::WindowLimited, Phase::BufferLimited];
        let times = phases.into_iter().map(|phase| self.time(now, phase));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }

    /// Begins a phase, unless one of precedence lasts.
    pub(super) fn start(&mut self, now: Instant, phase: Phase) {
        if phase > self.present() {
            self.enter(now, phase);
        }
    }
}

impl Sender {
    /// Ends a phase: what remains is the transmission of data, if there is any.
    pub(super) fn stop_phase(&mut self, now: Instant, phase: Phase) {
        if self.write_end == self.snd_una {
            self.chronograph.enter(now, Phase::Idle);
        } else if phase == self.chronograph.present() {
            self.chronograph.enter(now, Phase::Busy);
        }
    }
}
