//! Decibels: ratios on a logarithmic scale.

/// Power ratio in dB (or a power in dBm, if the name of the variable says so).
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Decibel(f64);

impl Decibel {
    /// Returns a ratio of `db` decibels.
    pub const fn new(db: f64) -> Self {
        Self(db)
    }

    /// Returns the number of decibels.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Converts a linear power ratio; zero becomes minus infinity.
    pub fn from_linear(ratio: f64) -> Self {
        Self(10.0 * libm::log10(ratio))
    }

    /// Returns the linear power ratio.
    pub fn to_linear(self) -> f64 {
        libm::exp10(self.0 / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_decibels_are_about_a_doubling() {
        let ratio = Decibel::new(3.0).to_linear();
        assert!((ratio - 1.995_262_3).abs() < 1e-6, "{ratio}");
        assert!((Decibel::from_linear(ratio).get() - 3.0).abs() < 1e-12);
    }
}
