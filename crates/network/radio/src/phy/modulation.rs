//! Modulation alphabets of the shared channels.

use strum::VariantArray;

/// Gray-mapped constellation (TS 36.211 7.1 and TS 38.211 5.1 use the same ones).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, VariantArray)]
pub enum Modulation {
    /// Constellation of four points.
    Qpsk,
    /// Constellation of 16 points.
    Qam16,
    /// Constellation of 64 points.
    Qam64,
    /// Constellation of 256 points.
    Qam256,
}

impl Modulation {
    /// All modulations, in rising order.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the modulation order Q_m: bits that one symbol carries.
    pub const fn bits_per_symbol(self) -> u32 {
        2 * (self as u32 + 1)
    }
}
