//! RTTs between the capture and one side: extremes, percentiles and the smoothed RTT.

use std::collections::BTreeMap;

/// Steps of the histogram per factor of e: each is 2 % wide.
const STEPS: f64 = 50.0;

/// RTT sample: the time at which a packet passed, and the time until its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sample {
    pub(super) at_ns: u64,
    /// End of the packet's sequence numbers, which orders packets of the same time; 0 if it has none.
    pub(super) end: u64,
    pub(super) rtt_ns: u64,
    /// Bytes delivered in that time, if known.
    pub(super) delivered: Option<u64>,
}

/// RTT samples in bounded memory.
#[derive(Default)]
pub(super) struct Rtts {
    steps: BTreeMap<u16, u32>,
    count: u64,
    sum_ns: u64,
    min_ns: Option<u64>,
    max_ns: u64,
    smoothed_ns: u64,
}

impl Rtts {
    pub(super) fn add(&mut self, sample: Sample) {
        let rtt = sample.rtt_ns.max(1);
        let step = ((rtt as f64 / 1e3).ln().max(0.0) * STEPS) as u16;
        *self.steps.entry(step).or_default() += 1;
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(rtt);
        self.min_ns = Some(self.min_ns.map_or(rtt, |min| min.min(rtt)));
        self.max_ns = self.max_ns.max(rtt);
        self.smoothed_ns = if self.count == 1 {
            rtt
        } else {
            self.smoothed_ns - self.smoothed_ns / 8 + rtt / 8
        };
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn min_ns(&self) -> Option<u64> {
        self.min_ns
    }

    pub(super) fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Smoothed RTT of RFC 6298; `None` before the first sample.
    pub(super) fn smoothed_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.smoothed_ns)
    }

    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Returns the RTT below which the share `p` of the samples is, to 2 %.
    pub(super) fn percentile_ns(&self, p: f64) -> Option<f64> {
        let rank = (p * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (step, count) in &self.steps {
            seen += u64::from(*count);
            if seen >= rank.max(1) {
                let middle = ((f64::from(*step) + 0.5) / STEPS).exp() * 1e3;
                return Some(middle.clamp(self.min_ns? as f64, self.max_ns as f64));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rtts_ms: impl IntoIterator<Item = u64>) -> Rtts {
        let mut rtts = Rtts::default();
        for (number, rtt) in rtts_ms.into_iter().enumerate() {
            rtts.add(Sample {
                at_ns: number as u64 * 10_000_000,
                end: 0,
                rtt_ns: rtt * 1_000_000,
                delivered: None,
            });
        }
        rtts
    }

    #[test]
    fn percentiles_are_within_two_percent() {
        let rtts = samples(1..=1_000);
        for p in [0.05, 0.5, 0.95, 0.99] {
            let result = rtts.percentile_ns(p).unwrap() / 1e6;
            assert!((result / (p * 1_000.0) - 1.0).abs() < 0.02, "{p}: {result}");
        }
        assert_eq!(rtts.min_ns(), Some(1_000_000));
        assert_eq!(rtts.mean_ns(), Some(500.5e6));
    }
}
