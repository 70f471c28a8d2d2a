//! BBR's Startup for congestion controls that set a window (draft-cardwell-iccrg-bbr-congestion-control-00
//! §4.3.2): the window doubles until the delivery rate stops growing.

use super::{SlowStart, SlowStartConfig};
use crate::{RateSample, Window};

/// Slow start that ends after `startup_rounds` rounds with a delivery rate below `startup_growth` times that of the last
/// growth.
///
/// It leaves pacing to the congestion control, which paces only if the connection does. BBR itself paces at 2.89 times the
/// rate. To drain the queue, it sets the window to the highest rate times the lowest RTT. Nothing leaves until the excess
/// over this window is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Startup {
    config: SlowStartConfig,
    /// Delivery count at which the current round ends.
    next_round: u64,
    /// Highest delivery rate, bytes per second.
    max_rate: f64,
    /// Value of `max_rate` at its last growth (Linux `full_bw`), bytes per second.
    full_rate: f64,
    /// Rounds since then.
    rounds: u32,
}

impl Startup {
    /// Creates Startup with these parameters.
    pub fn new(config: SlowStartConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Returns the measured bandwidth-delay product in segments: the highest rate times the lowest RTT.
    fn bdp(&self, w: &Window) -> f64 {
        self.max_rate * w.min_rtt.as_secs_f64() / f64::from(w.mss.max(1))
    }

    fn leave(&self, w: &mut Window) {
        if self.config.startup_drain {
            let bdp = libm::ceil(self.bdp(w)) as u32;
            w.cwnd = w.cwnd.min(bdp.max(2));
        }
        w.ssthresh = w.cwnd;
    }
}

impl SlowStart for Startup {
    fn reset(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.next_round = window.delivered;
    }

    /// Grows like standard slow start, but not beyond the gain times the bandwidth-delay product (§4.2.3.2).
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let max = libm::ceil(self.bdp(window) * self.config.startup_gain) as u32;
        let room = if self.max_rate > 0.0 {
            max.saturating_sub(window.cwnd)
        } else {
            acked
        };
        let target = window.cwnd.saturating_add(acked.min(room));
        let beyond = window.cwnd.saturating_add(acked);
        window.cwnd = target.min(window.ssthresh).min(window.cwnd_clamp);
        if window.in_slow_start() {
            0
        } else {
            beyond.saturating_sub(window.ssthresh)
        }
    }

    fn on_rate(&mut self, window: &mut Window, rate: &RateSample) {
        if !window.in_slow_start() {
            return;
        }
        let Some(sample) = rate.rate(window.mss) else {
            return;
        };
        let bytes = sample.bits_per_second() as f64 / 8.0;
        self.max_rate = self.max_rate.max(bytes);
        if rate.prior_delivered < self.next_round {
            return;
        }
        self.next_round = window.delivered;
        if rate.app_limited {
            return;
        }
        if self.max_rate >= self.full_rate * self.config.startup_growth {
            self.full_rate = self.max_rate;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        if self.rounds >= self.config.startup_rounds {
            self.leave(window);
        }
    }
}
