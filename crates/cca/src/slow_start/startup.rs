//! BBR's start-up for congestion controls of the window (draft-cardwell-iccrg-bbr-congestion-control-00
//! §4.3.2): doubles until the delivery rate does not follow.

use super::SlowStart;
use crate::{RateSample, Window};

/// The constants of start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartupConfig {
    /// The delivery rate that is taken for growth, as a ratio to the highest before.
    pub growth: f64,
    /// Rounds without growth after which the pipe is full.
    pub rounds: u32,
    /// The window does not exceed what the path is seen to hold by more than this factor.
    pub gain: f64,
    /// Leave with the window that the path holds instead of the one that filled it.
    pub drain: bool,
}

impl Default for StartupConfig {
    fn default() -> Self {
        Self {
            growth: 1.25,
            rounds: 3,
            gain: 2.89,
            drain: true,
        }
    }
}

/// Slow start that ends when three rounds have not brought a quarter more.
///
/// What it leaves to the congestion control: pacing, which is none unless the connection paces (BBR itself
/// paces by 2.89 times the rate). To drain, it sets the window to highest rate times lowest RTT, so that
/// nothing leaves until the queue has gone by that much.
#[derive(Clone, Copy, Debug)]
pub struct Startup {
    config: StartupConfig,
    /// Deliveries at which the present round ends.
    next_round: u64,
    /// Highest delivery rate, bytes per second.
    highest: f64,
    /// Highest rate when it had grown last.
    grown: f64,
    rounds: u32,
}

impl Startup {
    /// Start-up with these parameters.
    pub fn new(config: StartupConfig) -> Self {
        Self {
            config,
            next_round: 0,
            highest: 0.0,
            grown: 0.0,
            rounds: 0,
        }
    }

    /// Segments that the path holds by what has been seen: highest rate times lowest RTT.
    fn held(&self, w: &Window) -> f64 {
        self.highest * w.min_rtt.as_secs_f64() / f64::from(w.mss.max(1))
    }

    fn leave(&self, w: &mut Window) {
        if self.config.drain {
            let held = libm::ceil(self.held(w)) as u32;
            w.cwnd = w.cwnd.min(held.max(2));
        }
        w.ssthresh = w.cwnd;
    }
}

impl Default for Startup {
    fn default() -> Self {
        Self::new(StartupConfig::default())
    }
}

impl SlowStart for Startup {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn reset(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.next_round = window.delivered;
    }

    /// §4.2.3.2: as standard slow start, but not beyond the gain times what the path holds.
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let most = libm::ceil(self.held(window) * self.config.gain) as u32;
        let room = if self.highest > 0.0 {
            most.saturating_sub(window.cwnd)
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
        if !rate.app_limited || bytes > self.highest {
            self.highest = self.highest.max(bytes);
        }
        if rate.prior_delivered < self.next_round {
            return;
        }
        self.next_round = window.delivered;
        if rate.app_limited {
            return;
        }
        if self.highest >= self.grown * self.config.growth {
            self.grown = self.highest;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        if self.rounds >= self.config.rounds {
            self.leave(window);
        }
    }
}
