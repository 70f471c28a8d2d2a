//! Amounts of data.

use core::fmt;

/// Number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(u64);

impl Bytes {
    /// Returns an amount of `bytes`.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Bytes {
    /// Writes the amount in the largest of `MB`, `kB`, `B` (powers of 1000) that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n != 0 && n % 1_000_000 == 0 => write!(f, "{}MB", n / 1_000_000),
            n if n != 0 && n % 1_000 == 0 => write!(f, "{}kB", n / 1_000),
            n => write!(f, "{n}B"),
        }
    }
}
