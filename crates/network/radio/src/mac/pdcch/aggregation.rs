//! Aggregation level: the number of control channel elements (CCEs) of one message (DCI).

/// Number of control channel elements of one message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aggregation {
    /// One element.
    One = 1,
    /// Two elements.
    Two = 2,
    /// Four elements.
    Four = 4,
    /// Eight elements, the most in LTE.
    Eight = 8,
    /// Sixteen elements, in NR only (TS 38.211 table 7.3.2.1-1).
    Sixteen = 16,
}

impl Aggregation {
    /// All levels, from the smallest on.
    pub const ALL: [Self; 5] = [Self::One, Self::Two, Self::Four, Self::Eight, Self::Sixteen];

    /// Returns the minimum level for a receiver at `sinr_db`; `level_8_db` is the SINR that level 8 needs.
    /// Each halving doubles the code rate and is assumed to cost 3 dB.
    pub(super) fn for_sinr(sinr_db: f64, level_8_db: f64) -> Self {
        match sinr_db - level_8_db {
            margin if margin >= 9.0 => Self::One,
            margin if margin >= 6.0 => Self::Two,
            margin if margin >= 3.0 => Self::Four,
            margin if margin >= 0.0 => Self::Eight,
            _ => Self::Sixteen,
        }
    }
}
