//! Grid: the physical resource blocks of a carrier, in groups.

use super::ParameterError;
use crate::phy::SUBCARRIERS_PER_PRB;

/// Physical resource blocks around the carrier, in groups. A channel is evaluated in the middle of each group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    prbs: usize,
    /// Number of PRBs in one group; the last one may have fewer.
    pub(crate) prbs_per_group: usize,
    pub(crate) subcarrier_spacing_hz: f64,
}

impl Grid {
    /// Returns a grid of `prbs` PRBs (1 to 275) in groups of `prbs_per_group`; the last group may be smaller. The
    /// subcarrier spacing is 15 kHz for LTE, and 15 kHz · 2^µ for NR.
    pub fn new(
        prbs: usize,
        prbs_per_group: usize,
        subcarrier_spacing_hz: f64,
    ) -> Result<Self, ParameterError> {
        ParameterError::range("number of PRBs", prbs as f64, 1.0, 275.0)?;
        ParameterError::range("PRBs per group", prbs_per_group as f64, 1.0, prbs as f64)?;
        ParameterError::range(
            "subcarrier spacing in Hz",
            subcarrier_spacing_hz,
            15e3,
            960e3,
        )?;
        Ok(Self {
            prbs,
            prbs_per_group,
            subcarrier_spacing_hz,
        })
    }

    /// Returns a grid of LTE, whose subcarrier spacing is 15 kHz.
    pub fn lte(prbs: usize, prbs_per_group: usize) -> Result<Self, ParameterError> {
        Self::new(prbs, prbs_per_group, 15e3)
    }

    /// Returns the number of PRBs.
    pub fn prbs(&self) -> usize {
        self.prbs
    }

    /// Returns the number of PRB groups.
    pub fn groups(&self) -> usize {
        self.prbs.div_ceil(self.prbs_per_group)
    }

    /// Returns the width of one PRB in hertz.
    pub(crate) fn prb_hz(&self) -> f64 {
        f64::from(SUBCARRIERS_PER_PRB) * self.subcarrier_spacing_hz
    }

    /// Returns the occupied bandwidth in hertz.
    pub(crate) fn bandwidth_hz(&self) -> f64 {
        self.prbs as f64 * self.prb_hz()
    }

    /// Returns the distance from the carrier to the middle of group `group`, in hertz.
    pub(crate) fn offset_hz(&self, group: usize) -> f64 {
        let first = group * self.prbs_per_group;
        let end = self.prbs.min(first + self.prbs_per_group);
        ((first + end) as f64 - self.prbs as f64) / 2.0 * self.prb_hz()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_symmetrically_around_the_carrier() {
        let grid = Grid::lte(100, 4).unwrap();
        assert_eq!(grid.groups(), 25);
        assert_eq!(grid.offset_hz(0), -8.64e6);
        assert_eq!(grid.offset_hz(12), 0.0);
        assert_eq!(grid.offset_hz(24), 8.64e6);
        assert_eq!(grid.bandwidth_hz(), 18e6);
    }

    #[test]
    fn the_last_group_may_be_smaller() {
        let grid = Grid::lte(25, 2).unwrap();
        assert_eq!(grid.groups(), 13);
        assert_eq!(grid.offset_hz(12), 12.0 * 180e3);
    }

    #[test]
    fn no_prbs_is_rejected() {
        assert!(Grid::lte(0, 1).is_err());
        assert!(Grid::lte(6, 7).is_err());
    }
}
