//! Information per symbol: mutual information of bit-interleaved coded modulation over an additive white Gaussian
//! noise channel, and its dispersion.
//!
//! Per bit, the information density is `1 - log2(sum over all points / sum over the points with the
//! same bit)` of the likelihoods; its mean, summed over the bits of a symbol, is the BICM capacity
//! (Caire, Taricco, Biglieri, "Bit-interleaved coded modulation", IEEE Trans. IT 44(3), 1998), its
//! variance the dispersion of the normal approximation (Polyanskiy, Poor, Verdú, "Channel coding rate
//! in the finite blocklength regime", IEEE Trans. IT 56(5), 2010; for the bit-wise decoder: Martinez,
//! Guillén i Fàbregas, "Saddlepoint approximation of random-coding bounds", ITA 2011). Square
//! constellations are two independent amplitude modulations, so that one real dimension is enough.

use std::sync::LazyLock;

use super::Modulation;

/// SINR at the low end of the table, in dB; below it information is proportional to power.
const MIN_DB: f64 = -30.0;
/// SINR at the high end of the table, in dB; 256QAM is within 1e-9 of 8 bits there.
const MAX_DB: f64 = 42.0;
/// Distance between knots, at which the integrals are computed, in dB.
const KNOT_DB: f64 = 0.5;
/// Entries of the table per knot.
const STEPS_PER_KNOT: usize = 8;
const KNOTS: usize = ((MAX_DB - MIN_DB) / KNOT_DB) as usize + 1;
const ENTRIES: usize = (KNOTS - 1) * STEPS_PER_KNOT + 1;
const ENTRIES_PER_DB: f64 = STEPS_PER_KNOT as f64 / KNOT_DB;

/// Information and dispersion of one entry, per modulation.
struct Curves {
    /// Bits per symbol.
    information: Box<[[f32; 4]; ENTRIES]>,
    /// Bits² per symbol.
    dispersion: Box<[[f32; 4]; ENTRIES]>,
    /// Number of entries below each bin edge, per modulation: where the search for a number of bits starts.
    below_bins: [Vec<u16>; 4],
}

/// Bins per bit: a power of two, so that a division by it is exact.
const BINS_PER_BIT: f32 = 64.0;

static CURVES: LazyLock<Curves> = LazyLock::new(Curves::compute);

/// Position in the table: entry and the fraction to the next one.
#[derive(Clone, Copy)]
struct TablePosition {
    entry: usize,
    fraction: f32,
}

impl TablePosition {
    fn of(sinr_db: f64) -> Self {
        let scaled = (sinr_db - MIN_DB) * ENTRIES_PER_DB;
        if scaled <= 0.0 {
            return Self {
                entry: 0,
                fraction: 0.0,
            };
        }
        let entry = (scaled as usize).min(ENTRIES - 2);
        Self {
            entry,
            fraction: (scaled - entry as f64).min(1.0) as f32,
        }
    }

    fn interpolate(self, low: f32, high: f32) -> f32 {
        low + self.fraction * (high - low)
    }
}

/// Returns, for each modulation in the order of [`Modulation::ALL`], the sum of the bits that a symbol carries at each of
/// these SINRs in dB.
pub(crate) fn information_sums(sinr_db: &[f32]) -> [f32; 4] {
    let table = &*CURVES.information;
    let mut sums = [0.0; 4];
    for sinr_db in sinr_db {
        let at = TablePosition::of(f64::from(*sinr_db));
        let [low, high] = [&table[at.entry], &table[at.entry + 1]];
        for (sum, (low, high)) in sums.iter_mut().zip(low.iter().zip(high)) {
            *sum += at.interpolate(*low, *high);
        }
    }
    sums
}

/// Returns the mean of the bits that a symbol of `modulation` carries at these SINRs in dB; they must not be empty.
pub(crate) fn mean_information(modulation: Modulation, sinr_db: &[f32]) -> f64 {
    let table = &*CURVES.information;
    // Without fading all values are equal, and the table is read once.
    let (mut latest_db, mut bits) = (f32::NAN, 0.0);
    let mut sum = 0.0;
    for &sinr_db in sinr_db {
        if sinr_db != latest_db {
            latest_db = sinr_db;
            bits = look_up(table, modulation, f64::from(sinr_db));
        }
        sum += bits;
    }
    sum / sinr_db.len() as f64
}

/// Returns the bits that one symbol of `modulation` carries at `sinr_db`, between 0 and the modulation order.
pub fn information(modulation: Modulation, sinr_db: f64) -> f64 {
    look_up(&CURVES.information, modulation, sinr_db)
}

fn look_up(table: &[[f32; 4]; ENTRIES], modulation: Modulation, sinr_db: f64) -> f64 {
    let at = TablePosition::of(sinr_db);
    let column = modulation as usize;
    let [low, high] = [at.entry, at.entry + 1].map(|entry| table[entry][column]);
    let bits = f64::from(at.interpolate(low, high));
    if sinr_db < MIN_DB {
        // Below the table, information is proportional to power.
        return bits * libm::exp10((sinr_db - MIN_DB) / 10.0);
    }
    bits
}

/// Returns the variance of the information that one symbol of `modulation` carries at `sinr_db`, in bits².
pub(crate) fn dispersion(modulation: Modulation, sinr_db: f64) -> f64 {
    let at = TablePosition::of(sinr_db);
    let column = modulation as usize;
    let table = &*CURVES.dispersion;
    let [low, high] = [at.entry, at.entry + 1].map(|entry| table[entry][column]);
    f64::from(at.interpolate(low, high))
}

/// Returns the SINR in dB at which one symbol of `modulation` carries `bits`, within the range of the table.
pub(crate) fn sinr_db_of_information(modulation: Modulation, bits: f64) -> f64 {
    let column = modulation as usize;
    let table = &*CURVES.information;
    let bits = bits as f32;
    let below_bins = &CURVES.below_bins[column];
    let bin = ((bits * BINS_PER_BIT) as usize).min(below_bins.len() - 2);
    let [first, last] = [bin, bin + 1].map(|bin| usize::from(below_bins[bin]));
    let above = first + table[first..last].partition_point(|entry| entry[column] < bits);
    if above == 0 {
        return MIN_DB;
    }
    if above == ENTRIES {
        return MAX_DB;
    }
    let [low, high] = [table[above - 1][column], table[above][column]];
    let fraction = f64::from((bits - low) / (high - low));
    MIN_DB + ((above - 1) as f64 + fraction) / ENTRIES_PER_DB
}

impl Curves {
    fn compute() -> Self {
        let mut information = Box::new([[0.0; 4]; ENTRIES]);
        let mut dispersion = Box::new([[0.0; 4]; ENTRIES]);
        for &modulation in Modulation::ALL {
            let column = modulation as usize;
            let knots: Vec<(f64, f64)> = (0..KNOTS)
                .map(|knot| integrate(modulation, MIN_DB + knot as f64 * KNOT_DB))
                .collect();
            let means: Vec<f64> = knots.iter().map(|knot| knot.0).collect();
            let variances: Vec<f64> = knots.iter().map(|knot| knot.1).collect();
            for entry in 0..ENTRIES {
                information[entry][column] = monotone_cubic(&means, entry) as f32;
                dispersion[entry][column] = monotone_cubic(&variances, entry).max(0.0) as f32;
            }
        }
        let below_bins = core::array::from_fn(|column| {
            let modulation = Modulation::ALL[column];
            let bins = modulation.bits_per_symbol() * BINS_PER_BIT as u32;
            let below = |bin: u32| {
                let edge = bin as f32 / BINS_PER_BIT;
                information.partition_point(|entry| entry[column] < edge) as u16
            };
            // Beyond the last edge are only values that round to it.
            (0..bins).map(below).chain([ENTRIES as u16]).collect()
        });
        Self {
            information,
            dispersion,
            below_bins,
        }
    }
}

/// Returns the mean and the variance of the information density of one symbol.
///
/// The trapezoidal rule converges exponentially for such integrals (Trefethen and Weideman, "The
/// exponentially convergent trapezoidal rule", SIAM Review 56(3), 2014).
fn integrate(modulation: Modulation, sinr_db: f64) -> (f64, f64) {
    const STEP: f64 = 0.1;
    const REACH: i32 = 80;
    let bits = modulation.bits_per_symbol() / 2;
    let levels = 1_usize << bits;
    // Unit power, so that the noise has the variance 1 / SINR.
    let half_distance = libm::sqrt(3.0 / (levels * levels - 1) as f64);
    let deviation = libm::exp10(-sinr_db / 20.0);
    let amplitude =
        |level: usize| half_distance * (2 * level + 1) as f64 - half_distance * levels as f64;
    let (mut mean, mut square, mut weights) = (0.0, 0.0, 0.0);
    let mut likelihoods = [0.0; 16];
    // The other half of the points mirrors the first.
    for sent in 0..levels / 2 {
        for step in -REACH..=REACH {
            let noise = f64::from(step) * STEP;
            for (level, likelihood) in likelihoods[..levels].iter_mut().enumerate() {
                let distance = noise + (amplitude(sent) - amplitude(level)) / deviation;
                // Relative to the point that was sent, which keeps the sums from vanishing.
                *likelihood = libm::exp((noise * noise - distance * distance) / 2.0);
            }
            let density = density(&likelihoods[..levels], sent, bits);
            let weight = libm::exp(-noise * noise / 2.0);
            weights += weight;
            mean += weight * density;
            square += weight * density * density;
        }
    }
    mean /= weights;
    // Two dimensions: both mean and variance double.
    (2.0 * mean, 2.0 * (square / weights - mean * mean))
}

/// Returns the information on a level that the likelihoods of all levels give, summed over its bits.
fn density(likelihoods: &[f64], sent: usize, bits: u32) -> f64 {
    let gray = |level: usize| level ^ (level >> 1);
    let all: f64 = likelihoods.iter().sum();
    let mut density = f64::from(bits);
    for bit in 0..bits {
        let same: f64 = likelihoods
            .iter()
            .enumerate()
            .filter(|(level, _)| (gray(*level) ^ gray(sent)) >> bit & 1 == 0)
            .map(|(_, likelihood)| likelihood)
            .sum();
        density -= libm::log2(all / same);
    }
    density
}

/// Returns the value at a table entry of the monotone cubic through the knots (Fritsch and Carlson, "Monotone
/// piecewise cubic interpolation", SIAM J. Numer. Anal. 17(2), 1980, with harmonic-mean slopes).
fn monotone_cubic(knots: &[f64], entry: usize) -> f64 {
    let left = (entry / STEPS_PER_KNOT).min(knots.len() - 2);
    let t = (entry - left * STEPS_PER_KNOT) as f64 / STEPS_PER_KNOT as f64;
    let slope = |knot: usize| {
        if knot == 0 || knot == knots.len() - 1 {
            return 0.0;
        }
        let [before, after] = [knots[knot] - knots[knot - 1], knots[knot + 1] - knots[knot]];
        if before * after <= 0.0 {
            0.0
        } else {
            2.0 * before * after / (before + after)
        }
    };
    let (square, cube) = (t * t, t * t * t);
    knots[left] * (2.0 * cube - 3.0 * square + 1.0)
        + slope(left) * (cube - 2.0 * square + t)
        + knots[left + 1] * (3.0 * square - 2.0 * cube)
        + slope(left + 1) * (cube - square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_agrees_with_published_capacities() {
        // BPSK reaches half a bit at Es/N0 = -2.82 dB (Eb/N0 = 0.19 dB, the limit of rate 1/2; Proakis
        // and Salehi, "Digital Communications", 5th ed., ch. 6.5-4), which is QPSK's one bit at 0.19 dB.
        let half_rate = sinr_db_of_information(Modulation::Qpsk, 1.0);
        assert!((half_rate - 0.19).abs() < 0.02, "{half_rate}");
        // At rate 1/3 the limit is Eb/N0 = -0.50 dB (same source).
        let third = sinr_db_of_information(Modulation::Qpsk, 2.0 / 3.0);
        assert!(
            (third - 10.0 * libm::log10(2.0 / 3.0) + 0.50).abs() < 0.02,
            "{third}"
        );
    }

    #[test]
    fn information_stays_below_shannon_and_below_the_order() {
        for &modulation in Modulation::ALL {
            for step in -120..=168 {
                let sinr_db = f64::from(step) / 4.0;
                let shannon = libm::log2(1.0 + libm::exp10(sinr_db / 10.0));
                let bits = information(modulation, sinr_db);
                assert!(
                    bits <= shannon + 1e-6,
                    "{modulation:?} at {sinr_db} dB: {bits} > {shannon}"
                );
                assert!(bits <= f64::from(modulation.bits_per_symbol()));
            }
        }
    }

    #[test]
    fn information_rises_with_sinr_and_the_inverse_finds_it_again() {
        for &modulation in Modulation::ALL {
            let mut last = 0.0;
            for step in -100..=100 {
                let sinr_db = f64::from(step) / 4.0;
                let bits = information(modulation, sinr_db);
                assert!(bits >= last);
                last = bits;
                if bits < 0.999 * f64::from(modulation.bits_per_symbol()) {
                    let back = sinr_db_of_information(modulation, bits);
                    assert!(
                        (back - sinr_db).abs() < 0.01,
                        "{modulation:?} {sinr_db}: {back}"
                    );
                }
            }
        }
    }

    #[test]
    fn interpolation_is_as_good_as_integration() {
        for &modulation in Modulation::ALL {
            for step in -97..=131 {
                let sinr_db = f64::from(step) * 0.27;
                let (bits, variance) = integrate(modulation, sinr_db);
                assert!((information(modulation, sinr_db) - bits).abs() < 2e-3);
                assert!((dispersion(modulation, sinr_db) - variance).abs() < 1e-2);
            }
        }
    }
}
