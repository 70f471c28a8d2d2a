//! RTTs from which Copa estimates the queue (§2.1 and §2.2).

use units::{Duration, Instant};

use crate::windowed_filter::WindowedMax;

/// Smoothed RTTs over which the highest RTT counts.
const HIGHEST_ROUNDS: u64 = 4;

/// Standing RTT, lowest RTT and highest RTT. The filter takes maxima, so for minima it gets the complement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtts {
    standing: WindowedMax,
    lowest: WindowedMax,
    highest: WindowedMax,
}

fn micros_at(now: Instant) -> u64 {
    now.since_start().as_micros()
}

fn window_min(filter: &WindowedMax) -> Duration {
    match filter.get() {
        0 => Duration::ZERO,
        complement => Duration::from_micros(!complement),
    }
}

impl Rtts {
    /// Adds an RTT sample; `memory` is the time for which a lowest RTT counts.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration, srtt: Duration, memory: Duration) {
        let (at, rtt) = (micros_at(now), rtt.as_micros());
        self.standing.update((srtt / 2).as_micros(), at, !rtt);
        self.lowest.update(memory.as_micros(), at, !rtt);
        let rounds = srtt * HIGHEST_ROUNDS;
        self.highest.update(rounds.as_micros(), at, rtt);
    }

    /// Sets the lowest RTT to the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, now: Instant, lowest: Duration, memory: Duration) {
        let complement = !lowest.as_micros();
        self.lowest
            .update(memory.as_micros(), micros_at(now), complement);
    }

    /// Returns `RTTstanding`, the lowest RTT of the last half of a smoothed RTT, which late or aggregated
    /// ACKs do not raise; zero before the first sample.
    pub(super) fn standing(&self) -> Duration {
        window_min(&self.standing)
    }

    /// Returns the queueing delay, `RTTstanding` − `RTTmin`.
    pub(super) fn queueing(&self) -> Duration {
        self.standing().saturating_sub(window_min(&self.lowest))
    }

    /// Returns the range of the RTT: the highest one of the last four smoothed RTTs less the lowest.
    pub(super) fn rtt_range(&self) -> Duration {
        Duration::from_micros(self.highest.get()).saturating_sub(window_min(&self.lowest))
    }
}
