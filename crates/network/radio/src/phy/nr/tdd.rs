//! Time division duplex: direction of the symbols of each slot.

use crate::phy::{ConfigError, SYMBOLS_PER_SLOT};

/// Symbols of one slot by direction. The others are guard time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// OFDM symbols for the downlink, from the start of the slot.
    pub downlink_symbols: u32,
    /// OFDM symbols for the uplink, at its end.
    pub uplink_symbols: u32,
}

impl Slot {
    /// Slot whose symbols are all for the downlink.
    pub(crate) const DOWNLINK: Self = Self {
        downlink_symbols: SYMBOLS_PER_SLOT,
        uplink_symbols: 0,
    };
    /// Slot whose symbols are all for the uplink.
    pub(crate) const UPLINK: Self = Self {
        downlink_symbols: 0,
        uplink_symbols: SYMBOLS_PER_SLOT,
    };

    /// Returns a slot that changes direction after `downlink` symbols and `guard` symbols of silence.
    ///
    /// # Errors
    /// If the three do not add up to a slot.
    pub const fn special(downlink: u32, guard: u32, uplink: u32) -> Result<Self, ConfigError> {
        if downlink.saturating_add(guard).saturating_add(uplink) != SYMBOLS_PER_SLOT {
            return Err(ConfigError::SpecialSlot {
                downlink,
                guard,
                uplink,
            });
        }
        Ok(Self {
            downlink_symbols: downlink,
            uplink_symbols: uplink,
        })
    }
}

/// Pattern of slots that repeats (tdd-UL-DL-ConfigurationCommon, TS 38.213 11.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TddPattern {
    slots: Vec<Slot>,
}

impl TddPattern {
    /// Parses a pattern such as `DDDSU`, whose S slots are `special`.
    ///
    /// # Errors
    /// If it is empty or has other letters.
    pub fn parse(letters: &str, special: Slot) -> Result<Self, ConfigError> {
        let slots: Option<Vec<Slot>> = letters
            .chars()
            .map(|letter| match letter {
                'D' => Some(Slot::DOWNLINK),
                'U' => Some(Slot::UPLINK),
                'S' => Some(special),
                _ => None,
            })
            .collect();
        match slots {
            Some(slots) if !slots.is_empty() => Ok(Self { slots }),
            _ => Err(ConfigError::TddPattern(letters.to_owned())),
        }
    }

    /// Returns the pattern of an FDD carrier: all symbols of both directions.
    pub(crate) fn fdd() -> Self {
        let both = Slot {
            downlink_symbols: SYMBOLS_PER_SLOT,
            uplink_symbols: SYMBOLS_PER_SLOT,
        };
        Self { slots: vec![both] }
    }

    /// Returns slot `index`, counted from the start.
    pub fn slot(&self, index: u64) -> Slot {
        self.slots[(index % self.slots.len() as u64) as usize]
    }

    /// Returns the first slot from `index` on with at least `symbols` for the uplink; `None` if the pattern has none.
    pub(crate) fn next_uplink(&self, index: u64, symbols: u32) -> Option<u64> {
        let period = self.slots.len() as u64;
        (index..index + period).find(|slot| self.slot(*slot).uplink_symbols >= symbols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dddsu_repeats_after_five_slots() {
        let special = Slot::special(10, 2, 2).expect("14 symbols");
        let pattern = TddPattern::parse("DDDSU", special).expect("a pattern");
        assert_eq!(pattern.slots.len(), 5);
        assert_eq!(pattern.slot(2), Slot::DOWNLINK);
        assert_eq!(pattern.slot(8), special);
        assert_eq!(pattern.slot(1_000_004), Slot::UPLINK);
    }

    #[test]
    fn next_uplink_skips_slots_with_too_few_symbols() {
        let special = Slot::special(10, 2, 2).expect("14 symbols");
        let pattern = TddPattern::parse("DDDSU", special).expect("a pattern");
        assert_eq!(pattern.next_uplink(0, 1), Some(3));
        assert_eq!(pattern.next_uplink(0, 4), Some(4));
        let downlink_only = TddPattern::parse("D", Slot::DOWNLINK).expect("a pattern");
        assert_eq!(downlink_only.next_uplink(0, 1), None);
        assert_eq!(TddPattern::fdd().next_uplink(7, 14), Some(7));
    }

    #[test]
    fn malformed_patterns_are_rejected_by_name() {
        for letters in ["", "DDX", "ddsu"] {
            let error = TddPattern::parse(letters, Slot::DOWNLINK).expect_err("malformed");
            assert!(error.to_string().starts_with("tdd pattern"), "{error}");
        }
        assert!(Slot::special(10, 2, 3).is_err());
    }
}
