//! Histogram of delays, in bins of equal width; the width doubles when a delay is above the last bin.

/// Number of bins.
const BINS: usize = 64;
/// Binary logarithm of the initial width of a bin, ns.
const INITIAL_WIDTH_LOG2: u32 = 12;
/// Number of samples at which all counts are halved, so that old ones fade.
const MAX_TOTAL: u32 = 1 << 16;

/// Counts of delays.
pub(super) struct Histogram {
    /// Binary logarithm of the width of a bin, ns.
    width_log2: u32,
    counts: [u32; BINS],
    total: u32,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            width_log2: INITIAL_WIDTH_LOG2,
            counts: [0; BINS],
            total: 0,
        }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, delay_ns: u64) {
        while delay_ns >> self.width_log2 >= BINS as u64 {
            self.widen();
        }
        self.counts[(delay_ns >> self.width_log2) as usize] += 1;
        self.total += 1;
        if self.total >= MAX_TOTAL {
            for count in &mut self.counts {
                *count /= 2;
            }
            self.total = self.counts.iter().sum();
        }
    }

    fn widen(&mut self) {
        self.width_log2 += 1;
        for bin in 0..BINS / 2 {
            self.counts[bin] = self.counts[2 * bin] + self.counts[2 * bin + 1];
        }
        self.counts[BINS / 2..].fill(0);
    }

    /// Returns the share of the delays that are at least `delay_ns`, to the width of a bin.
    pub(super) fn share_from(&self, delay_ns: u64) -> f64 {
        let first = (delay_ns >> self.width_log2) as usize;
        let above: u32 = self.counts.iter().skip(first).sum();
        f64::from(above) / f64::from(self.total.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_delays_to_a_step() {
        let mut histogram = Histogram::default();
        for delay_us in 0..1_000 {
            histogram.add(delay_us * 1_000);
        }
        for part in [0.1, 0.5, 0.9] {
            let share = histogram.share_from((part * 1e6) as u64);
            assert!((share - (1.0 - part)).abs() < 0.02, "{part}: {share}");
        }
        assert_eq!(histogram.share_from(2_000_000), 0.0);
    }

    #[test]
    fn old_delays_fade() {
        let mut histogram = Histogram::default();
        for _ in 0..MAX_TOTAL {
            histogram.add(1_000_000);
        }
        for _ in 0..4 * MAX_TOTAL {
            histogram.add(0);
        }
        assert!(histogram.share_from(1_000_000) < 0.1);
    }
}
