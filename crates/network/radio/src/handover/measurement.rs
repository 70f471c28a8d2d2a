//! Measurements of a UE, filtered and quantised.

/// Index of a cell.
pub type CellId = u32;

/// Measurement of one cell by a UE.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measurement {
    /// Measured cell.
    pub cell: CellId,
    /// Reference signal received power, in dBm (TS 36.214 clause 5.1.1).
    pub rsrp_dbm: f64,
    /// Reference signal received quality, in dB (TS 36.214 clause 5.1.3).
    pub rsrq_db: f64,
}

impl Measurement {
    /// Returns the measurement with the higher RSRP; the first one if they are equal.
    pub(super) fn stronger<'a>(first: &'a Self, second: &'a Self) -> &'a Self {
        if second.rsrp_dbm > first.rsrp_dbm {
            second
        } else {
            first
        }
    }
}

/// Returns the RSRQ as reported: 0 below -19.5 dB, then steps of 0.5 dB, 34 from -3 dB (TS 36.133 clause 9.1.7).
pub(crate) fn rsrq_index(db: f64) -> u8 {
    (libm::floor(2.0 * db) + 40.0).clamp(0.0, 34.0) as u8
}

/// Layer 3 filter of measurements (TS 36.331 clause 5.5.3.2), cell by cell.
#[derive(Clone, Debug)]
pub struct Filter {
    weight: f64,
    cells: Vec<Measurement>,
}

impl Filter {
    /// Returns a filter with filterCoefficient `k`; 4 is the default, and 0 does not filter.
    pub fn new(k: u8) -> Self {
        Self {
            weight: libm::pow(0.5, f64::from(k) / 4.0),
            cells: Vec::new(),
        }
    }

    /// Processes the measurements of one period. Cells without a measurement are removed, because they can no longer
    /// be detected. Measurements that are NaN count as absent.
    pub fn update(&mut self, measured: &[Measurement]) {
        let usable = |m: &Measurement| !m.rsrp_dbm.is_nan() && !m.rsrq_db.is_nan();
        self.cells.retain(|filtered| {
            measured
                .iter()
                .any(|m| m.cell == filtered.cell && usable(m))
        });
        for cell in measured.iter().filter(|m| usable(m)) {
            match self
                .cells
                .iter_mut()
                .find(|filtered| filtered.cell == cell.cell)
            {
                Some(filtered) => {
                    filtered.rsrp_dbm += self.weight * (cell.rsrp_dbm - filtered.rsrp_dbm);
                    filtered.rsrq_db += self.weight * (cell.rsrq_db - filtered.rsrq_db);
                }
                None => self.cells.push(*cell),
            }
        }
    }

    /// Returns the filtered measurements of all detected cells.
    pub fn cells(&self) -> &[Measurement] {
        &self.cells
    }

    /// Returns the filtered measurement of one cell.
    pub fn cell(&self, cell: CellId) -> Option<&Measurement> {
        self.cells.iter().find(|filtered| filtered.cell == cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.133 Table 9.1.7-1: RSRQ_00 is below -19.5, RSRQ_34 is -3 <= RSRQ.
    #[test]
    fn rsrq_is_reported_in_steps_of_half_a_decibel() {
        let result = [-20.0, -19.6, -19.5, -19.0, -5.0, -3.1, -3.0].map(rsrq_index);
        assert_eq!(result, [0, 0, 1, 2, 30, 33, 34]);
    }

    /// TS 36.331 clause 5.5.3.2: F_n = (1 - a) F_(n-1) + a M_n with a = 1/2^(k/4); the first one is
    /// taken as it is.
    #[test]
    fn filtering_halves_the_distance_at_the_default_coefficient() {
        let measurement = |rsrp_dbm, rsrq_db| Measurement {
            cell: 7,
            rsrp_dbm,
            rsrq_db,
        };
        let mut filter = Filter::new(4);
        filter.update(&[measurement(-100.0, -10.0)]);
        filter.update(&[measurement(-90.0, -6.0)]);
        assert_eq!(filter.cells(), [measurement(-95.0, -8.0)]);
        filter.update(&[measurement(f64::NAN, -6.0)]);
        assert!(filter.cells().is_empty());
    }
}
