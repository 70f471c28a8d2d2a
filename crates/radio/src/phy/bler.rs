//! Block errors: the chance that a transport block is lost, after one transmission or several.
//!
//! A code block of K bits is lost when the information received about it falls short of K. That
//! information is nearly normal around the sum over its symbols (normal approximation, Polyanskiy,
//! Poor, Verdú, IEEE Trans. IT 56(5), 2010, eq. 296), with mean and variance of [`capacity`]. Real
//! codes need some more power than this bound: [`gap_db`].
//!
//! [`capacity`]: super::capacity

use super::capacity::{dispersion, information, sinr_db_of_information};
use super::{ChannelCode, CodeBlocks, Modulation};

/// Transmissions that one soft buffer can hold.
pub const MAX_TRANSMISSIONS: usize = 8;

/// How far a decoder stays behind the normal approximation, in dB.
///
/// Turbo: the 10 % points of LTE's code with a BCJR decoder of eight iterations as published by TTA
/// PG707 ("Link-level simulation results for IMT.EVAL", contribution to ITU-R WP 5D) lie 0.5 to 0.8 dB
/// behind it. LDPC: those of the open link-level tables of Sionna (Hoydis et al., "Sionna: an
/// open-source library for next-generation physical layer research", arXiv:2203.11854).
pub const fn gap_db(code: ChannelCode) -> f64 {
    match code {
        ChannelCode::Turbo => 0.7,
        ChannelCode::LdpcBaseGraph1 | ChannelCode::LdpcBaseGraph2 => 0.7,
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
    let sum: f64 = sinr_db.iter().map(|sinr| information(modulation, f64::from(*sinr))).sum();
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
        if ahead < self.length { libm::ceil(self.length - ahead) } else { 0.0 }
    }
}

impl SoftBuffer {
    /// Nothing received yet of the code blocks of a transport block.
    pub const fn new(blocks: CodeBlocks, modulation: Modulation) -> Self {
        const NOTHING: Reception = Reception { start: 0.0, length: 0.0, sinr: 0.0 };
        Self { blocks, modulation, received: [NOTHING; MAX_TRANSMISSIONS], count: 0 }
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
            let sinr: f64 = received.iter().map(|one| one.times(middle) * one.sinr).sum();
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
pub fn sinr_db_at_bler(blocks: CodeBlocks, modulation: Modulation, coded_bits: u32, target: f64) -> f64 {
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
    use super::*;

    #[test]
    fn calibrate() {
        for (rate, points) in [
            (3.0, &[(-2.2, 0.886), (-1.6, 0.506), (-1.0, 0.132), (-0.4, 8.68e-3)][..]),
            (2.0, &[(0.2, 0.876), (0.8, 0.484), (1.4, 0.125), (2.0, 9.92e-3)]),
            (1.5, &[(2.4, 0.8), (3.2, 0.288), (3.8, 0.0561), (4.4, 6.64e-3)]),
            (4.0 / 3.0, &[(3.2, 0.9), (4.0, 0.42), (4.8, 0.0806), (5.6, 7.46e-3)]),
            (1.25, &[(4.0, 0.802), (4.8, 0.348), (5.6, 0.0597)]),
        ] {
            let blocks = CodeBlocks { code: ChannelCode::Turbo, count: 1, bits: 240 };
            for (sinr, want) in points {
                let need = sinr_db_at_bler(blocks, Modulation::Qpsk, (240.0 * rate) as u32, *want);
                println!("K 240 qpsk 1/{rate:.3} {sinr} {want}: model {need:.3}, gap left {:.3}, {:.4}", sinr - need,
                   bler(blocks, Modulation::Qpsk, (240.0 * rate) as u32, *sinr));
            }
        }
        let qpsk = Modulation::Qpsk; let q16 = Modulation::Qam16; let q64 = Modulation::Qam64;
        for (mcs, m, rate, bits, snr, want) in [
            (3, qpsk, 251.0, 24, -1.4286, 0.163), (3, qpsk, 251.0, 100, -3.2143, 0.622), (3, qpsk, 251.0, 100, -1.4286, 0.023),
            (3, qpsk, 251.0, 500, -3.2143, 0.747),(3, qpsk, 251.0, 1000, -3.2143, 0.865),(3, qpsk, 251.0, 2000, -3.2143, 0.935),
            (4, qpsk, 308.0, 24, -1.4286, 0.407), (4, qpsk, 308.0, 100, -1.4286, 0.266),
            (4, qpsk, 308.0, 500, -1.4286, 0.089),(4, qpsk, 308.0, 1000, -1.4286, 0.0287),(4, qpsk, 308.0, 2000, -1.4286, 0.00467),
            (14, q16, 553.0, 24, 7.5, 0.208),(14, q16, 553.0, 100, 7.5, 0.166),(14, q16, 553.0, 500, 7.5, 0.0353),(14, q16, 553.0, 1000, 7.5, 0.0053),
            (15, q16, 616.0, 100, 7.5, 0.577),(15, q16, 616.0, 100, 9.2857, 0.037),(15, q16, 616.0, 500, 7.5, 0.705),(15, q16, 616.0, 1000, 7.5, 0.781),(15, q16, 616.0, 2000, 7.5, 0.867),
            (25, q64, 822.0, 100, 16.4286, 0.479), (25, q64, 822.0, 100, 18.214, 0.0717),(25, q64, 822.0, 500, 16.4286, 0.269),(25, q64, 822.0, 1000, 16.4286, 0.205),(25, q64, 822.0, 2000, 16.4286, 0.148),
            (26, q64, 873.0, 100, 18.2143, 0.2213),(26, q64, 873.0, 500, 18.2143, 0.0333),(26, q64, 873.0, 1000, 18.2143, 0.0083),(26, q64, 873.0, 500, 16.4286, 0.958),(26, q64, 873.0, 1000, 16.4286, 0.985),
        ] {
            let code = CodeBlocks::nr(bits, rate / 1024.0).code;
            let blocks = CodeBlocks { code, count: 1, bits };
            let e = (f64::from(bits) * 1024.0 / rate) as u32;
            let need = sinr_db_at_bler(blocks, m, e, want);
            println!("nr mcs {mcs} {bits} {snr} {want}: gap left {:.3} ({:.4})", snr - need, bler(blocks, m, e, snr));
        }
    }
}
