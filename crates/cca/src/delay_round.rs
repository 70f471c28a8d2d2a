//! The RTTs of one round trip beside the lowest of all: what Vegas and its kin measure congestion by.

use units::Duration;

use super::{AckSample, Window};

/// No RTT yet, in the microseconds of [`DelayRound`].
const NONE: u64 = u64::MAX;
/// Fewer samples than this may all be of delayed ACKs.
const ENOUGH_SAMPLES: u32 = 3;

/// The lowest RTT of a round, which delayed ACKs do not disturb, and the lowest of the connection
/// (`BaseRTT`: Brakmo and Peterson 1995 §IV.A). Whole microseconds, as Linux measures them, and one more,
/// so that none is zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayRound {
    base: u64,
    lowest: u64,
    samples: u32,
    /// The round is over when more than this is acknowledged.
    end: u64,
}

/// The RTTs of a round that told enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundRtt {
    /// Lowest RTT of the connection, µs.
    pub(super) base: u64,
    /// Lowest RTT of the round, µs.
    pub(super) lowest: u64,
}

impl Default for DelayRound {
    fn default() -> Self {
        Self {
            base: NONE,
            lowest: NONE,
            samples: 0,
            end: 0,
        }
    }
}

impl DelayRound {
    /// Forgets all RTTs; a round begins.
    pub(super) fn restart(&mut self, w: &Window) {
        self.base = NONE;
        self.begin(w);
    }

    /// A round begins: it ends when what is to be sent next is acknowledged.
    pub(super) fn begin(&mut self, w: &Window) {
        self.end = w.snd_nxt;
        self.lowest = NONE;
        self.samples = 0;
    }

    /// The path has an RTT of `lowest` as another has found.
    pub(super) fn seed(&mut self, lowest: Duration) {
        self.base = lowest.as_micros().saturating_add(1);
    }

    /// An ACK came.
    pub(super) fn sample(&mut self, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let rtt = rtt.as_micros().saturating_add(1);
        self.base = self.base.min(rtt);
        self.lowest = self.lowest.min(rtt);
        self.samples += 1;
    }

    /// Whether all that was sent before the round began is acknowledged, and something more.
    pub(super) fn is_over(&self, w: &Window) -> bool {
        w.snd_una > self.end
    }

    /// The RTTs of this round, if there are enough.
    pub(super) fn rtt(&self) -> Option<RoundRtt> {
        (self.samples >= ENOUGH_SAMPLES).then_some(RoundRtt {
            base: self.base,
            lowest: self.lowest,
        })
    }
}

impl RoundRtt {
    /// What of the RTT is waiting in queues, µs.
    pub(super) fn queueing(self) -> u64 {
        self.lowest.saturating_sub(self.base)
    }
}
