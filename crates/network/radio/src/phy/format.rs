//! Transport format: size, modulation and protection of a transport block.

use super::bler::{bler, sinr_db_at_bler};
use super::{CodeBlocks, Modulation, SoftBuffer};

/// Size, modulation and protection of one transport block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransportFormat {
    /// Transport block size in bits, checksums not included.
    pub bits: u32,
    /// Modulation.
    pub modulation: Modulation,
    /// Bits that the allocated resource elements carry.
    pub coded_bits: u32,
    /// Segmentation and code.
    pub blocks: CodeBlocks,
}

impl TransportFormat {
    /// Returns the effective channel code rate: bits with all checksums per bit on air (TS 36.213 7.1.7).
    pub(crate) fn code_rate(&self) -> f64 {
        f64::from(self.blocks.count * self.blocks.bits) / f64::from(self.coded_bits)
    }

    /// Returns the probability that the block is lost when it is sent once at an effective SINR in dB.
    pub fn bler(&self, sinr_db: f64) -> f64 {
        bler(self.blocks, self.modulation, self.coded_bits, sinr_db)
    }

    /// Returns the effective SINR in dB at which the block is lost with the probability `target`. It is infinite above a
    /// code rate of 0.93 (TS 36.213 7.1.7, whose later releases have 0.932) or 0.95 (TS 38.214 5.1.3), above
    /// which a receiver need not try to decode.
    pub(crate) fn sinr_db_at_bler(&self, target: f64) -> f64 {
        let max_rate = match self.blocks.code {
            super::ChannelCode::Turbo => 0.93,
            _ => 0.95,
        };
        if self.code_rate() > max_rate {
            return f64::INFINITY;
        }
        sinr_db_at_bler(self.blocks, self.modulation, self.coded_bits, target)
    }

    /// Returns an empty soft buffer for the block.
    pub fn soft_buffer(&self) -> SoftBuffer {
        SoftBuffer::new(self.blocks, self.modulation)
    }
}
