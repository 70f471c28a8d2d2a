//! Channel codes: segmentation of a transport block into code blocks, and the soft buffer of a code block.

/// Code that protects a shared channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelCode {
    /// Turbo code of LTE with rate 1/3 (TS 36.212 5.1.3.2).
    Turbo,
    /// Low-density parity-check code of NR on base graph 1, rate 1/3 (TS 38.212 5.3.2).
    LdpcBaseGraph1,
    /// Low-density parity-check code of NR on base graph 2, rate 1/5 (TS 38.212 5.3.2).
    LdpcBaseGraph2,
}

/// Equal code blocks of one transport block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeBlocks {
    /// Code that they are encoded with.
    pub code: ChannelCode,
    /// Number of code blocks, C.
    pub count: u32,
    /// Bits of each block before encoding, checksums included.
    pub bits: u32,
}

impl ChannelCode {
    /// Returns the coded bits of the circular buffer per bit before encoding.
    pub(crate) const fn buffer_per_bit(self) -> u32 {
        match self {
            Self::Turbo | Self::LdpcBaseGraph1 => 3,
            Self::LdpcBaseGraph2 => 5,
        }
    }

    /// Returns the start of redundancy version `version` in the circular buffer, as a fraction of its length.
    ///
    /// TS 36.212 5.1.4.1.2 (columns 2, 26, 50 and 74 of 96) and TS 38.212 table 5.4.2.1-2. Versions
    /// count modulo 4.
    pub(crate) const fn start_of(self, version: u8) -> f64 {
        let version = (version % 4) as usize;
        match self {
            Self::Turbo => (24 * version + 2) as f64 / 96.0,
            Self::LdpcBaseGraph1 => [0.0, 17.0 / 66.0, 33.0 / 66.0, 56.0 / 66.0][version],
            Self::LdpcBaseGraph2 => [0.0, 13.0 / 50.0, 25.0 / 50.0, 43.0 / 50.0][version],
        }
    }
}

impl CodeBlocks {
    /// Segments a transport block of `bits` as LTE does (TS 36.212 5.1.1 and 5.1.2): with 24 bits of checksum, and 24
    /// more on each code block where 6144 bits are not enough for one.
    pub const fn lte(bits: u32) -> Self {
        const MAX_BITS: u32 = 6_144;
        Self::segment(ChannelCode::Turbo, bits + 24, MAX_BITS)
    }

    /// Segments a transport block of `bits` with a target code rate of `rate` as NR does (TS 38.212 7.2.1, 7.2.2 and
    /// 5.2.2).
    pub const fn nr(bits: u32, rate: f64) -> Self {
        let crc_bits = if bits > 3_824 { 24 } else { 16 };
        if bits <= 292 || (bits <= 3_824 && rate <= 0.67) || rate <= 0.25 {
            Self::segment(ChannelCode::LdpcBaseGraph2, bits + crc_bits, 3_840)
        } else {
            Self::segment(ChannelCode::LdpcBaseGraph1, bits + crc_bits, 8_448)
        }
    }

    /// Segments `bits` into equal code blocks of at most `max_bits`, with a checksum each if there are several.
    const fn segment(code: ChannelCode, bits: u32, max_bits: u32) -> Self {
        const CRC_BITS: u32 = 24;
        if bits <= max_bits {
            return Self {
                code,
                count: 1,
                bits,
            };
        }
        let count = bits.div_ceil(max_bits - CRC_BITS);
        Self {
            code,
            count,
            bits: (bits + count * CRC_BITS).div_ceil(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ts_36_212_5_1_2_cuts_the_largest_block_of_20_mhz_in_thirteen() {
        // TS 36.101 table A.3.9.1-1, R.31-4: 13 code blocks for 75376 bits, 12 for 71112.
        let blocks = CodeBlocks::lte(75_376);
        assert_eq!((blocks.count, blocks.bits), (13, 5_824));
        assert_eq!(CodeBlocks::lte(71_112).count, 12);
        assert_eq!(CodeBlocks::lte(6_120).count, 1);
        assert_eq!(CodeBlocks::lte(6_200).count, 2);
    }

    #[test]
    fn ts_38_212_7_2_2_chooses_the_base_graph_by_size_and_rate() {
        assert_eq!(CodeBlocks::nr(292, 0.9).code, ChannelCode::LdpcBaseGraph2);
        assert_eq!(
            CodeBlocks::nr(3_824, 0.67).code,
            ChannelCode::LdpcBaseGraph2
        );
        assert_eq!(
            CodeBlocks::nr(3_824, 0.68).code,
            ChannelCode::LdpcBaseGraph1
        );
        assert_eq!(
            CodeBlocks::nr(100_000, 0.25).code,
            ChannelCode::LdpcBaseGraph2
        );
        assert_eq!(CodeBlocks::nr(8_424, 0.5).count, 1);
        assert_eq!(CodeBlocks::nr(8_456, 0.5).count, 2);
    }
}
