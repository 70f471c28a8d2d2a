//! RTTs of one round trip and the lowest RTT of the connection, the measurements of Vegas and its relatives.

use units::Duration;

use super::{AckSample, Window};

/// Value of an RTT before the first sample, in the microseconds of [`DelayRound`].
const NO_RTT: u64 = u64::MAX;
/// Minimum number of samples for an estimate: fewer may all come from delayed ACKs.
const ENOUGH_SAMPLES: u32 = 3;

/// Lowest RTT of a round, which delayed ACKs do not disturb, and lowest RTT of the connection (`BaseRTT`:
/// Brakmo and Peterson 1995 §IV.A). RTTs are whole microseconds plus one, as in Linux, so that none is zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayRound {
    base: u64,
    /// Lowest RTT of the round.
    min: u64,
    samples: u32,
    /// The round ends when more than this is acknowledged.
    end: u64,
}

/// RTTs of a round that had enough samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundRtt {
    /// Lowest RTT of the connection, µs.
    pub(super) base: u64,
    /// Lowest RTT of the round, µs.
    pub(super) min: u64,
}

impl Default for DelayRound {
    fn default() -> Self {
        Self {
            base: NO_RTT,
            min: NO_RTT,
            samples: 0,
            end: 0,
        }
    }
}

impl DelayRound {
    /// Forgets all RTTs and begins a round.
    pub(super) fn restart(&mut self, w: &Window) {
        self.base = NO_RTT;
        self.begin(w);
    }

    /// Begins a round, which ends when the next segment to be sent is acknowledged.
    pub(super) fn begin(&mut self, w: &Window) {
        self.end = w.snd_nxt;
        self.min = NO_RTT;
        self.samples = 0;
    }

    /// Sets the lowest RTT to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, min_rtt: Duration) {
        self.base = min_rtt.as_micros().saturating_add(1);
    }

    /// Adds the RTT sample of an ACK.
    pub(super) fn sample(&mut self, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let rtt = rtt.as_micros().saturating_add(1);
        self.base = self.base.min(rtt);
        self.min = self.min.min(rtt);
        self.samples += 1;
    }

    /// Returns whether more is acknowledged than was sent before the round began.
    pub(super) fn is_over(&self, w: &Window) -> bool {
        w.snd_una > self.end
    }

    /// Returns the RTTs of this round, if there are enough samples.
    pub(super) fn rtt(&self) -> Option<RoundRtt> {
        (self.samples >= ENOUGH_SAMPLES).then_some(RoundRtt {
            base: self.base,
            min: self.min,
        })
    }
}

impl RoundRtt {
    /// Returns the queueing delay, µs.
    pub(super) fn queueing_delay(self) -> u64 {
        self.min.saturating_sub(self.base)
    }
}
