//! Widths of LTE carriers.

use crate::phy::ConfigError;

/// LTE carrier by its number of physical resource blocks (TS 36.101 table 5.6-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bandwidth {
    prbs: u32,
}

/// Width in kHz and number of resource blocks of each carrier.
pub(crate) const CARRIERS: [(u32, u32); 6] = [
    (1_400, 6),
    (3_000, 15),
    (5_000, 25),
    (10_000, 50),
    (15_000, 75),
    (20_000, 100),
];

impl Bandwidth {
    /// Returns the carrier with that many resource blocks.
    ///
    /// # Errors
    /// If no LTE carrier has this number.
    pub fn from_prbs(prbs: u32) -> Result<Self, ConfigError> {
        let is_known = CARRIERS.iter().any(|&(_, known)| known == prbs);
        is_known
            .then_some(Self { prbs })
            .ok_or(ConfigError::LtePrbs(prbs))
    }

    /// Returns the carrier of that width in kHz.
    ///
    /// # Errors
    /// If no LTE carrier is that wide.
    pub fn from_khz(khz: u32) -> Result<Self, ConfigError> {
        let carrier = CARRIERS.iter().find(|&&(known, _)| known == khz);
        carrier
            .map(|&(_, prbs)| Self { prbs })
            .ok_or(ConfigError::LteBandwidth(khz))
    }

    /// Returns the physical resource blocks, N_RB.
    pub const fn prbs(self) -> u32 {
        self.prbs
    }

    /// Returns the resource blocks of a resource block group, P (TS 36.213 table 7.1.6.1-1).
    pub(crate) const fn rbg_size(self) -> u32 {
        match self.prbs {
            ..=10 => 1,
            11..=26 => 2,
            27..=63 => 3,
            _ => 4,
        }
    }

    /// Returns the resource blocks of a sub-band, k (TS 36.213 table 7.2.1-3); `None` below 8 resource blocks, where
    /// only the whole carrier is reported.
    pub(crate) const fn subband_size(self) -> Option<u32> {
        match self.prbs {
            ..=7 => None,
            8..=26 => Some(4),
            27..=63 => Some(6),
            _ => Some(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_groups_and_sub_bands_are_those_of_the_tables() {
        let seen = CARRIERS.map(|(_, prbs)| {
            let b = Bandwidth { prbs };
            (
                b.prbs(),
                b.rbg_size(),
                b.prbs().div_ceil(b.rbg_size()),
                b.subband_size(),
            )
        });
        assert_eq!(
            seen,
            [
                (6, 1, 6, None),
                (15, 2, 8, Some(4)),
                (25, 2, 13, Some(4)),
                (50, 3, 17, Some(6)),
                (75, 4, 19, Some(8)),
                (100, 4, 25, Some(8)),
            ]
        );
        assert_eq!(Bandwidth::from_khz(1_400), Bandwidth::from_prbs(6));
    }

    #[test]
    fn other_widths_are_rejected_by_name() {
        let error = Bandwidth::from_prbs(99).expect_err("not a carrier");
        assert_eq!(
            error.to_string(),
            "prbs = 99: an LTE carrier has 6, 15, 25, 50, 75 or 100 (TS 36.101 table 5.6-1)"
        );
        assert!(Bandwidth::from_khz(20).is_err());
    }
}
