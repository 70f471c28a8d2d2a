//! PROBE_BW: the gain cycle (§4.3.4).

use super::Bbr;
use super::bandwidth::Gain;
use super::mode::{CYCLE, Mode};
use crate::cca::{Ack, Window};

/// Phases among which the first one is drawn: all but the one that drains.
const FIRST_PHASES: u64 = 7;

impl Bbr {
    /// Begins with a random phase of the gain cycle, but not the one that drains.
    pub(super) fn enter_probe_bandwidth(&mut self, window: &mut Window) {
        self.mode = Mode::ProbeBandwidth;
        let drawn = window.random.below(FIRST_PHASES) as usize;
        self.cycle_index = CYCLE - 1 - drawn;
        self.advance_cycle(window);
    }

    fn advance_cycle(&mut self, window: &Window) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE;
        self.cycle_start = window.now;
    }

    /// Moves on if the phase has done its work (§4.3.4.3).
    pub(super) fn update_cycle(&mut self, window: &Window, ack: &Ack) {
        if self.mode == Mode::ProbeBandwidth && self.phase_is_over(window, ack) {
            self.advance_cycle(window);
        }
    }

    fn phase_is_over(&self, window: &Window, ack: &Ack) -> bool {
        let elapsed = window.now.saturating_since(self.cycle_start).as_micros();
        let is_long = elapsed > self.min_rtt.as_micros();
        if self.pacing_gain == Gain::ONE {
            return is_long;
        }
        let inflight = self.inflight_at_departure(window, ack.prior_inflight);
        let target = |gain| self.inflight_target(window, self.max_bandwidth(), gain);
        if self.pacing_gain > Gain::ONE {
            // Probing lasts until the path is over-full or something was lost.
            return is_long && (ack.lost > 0 || inflight >= target(self.pacing_gain));
        }
        // Draining ends early once the queue is gone.
        is_long || inflight <= target(Gain::ONE)
    }
}
