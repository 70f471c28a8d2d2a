//! Numerologies: subcarrier spacings and the length of a slot.

use units::Duration;

use crate::phy::ConfigError;

/// Numerology μ, 0 to 3 (TS 38.211 4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Numerology(u32);

impl Numerology {
    /// Returns numerology `mu`.
    ///
    /// # Errors
    /// If it is above 3.
    pub const fn new(mu: u32) -> Result<Self, ConfigError> {
        if mu > 3 {
            Err(ConfigError::Numerology(mu))
        } else {
            Ok(Self(mu))
        }
    }

    /// Returns the subcarrier spacing in kHz: 15, 30, 60 or 120.
    pub(crate) const fn subcarrier_spacing_khz(self) -> u32 {
        15 << self.0
    }

    /// Returns the length of a slot.
    pub const fn slot(self) -> Duration {
        Duration::from_nanos(1_000_000 >> self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ts_38_211_4_2_and_4_3_2() {
        let seen: Vec<_> = (0..4)
            .map(|mu| Numerology::new(mu).expect("supported"))
            .map(|n| (n.subcarrier_spacing_khz(), n.slot().as_nanos()))
            .collect();
        assert_eq!(
            seen,
            [
                (15, 1_000_000),
                (30, 500_000),
                (60, 250_000),
                (120, 125_000)
            ]
        );
        assert_eq!(Numerology::new(4), Err(ConfigError::Numerology(4)));
    }
}
