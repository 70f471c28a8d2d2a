//! Block errors: the chance that a transport block is lost, after one transmission or several.
//!
//! A code block of K bits is lost when the information received about it falls short of K. That
//! information is nearly normal around the sum over its symbols (normal approximation, Polyanskiy,
//! Poor, Verdú, IEEE Trans. IT 56(5), 2010), with mean and variance of [`capacity`]. Real
//! codes need some more power than this bound: [`gap_db`].
//!
//! [`capacity`]: super::capacity

use super::capacity::{dispersion, information, sinr_db_of_information};
use super::{ChannelCode, CodeBlocks, Modulation};

/// Transmissions that one soft buffer can hold.
pub const MAX_TRANSMISSIONS: usize = 8;

/// How far a decoder stays behind the normal approximation, in dB.
///
/// Turbo: between 90 and 5 % of lost blocks, LTE's code with a BCJR decoder of eight iterations lies 0.56
/// to 0.85 dB behind it in the figures of TTA PG707 ("Link-level simulation results for IMT.EVAL",
/// contribution to ITU-R WP 5D; 240 bits, QPSK, rates 1/3 to 4/5). LDPC: 0.67 to 1.0 dB in the link-level
/// tables of Sionna 1.0 (Hoydis et al., arXiv:2203.11854; 500 to 2000 bits, QPSK to 64QAM). Rarer errors
/// and blocks of 100 bits or fewer lie further behind.
pub const fn gap_db(code: ChannelCode) -> f64 {
    match code {
        ChannelCode::Turbo => 0.75,
        ChannelCode::LdpcBaseGraph1 | ChannelCode::LdpcBaseGraph2 => 0.9,
    }
}

/// Mean of the information over resource blocks as the SINR at which an AWGN channel gives as much.
///
/// This is the mutual-information effective SINR mapping, MIESM (Brueninghaus et al., "Link performance
/// models for system level simulations of broadband radio access systems", PIMRC 2005). `sinr_db` holds
/// one value per group of resource blocks, in dB; with none, minus infinity is returned.
pub fn effective_sinr_mi(sinr_db: &[f32], modulation: Modulation) -> f64 {
    if sinr_db.is_empty() {
        return f64::NEG_INFINITY;
    }
    let sum: f64 = sinr_db
        .iter()
        .map(|sinr| information(modulation, f64::from(*sinr)))
        .sum();
    sinr_db_of_information(modulation, sum / sinr_db.len() as f64)
}

/// What a receiver has of one transport block.
#[derive(Clone, Copy, Debug)]
pub struct SoftBuffer {
    blocks: CodeBlocks,
    modulation: Modulation,
    received: [Reception; MAX_TRANSMISSIONS],
    count: usize,
}

/// One transmission of a code block.
#[derive(Clone, Copy, Debug, Default)]
struct Reception {
    /// Where it begins in the circular buffer, as a share of it.
    start: f64,
    /// How much of the circular buffer it fills; above 1 where bits are repeated.
    length: f64,
    /// SINR with the decoder's gap taken off, linear.
    sinr: f64,
}

impl Reception {
    /// How often this transmission carries the bit at `position` of the buffer.
    fn times(&self, position: f64) -> f64 {
        let ahead = position - self.start;
        let ahead = if ahead < 0.0 { ahead + 1.0 } else { ahead };
        if ahead < self.length {
            libm::ceil(self.length - ahead)
        } else {
            0.0
        }
    }
}

impl SoftBuffer {
    /// Nothing received yet of the code blocks of a transport block.
    pub const fn new(blocks: CodeBlocks, modulation: Modulation) -> Self {
        const NOTHING: Reception = Reception {
            start: 0.0,
            length: 0.0,
            sinr: 0.0,
        };
        Self {
            blocks,
            modulation,
            received: [NOTHING; MAX_TRANSMISSIONS],
            count: 0,
        }
    }

    /// Transmissions received.
    pub const fn transmissions(&self) -> usize {
        self.count
    }

    /// Adds a transmission of `coded_bits` for the whole transport block, from redundancy version
    /// `version` on, at the effective SINR `sinr_db`. The same version again is Chase combining (SINR
    /// adds up), another one brings new bits (information adds up); where both meet in the circular
    /// buffer, each part counts as what it is. Past [`MAX_TRANSMISSIONS`] the last one is replaced.
    pub fn receive(&mut self, version: u8, coded_bits: u32, sinr_db: f64) {
        let code = self.blocks.code;
        let buffer = f64::from(self.blocks.count * self.blocks.bits * code.buffer_per_bit());
        self.count = (self.count + 1).min(MAX_TRANSMISSIONS);
        self.received[self.count - 1] = Reception {
            start: code.start_of(version),
            length: f64::from(coded_bits) / buffer,
            sinr: libm::exp10((sinr_db - gap_db(code)) / 10.0),
        };
    }

    /// The chance that the transport block cannot be decoded from all that was received.
    ///
    /// It never rises with another transmission. A block that fails after n transmissions failed after
    /// n - 1 as well, so one draw per block, compared with this chance after each of its transmissions,
    /// gives every attempt its share.
    pub fn bler(&self) -> f64 {
        let received = &self.received[..self.count];
        let mut edges = [0.0; 2 * MAX_TRANSMISSIONS + 2];
        let mut count = 0;
        for reception in received {
            let end = reception.start + reception.length;
            for edge in [reception.start, end - libm::floor(end)] {
                edges[count] = edge;
                count += 1;
            }
        }
        edges[count] = 1.0;
        let edges = &mut edges[..=count];
        edges.sort_unstable_by(f64::total_cmp);
        let bits = f64::from(self.blocks.bits);
        let symbols_of_buffer = bits * f64::from(self.blocks.code.buffer_per_bit())
            / f64::from(self.modulation.bits_per_symbol());
        let (mut symbols, mut mean, mut variance, mut from) = (0.0, 0.0, 0.0, 0.0);
        for to in edges.iter() {
            let middle = f64::midpoint(from, *to);
            let sinr: f64 = received
                .iter()
                .map(|one| one.times(middle) * one.sinr)
                .sum();
            if *to > from && sinr > 0.0 {
                let share = (to - from) * symbols_of_buffer;
                let sinr_db = 10.0 * libm::log10(sinr);
                symbols += share;
                mean += share * information(self.modulation, sinr_db);
                variance += share * dispersion(self.modulation, sinr_db);
            }
            from = *to;
        }
        if symbols == 0.0 {
            return 1.0;
        }
        let surplus = mean - bits + 0.5 * libm::log2(symbols);
        // A spread of a bit at least keeps the ratio finite where the channel is perfect.
        let lost = normal_tail(surplus / libm::sqrt(variance.max(1.0)));
        1.0 - libm::pow(1.0 - lost, f64::from(self.blocks.count))
    }
}

/// The chance that a transport block sent once with `coded_bits` is lost at an effective SINR.
pub fn bler(blocks: CodeBlocks, modulation: Modulation, coded_bits: u32, sinr_db: f64) -> f64 {
    let mut buffer = SoftBuffer::new(blocks, modulation);
    buffer.receive(0, coded_bits, sinr_db);
    buffer.bler()
}

/// The SINR in dB at which a transport block sent once is lost with the chance `target`; infinite where
/// no SINR within -30 to 42 dB is enough.
pub fn sinr_db_at_bler(
    blocks: CodeBlocks,
    modulation: Modulation,
    coded_bits: u32,
    target: f64,
) -> f64 {
    let (mut low, mut high) = (-30.0, 42.0);
    if bler(blocks, modulation, coded_bits, high) > target {
        return f64::INFINITY;
    }
    while high - low > 0.005 {
        let middle = f64::midpoint(low, high);
        if bler(blocks, modulation, coded_bits, middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The chance that a standard normal variable exceeds `x`.
fn normal_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QPSK: Modulation = Modulation::Qpsk;
    const QAM16: Modulation = Modulation::Qam16;
    const QAM64: Modulation = Modulation::Qam64;

    fn one_block(code: ChannelCode, bits: u32) -> CodeBlocks {
        CodeBlocks {
            code,
            count: 1,
            bits,
        }
    }

    #[test]
    fn turbo_code_loses_what_was_published() {
        // TTA PG707, see `gap_db`: 240 bits, QPSK, SNR in dB and block error rate by code rate. Two
        // figures that contradict their neighbours (rate 1/2 at 1.4 dB, rate 4/5 at 5.6 dB) are left out.
        for (bits_per_coded, points) in [
            (3.0, &[(-2.2, 0.886), (-1.6, 0.506), (-1.0, 0.132)][..]),
            (2.0, &[(0.2, 0.876), (0.8, 0.484)]),
            (1.5, &[(2.4, 0.800), (3.2, 0.288), (3.8, 0.0561)]),
            (4.0 / 3.0, &[(3.2, 0.900), (4.0, 0.420), (4.8, 0.0806)]),
            (1.25, &[(4.0, 0.802), (4.8, 0.348)]),
        ] {
            let coded_bits = (240.0 * bits_per_coded) as u32;
            let blocks = one_block(ChannelCode::Turbo, 240);
            for (snr_db, published) in points {
                let ours = sinr_db_at_bler(blocks, QPSK, coded_bits, *published);
                assert!(
                    (ours - snr_db).abs() < 0.2,
                    "{coded_bits} of {published}: {ours} {snr_db}"
                );
            }
        }
    }

    #[test]
    fn ldpc_code_loses_what_was_published() {
        // Sionna 1.0, PDSCH table 1: modulation, rate of 1024, bits of the code block, SNR in dB, block
        // error rate.
        for (modulation, rate, bits, snr_db, published) in [
            (QPSK, 251.0, 500, -3.2143, 0.747),
            (QPSK, 251.0, 2_000, -3.2143, 0.935),
            (QPSK, 308.0, 500, -1.4286, 0.0890),
            (QPSK, 308.0, 1_000, -1.4286, 0.0287),
            (QAM16, 553.0, 500, 7.5, 0.0353),
            (QAM16, 616.0, 500, 7.5, 0.705),
            (QAM16, 616.0, 1_000, 7.5, 0.781),
            (QAM16, 616.0, 2_000, 7.5, 0.867),
            (QAM64, 822.0, 500, 16.4286, 0.269),
            (QAM64, 822.0, 2_000, 16.4286, 0.148),
            (QAM64, 873.0, 500, 18.2143, 0.0333),
            (QAM64, 873.0, 500, 16.4286, 0.958),
        ] {
            let code = CodeBlocks::nr(bits, rate / 1024.0).code;
            let coded_bits = (f64::from(bits) * 1024.0 / rate) as u32;
            let ours = sinr_db_at_bler(one_block(code, bits), modulation, coded_bits, published);
            assert!(
                (ours - snr_db).abs() < 0.25,
                "{modulation:?} {rate} {bits}: {ours} {snr_db}"
            );
        }
    }

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

    #[test]
    fn nothing_received_is_lost_and_a_perfect_channel_loses_nothing() {
        let blocks = CodeBlocks::lte(75_376);
        assert_eq!(SoftBuffer::new(blocks, QAM64).bler(), 1.0);
        assert_eq!(bler(blocks, QAM64, 90_000, f64::NEG_INFINITY), 1.0);
        assert!(bler(blocks, QAM64, 90_000, 42.0) < 1e-12);
        // More bits than the resource elements can carry.
        assert_eq!(sinr_db_at_bler(blocks, QAM64, 75_000, 0.1), f64::INFINITY);
    }

    #[test]
    fn a_flat_channel_is_its_own_effective_sinr() {
        for modulation in Modulation::ALL {
            for sinr_db in [-5.0, 0.0, 4.0] {
                let effective = effective_sinr_mi(&[sinr_db as f32; 25], modulation);
                assert!(
                    (effective - sinr_db).abs() < 1e-3,
                    "{modulation:?} {sinr_db} {effective}"
                );
            }
        }
        assert_eq!(effective_sinr_mi(&[], QPSK), f64::NEG_INFINITY);
    }

    proptest! {
        #[test]
        fn the_effective_sinr_lies_between_the_worst_block_and_the_mean_power(
            sinr_db in proptest::collection::vec(-10.0_f32..15.0, 1..30)
        ) {
            let worst = sinr_db.iter().copied().fold(f32::INFINITY, f32::min);
            let power: f64 = sinr_db.iter().map(|sinr| libm::exp10(f64::from(*sinr) / 10.0)).sum();
            let mean_db = 10.0 * libm::log10(power / sinr_db.len() as f64);
            for modulation in [QAM16, QAM64, Modulation::Qam256] {
                let effective = effective_sinr_mi(&sinr_db, modulation);
                prop_assert!(effective >= f64::from(worst) - 0.01, "{effective}");
                prop_assert!(effective <= mean_db + 0.01, "{effective} {mean_db}");
            }
        }

        #[test]
        fn errors_get_rarer_with_sinr(bits in 40_u32..6_144, rate in 0.1_f64..0.9, sinr_db in -10.0_f64..25.0) {
            let blocks = CodeBlocks::lte(bits);
            let coded_bits = (f64::from(blocks.bits) / rate) as u32;
            for modulation in Modulation::ALL {
                let [worse, better] =
                    [sinr_db, sinr_db + 0.5].map(|sinr_db| bler(blocks, modulation, coded_bits, sinr_db));
                prop_assert!((0.0..=1.0).contains(&worse));
                prop_assert!(better <= worse + 1e-9, "{worse} {better}");
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
