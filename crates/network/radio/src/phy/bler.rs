//! Block error rate: the probability that a transport block is lost, after one transmission or several.
//!
//! A code block of K bits is lost if the information received about it falls short of K. That information is nearly
//! normal around the sum over its symbols (normal approximation, Polyanskiy, Poor, Verdú, IEEE Trans. IT 56(5),
//! 2010), with mean and variance of [`capacity`]. Real codes need more power than this approximation: `gap_db`.
//!
//! [`capacity`]: super::capacity

use super::capacity::{mean_information, sinr_db_of_information};
use super::{ChannelCode, CodeBlocks, Modulation, SoftBuffer};

/// Returns the distance of a decoder from the normal approximation, in dB.
///
/// Turbo: between 90 and 5 % of lost blocks, LTE's code with a BCJR decoder of eight iterations lies 0.56
/// to 0.85 dB behind it in the figures of TTA PG707 ("Link-level simulation results for IMT.EVAL",
/// contribution to ITU-R WP 5D; 240 bits, QPSK, rates 1/3 to 4/5). LDPC: 0.67 to 1.0 dB in the link-level
/// tables of Sionna 1.0 (Hoydis et al., arXiv:2203.11854; 500 to 2000 bits, QPSK to 64QAM). Rarer errors
/// and blocks of 100 bits or fewer lie further behind.
pub(crate) const fn gap_db(code: ChannelCode) -> f64 {
    match code {
        ChannelCode::Turbo => 0.75,
        ChannelCode::LdpcBaseGraph1 | ChannelCode::LdpcBaseGraph2 => 0.9,
    }
}

/// Returns the SINR at which an AWGN channel gives as much information as the mean over resource blocks.
///
/// This is the mutual-information effective SINR mapping, MIESM (Brueninghaus et al., "Link performance
/// models for system level simulations of broadband radio access systems", PIMRC 2005). `sinr_db` holds
/// one value per group of resource blocks, in dB; with none, minus infinity is returned.
pub fn effective_sinr_mi(sinr_db: &[f32], modulation: Modulation) -> f64 {
    if sinr_db.is_empty() {
        return f64::NEG_INFINITY;
    }
    sinr_db_of_information(modulation, mean_information(modulation, sinr_db))
}

/// Returns the probability that a transport block sent once with `coded_bits` is lost at an effective SINR.
pub fn bler(blocks: CodeBlocks, modulation: Modulation, coded_bits: u32, sinr_db: f64) -> f64 {
    let mut buffer = SoftBuffer::new(blocks, modulation);
    buffer.receive(0, coded_bits, sinr_db);
    buffer.bler()
}

/// Returns the SINR in dB at which a transport block sent once is lost with the probability `target`; infinite if no SINR
/// from -30 to 42 dB is enough.
pub(crate) fn sinr_db_at_bler(
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
        for &modulation in Modulation::ALL {
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
            for &modulation in Modulation::ALL {
                let [worse, better] =
                    [sinr_db, sinr_db + 0.5].map(|sinr_db| bler(blocks, modulation, coded_bits, sinr_db));
                prop_assert!((0.0..=1.0).contains(&worse));
                prop_assert!(better <= worse + 1e-9, "{worse} {better}");
            }
        }
    }
}
