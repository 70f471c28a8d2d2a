//! Soft buffer: the information that a receiver stores of a transport block that it could not decode.
//!
//! A code block of K bits is lost if the information received about it falls short of K. That information is nearly
//! normal around the sum over its symbols, see [`bler`](super::bler).

use super::bler::gap_db;
use super::capacity::{dispersion, information};
use super::{CodeBlocks, Modulation};

/// Transmissions that one soft buffer can hold.
pub(crate) const MAX_TRANSMISSIONS: usize = 8;

/// Transmissions of one transport block that a receiver has.
#[derive(Clone, Copy, Debug)]
pub struct SoftBuffer {
    blocks: CodeBlocks,
    modulation: Modulation,
    attempts: [Attempt; MAX_TRANSMISSIONS],
    count: usize,
}

/// One transmission of a code block.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Start in the circular buffer, as a fraction of it.
    start: f64,
    /// Length as a fraction of the circular buffer; above 1 if bits are repeated.
    length: f64,
    /// SINR minus the gap of the decoder, in dB.
    sinr_db: f64,
}

impl Attempt {
    /// Returns how often this transmission carries the bit at `position` of the buffer, a fraction of it.
    fn copies_of(&self, position: f64) -> f64 {
        let ahead = position - self.start;
        let ahead = if ahead < 0.0 { ahead + 1.0 } else { ahead };
        if ahead < self.length {
            libm::ceil(self.length - ahead)
        } else {
            0.0
        }
    }
}

/// Sum of the information on one code block over its symbols.
#[derive(Clone, Copy, Default)]
struct AccumulatedMi {
    symbols: f64,
    /// Mean, in bits.
    mean: f64,
    /// Variance, in bits².
    variance: f64,
}

impl AccumulatedMi {
    fn add(&mut self, modulation: Modulation, symbols: f64, sinr_db: f64) {
        self.symbols += symbols;
        self.mean += symbols * information(modulation, sinr_db);
        self.variance += symbols * dispersion(modulation, sinr_db);
    }
}

impl SoftBuffer {
    /// Returns an empty buffer for the code blocks of a transport block.
    pub fn new(blocks: CodeBlocks, modulation: Modulation) -> Self {
        Self {
            blocks,
            modulation,
            attempts: [Attempt::default(); MAX_TRANSMISSIONS],
            count: 0,
        }
    }

    /// Adds a transmission of `coded_bits` for the whole transport block, from redundancy version `version` on, at
    /// the effective SINR `sinr_db`.
    ///
    /// The same version again is Chase combining (SINR adds up), another one brings new bits (information adds up).
    /// Where both overlap in the circular buffer, each part is computed separately. Beyond `MAX_TRANSMISSIONS` the last
    /// one is replaced.
    pub fn receive(&mut self, version: u8, coded_bits: u32, sinr_db: f64) {
        let code = self.blocks.code;
        let buffer = f64::from(self.blocks.count * self.blocks.bits * code.buffer_per_bit());
        self.count = (self.count + 1).min(MAX_TRANSMISSIONS);
        self.attempts[self.count - 1] = Attempt {
            start: code.start_of(version),
            length: f64::from(coded_bits) / buffer,
            sinr_db: sinr_db - gap_db(code),
        };
    }

    /// Returns the probability that the transport block cannot be decoded from all transmissions.
    ///
    /// It never rises with another transmission. A block that fails after n transmissions failed after n - 1 as well.
    /// One draw per block, compared with this probability after each of its transmissions, therefore gives every attempt
    /// its share.
    pub fn bler(&self) -> f64 {
        self.bler_with(match &self.attempts[..self.count] {
            [attempt] => self.information_of_attempt(attempt),
            attempts => self.information_of_all(attempts),
        })
    }

    fn bler_with(&self, sum: AccumulatedMi) -> f64 {
        if sum.symbols == 0.0 {
            return 1.0;
        }
        let bits = f64::from(self.blocks.bits);
        let surplus = sum.mean - bits + 0.5 * libm::log2(sum.symbols);
        // A minimum variance of one bit² keeps the ratio finite on a perfect channel.
        let lost = normal_tail(surplus / libm::sqrt(sum.variance.max(1.0)));
        1.0 - power(1.0 - lost, self.blocks.count)
    }

    /// Returns the symbols that fill the circular buffer of one code block.
    fn symbols_of_buffer(&self) -> f64 {
        f64::from(self.blocks.bits) * f64::from(self.blocks.code.buffer_per_bit())
            / f64::from(self.modulation.bits_per_symbol())
    }

    /// Returns the information of one transmission, the usual case. It carries one part of the buffer once more than the
    /// other part, wherever it starts.
    fn information_of_attempt(&self, attempt: &Attempt) -> AccumulatedMi {
        let mut sum = AccumulatedMi::default();
        if attempt.sinr_db == f64::NEG_INFINITY {
            return sum;
        }
        let rounds = libm::floor(attempt.length);
        let part = attempt.length - rounds;
        for (share, times) in [(part, rounds + 1.0), (1.0 - part, rounds)] {
            if share > 0.0 && times > 0.0 {
                let gain_db = if times > 1.0 {
                    10.0 * libm::log10(times)
                } else {
                    0.0
                };
                let symbols = share * self.symbols_of_buffer();
                sum.add(self.modulation, symbols, attempt.sinr_db + gain_db);
            }
        }
        sum
    }

    /// Returns the information of several transmissions: the sum over the parts of the buffer between their edges.
    fn information_of_all(&self, attempts: &[Attempt]) -> AccumulatedMi {
        let mut edges = [0.0; 2 * MAX_TRANSMISSIONS + 1];
        let mut sinrs = [0.0; MAX_TRANSMISSIONS];
        let mut count = 0;
        for (attempt, sinr) in attempts.iter().zip(&mut sinrs) {
            let end = attempt.start + attempt.length;
            for edge in [attempt.start, end - libm::floor(end)] {
                edges[count] = edge;
                count += 1;
            }
            *sinr = libm::exp10(attempt.sinr_db / 10.0);
        }
        edges[count] = 1.0;
        let edges = &mut edges[..=count];
        edges.sort_unstable_by(f64::total_cmp);
        let (mut sum, mut from) = (AccumulatedMi::default(), 0.0);
        for to in edges.iter() {
            let middle = f64::midpoint(from, *to);
            let combined = attempts
                .iter()
                .zip(&sinrs)
                .map(|(attempt, sinr)| attempt.copies_of(middle) * sinr);
            let sinr: f64 = combined.sum();
            if *to > from && sinr > 0.0 {
                let symbols = (to - from) * self.symbols_of_buffer();
                sum.add(self.modulation, symbols, 10.0 * libm::log10(sinr));
            }
            from = *to;
        }
        sum
    }
}

/// Returns the probability that a standard normal variable exceeds `x`.
fn normal_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// Returns `base` to the power of `exponent`, by squaring.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QAM16: Modulation = Modulation::Qam16;

    #[test]
    fn chase_combining_adds_sinr() {
        let blocks = CodeBlocks::lte(8_248);
        let coded_bits = 12_000;
        let once = |sinr_db| {
            let mut buffer = SoftBuffer::new(blocks, QAM16);
            buffer.receive(0, coded_bits, sinr_db);
            buffer.bler()
        };
        let twice = |sinr_db| {
            let mut buffer = SoftBuffer::new(blocks, QAM16);
            buffer.receive(0, coded_bits, sinr_db);
            buffer.receive(0, coded_bits, sinr_db);
            buffer.bler()
        };
        for sinr_db in [9.0, 9.5, 10.0] {
            let doubled = sinr_db - 10.0 * libm::log10(2.0);
            assert!((twice(doubled) - once(sinr_db)).abs() < 1e-6);
        }
    }

    #[test]
    fn incremental_redundancy_beats_chase_combining_at_high_rates_and_equals_it_at_the_mother_rate()
    {
        let blocks = CodeBlocks::lte(8_248);
        let second = |coded_bits, version, sinr_db| {
            let mut buffer = SoftBuffer::new(blocks, QAM16);
            buffer.receive(0, coded_bits, sinr_db);
            buffer.receive(version, coded_bits, sinr_db);
            buffer.bler()
        };
        // At rate 0.83 version 2 begins where version 0 has almost ended.
        let [chase, incremental] = [0, 2].map(|version| second(10_000, version, 6.0));
        assert!(chase > 0.99 && incremental < 0.01, "{chase} {incremental}");
        let whole = blocks.count * blocks.bits * 3;
        assert!((second(whole, 0, -0.6) - second(whole, 2, -0.6)).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn one_transmission_is_worth_what_combining_finds(
            bits in 40_u32..20_000, rate in 0.05_f64..0.95, version in 0_u8..4, sinr_db in -15.0_f64..30.0
        ) {
            for blocks in [CodeBlocks::lte(bits), CodeBlocks::nr(bits, rate)] {
                let coded_bits = (f64::from(blocks.count * blocks.bits) / rate) as u32;
                let mut buffer = SoftBuffer::new(blocks, QAM16);
                buffer.receive(version, coded_bits, sinr_db);
                let attempts = &buffer.attempts[..1];
                let short = buffer.bler_with(buffer.information_of_attempt(&attempts[0]));
                let long = buffer.bler_with(buffer.information_of_all(attempts));
                prop_assert!((short - long).abs() < 1e-6, "{short} {long}");
            }
        }

        #[test]
        fn errors_do_not_get_more_frequent_with_a_retransmission(
            bits in 40_u32..20_000,
            rate in 0.1_f64..0.9,
            attempts in proptest::collection::vec((0_u8..4, -10.0_f64..20.0), 2..6),
        ) {
            let blocks = CodeBlocks::lte(bits);
            let coded_bits = (f64::from(blocks.count * blocks.bits) / rate) as u32;
            let mut buffer = SoftBuffer::new(blocks, QAM16);
            let mut last = 1.0;
            for (version, sinr_db) in attempts {
                buffer.receive(version, coded_bits, sinr_db);
                let now = buffer.bler();
                prop_assert!(now <= last + 1e-3, "{last} {now}");
                last = now;
            }
        }
    }
}
