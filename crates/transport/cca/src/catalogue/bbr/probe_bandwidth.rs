//! PROBE_BW: the gain cycle (§4.3.4).

use super::Bbr;
use super::mode::Mode;
use crate::bandwidth::Gain;
use crate::{Ack, Window};

impl Bbr {
    /// Enters the gain cycle at a random phase other than the draining one.
    pub(super) fn enter_probe_bandwidth(&mut self, window: &mut Window) {
        self.mode = Mode::ProbeBandwidth;
        let last = self.config.cycle_len - 1;
        self.phase = last - window.random.uniform_u64(u64::from(last)) as u32;
        self.advance_cycle(window);
    }

    fn advance_cycle(&mut self, window: &Window) {
        self.phase = (self.phase + 1) % self.config.cycle_len;
        self.phase_start = window.delivered_at;
    }

    /// Advances to the next phase if the current one has ended (§4.3.4.3).
    pub(super) fn update_cycle(&mut self, window: &Window, ack: &Ack) {
        if self.mode == Mode::ProbeBandwidth && self.is_next_cycle_phase(window, ack) {
            self.advance_cycle(window);
        }
    }

    fn is_next_cycle_phase(&self, window: &Window, ack: &Ack) -> bool {
        let elapsed = window
            .delivered_at
            .saturating_since(self.phase_start)
            .as_micros();
        let is_long = elapsed > self.min_rtt.as_micros();
        if self.pacing_gain == Gain::ONE {
            return is_long;
        }
        let inflight = self.inflight_at_departure(window, ack.prior_inflight);
        let target = |gain| self.inflight_target(window, self.max_bandwidth(), gain);
        if self.pacing_gain > Gain::ONE {
            // Probing lasts until the path is over-full or a segment is lost.
            return is_long && (ack.lost > 0 || inflight >= target(self.pacing_gain));
        }
        // Draining ends early once the queue is gone.
        is_long || inflight <= target(Gain::ONE)
    }
}
