//! RTTs from which Copa estimates the queue (§2.1 and §2.2).

use units::{Duration, Instant};

use crate::windowed_filter::WindowedMax;

/// Window of the highest RTT, in smoothed RTTs.
const MAX_RTT_WINDOW_SRTTS: u64 = 4;

/// Standing RTT, lowest RTT and highest RTT, µs. The filters are for maxima, so for minima they get the complement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtts {
    standing: WindowedMax,
    min: WindowedMax,
    max: WindowedMax,
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
    /// Adds an RTT sample; `length` is the window of the lowest RTT.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration, srtt: Duration, length: Duration) {
        self.seed(now, rtt, length);
        let (at, rtt) = (micros_at(now), rtt.as_micros());
        self.standing.update((srtt / 2).as_micros(), at, !rtt);
        let max_window = srtt * MAX_RTT_WINDOW_SRTTS;
        self.max.update(max_window.as_micros(), at, rtt);
    }

    /// Adds a sample to the lowest RTT only, such as the one that an earlier CCA has found.
    pub(super) fn seed(&mut self, now: Instant, min_rtt: Duration, length: Duration) {
        let complement = !min_rtt.as_micros();
        self.min
            .update(length.as_micros(), micros_at(now), complement);
    }

    /// Returns `RTTstanding`, the lowest RTT of the last half of a smoothed RTT, which late or aggregated
    /// ACKs do not raise; zero before the first sample.
    pub(super) fn standing(&self) -> Duration {
        window_min(&self.standing)
    }

    /// Returns the queueing delay, `RTTstanding` − `RTTmin`.
    pub(super) fn queueing(&self) -> Duration {
        self.standing().saturating_sub(window_min(&self.min))
    }

    /// Returns the range of the RTT: the highest one of the last four smoothed RTTs less the lowest.
    pub(super) fn range(&self) -> Duration {
        Duration::from_micros(self.max.get()).saturating_sub(window_min(&self.min))
    }
}
