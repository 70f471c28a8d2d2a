//! Outer-loop link adaptation (OLLA): correction of the SINR by the outcome of transmissions.

/// Outer loop of link adaptation: corrects the SINR until the target share of first transmissions fails.
///
/// Every failure lowers the correction by a step, and every success raises it by a smaller one, so that both balance
/// at the target (Nakamura et al., "Adaptive control of link adaptation for high speed downlink packet access (HSDPA)
/// in W-CDMA", WPMC 2002; Pedersen et al., "Frequency domain scheduling for OFDMA with limited and noisy channel
/// feedback", VTC 2007-Fall).
#[derive(Clone, Copy, Debug)]
pub struct OuterLoop {
    offset_db: f64,
    step_down_db: f64,
    step_up_db: f64,
    limit_db: f64,
}

impl OuterLoop {
    /// Returns a loop for the share `target_bler` (between 0 and 1, exclusive) of failures. It moves by `step_db` per
    /// failure and stays within `limit_db` of 0.
    pub fn new(target_bler: f64, step_db: f64, limit_db: f64) -> Self {
        debug_assert!(target_bler > 0.0 && target_bler < 1.0);
        let step_up_db = step_db * target_bler / (1.0 - target_bler);
        Self {
            offset_db: 0.0,
            step_down_db: step_db,
            step_up_db,
            limit_db,
        }
    }

    /// Returns the offset to add to the SINR that was reported, in dB.
    pub(crate) const fn offset_db(&self) -> f64 {
        self.offset_db
    }

    /// Processes the outcome of a first transmission.
    pub(crate) fn on_first_transmission(&mut self, is_received: bool) {
        let step = if is_received {
            self.step_up_db
        } else {
            -self.step_down_db
        };
        self.offset_db = (self.offset_db + step).clamp(-self.limit_db, self.limit_db);
    }
}

#[cfg(test)]
mod tests {
    use units::random::{Purpose, RngStream};

    use super::*;

    #[test]
    fn failures_settle_at_the_target_whatever_the_receiver_reports() {
        // The receiver thinks that its channel is 3 dB better than it is.
        let true_bler = |offset_db: f64| 0.5 * libm::erfc((-3.0 - offset_db) / 0.7);
        let mut draws = RngStream::new(7, Purpose::Workload, 0);
        let mut outer = OuterLoop::new(0.1, 0.5, 10.0);
        let mut failures = 0;
        for block in 0..21_000 {
            let received = draws.uniform() >= true_bler(outer.offset_db());
            outer.on_first_transmission(received);
            failures += u32::from(block >= 1_000 && !received);
        }
        let share = f64::from(failures) / 20_000.0;
        assert!((share - 0.1).abs() < 0.005, "{share}");
        assert!(
            (-5.0..-3.0).contains(&outer.offset_db()),
            "{}",
            outer.offset_db()
        );
    }

    #[test]
    fn the_correction_stays_within_its_limit() {
        let mut outer = OuterLoop::new(0.1, 1.0, 2.0);
        (0..10).for_each(|_| outer.on_first_transmission(false));
        assert_eq!(outer.offset_db(), -2.0);
        (0..1_000).for_each(|_| outer.on_first_transmission(true));
        assert_eq!(outer.offset_db(), 2.0);
    }
}
