//! The RTTs by which Copa knows the queue (§2.1 and §2.2).

use units::{Duration, Instant};

use crate::windowed_filter::WindowedMax;

/// Smoothed RTTs over which the highest RTT counts.
const HIGHEST_ROUNDS: u64 = 4;

/// The standing RTT, the lowest and the highest. The filter is one of maxima: for a minimum it is given
/// the complement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtts {
    standing: WindowedMax,
    lowest: WindowedMax,
    highest: WindowedMax,
}

fn micros_at(now: Instant) -> u64 {
    now.since_start().as_micros()
}

fn least(filter: &WindowedMax) -> Duration {
    match filter.get() {
        0 => Duration::ZERO,
        complement => Duration::from_micros(!complement),
    }
}

impl Rtts {
    /// An RTT was measured; `memory` is how long a lowest one counts.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration, srtt: Duration, memory: Duration) {
        let (at, rtt) = (micros_at(now), rtt.as_micros());
        self.standing.update((srtt / 2).as_micros(), at, !rtt);
        self.lowest.update(memory.as_micros(), at, !rtt);
        let rounds = srtt * HIGHEST_ROUNDS;
        self.highest.update(rounds.as_micros(), at, rtt);
    }

    /// The path has an RTT of `lowest` as another has found.
    pub(super) fn seed(&mut self, now: Instant, lowest: Duration, memory: Duration) {
        let complement = !lowest.as_micros();
        self.lowest
            .update(memory.as_micros(), micros_at(now), complement);
    }

    /// `RTTstanding`: the lowest of the last half of a smoothed RTT, which ACKs that come late or in lumps
    /// do not raise; zero before the first sample.
    pub(super) fn standing(&self) -> Duration {
        least(&self.standing)
    }

    /// The queueing delay, `RTTstanding` − `RTTmin`.
    pub(super) fn queueing(&self) -> Duration {
        self.standing().saturating_sub(least(&self.lowest))
    }

    /// How far the RTT swings: the highest of the last four smoothed RTTs over the lowest.
    pub(super) fn swing(&self) -> Duration {
        Duration::from_micros(self.highest.get()).saturating_sub(least(&self.lowest))
    }
}
