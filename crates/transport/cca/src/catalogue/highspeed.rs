//! HighSpeed TCP (RFC 3649): in windows beyond 38 segments, growth and reduction follow a response function
//! that allows high rates at realistic loss rates.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{CcaInfo, CongestionControl, Family, Window};

/// Fastest growth, segments per round trip (the last row of RFC 3649 appendix B that Linux has).
const MAX_INCREASE: u32 = 72;
/// Fractions in which Linux stores the share of a reduction.
const SHARE_PARTS: f64 = 256.0;
/// Largest window considered, segments.
const MAX_WINDOW: u32 = u32::MAX / 128;

parameters! {
    /// Parameters of RFC 3649 §5.
    pub struct HighSpeedConfig {
        /// Maximum window at which it behaves like Reno.
        low_window: u32 = 38, in 2..=1_000, "segments", "RFC 3649 §5, Low_Window";
        /// Window at which a loss takes the smallest share.
        high_window: u32 = 83_000, in 1_001..=10_000_000, "segments", "RFC 3649 §5, High_Window";
        /// Share of the window that a loss takes at the high window.
        high_decrease: f64 = 0.1, in 0.01..=0.5, "", "RFC 3649 §5, High_Decrease";
    }
}

impl HighSpeedConfig {
    /// Returns the share that a loss takes of a window of `w` segments (RFC 3649 §5, b(w)).
    fn decrease(&self, w: u32) -> f64 {
        let low = libm::log(f64::from(self.low_window));
        let high = libm::log(f64::from(self.high_window));
        let position = (libm::log(f64::from(w)) - low) / (high - low);
        let share = (self.high_decrease - 0.5) * position + 0.5;
        share.clamp(1.0 / SHARE_PARTS, 0.5)
    }

    /// Returns the segments added per round trip at a window of `w` segments (RFC 3649 §5, a(w)).
    fn increase(&self, w: u32) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let window = f64::from(w);
        let loss_rate = 0.078 / libm::pow(window, 1.2);
        let share = self.decrease(w);
        window * window * loss_rate * 2.0 * share / (2.0 - share)
    }

    /// Returns the row of appendix B for a window of `w` segments. Its number is the segments added per round
    /// trip, which is the growth at the end of the row, as in Linux.
    pub fn row_at(&self, w: u32) -> u32 {
        if w <= self.low_window {
            return 1;
        }
        (self.increase(w - 1) as u32 + 1).clamp(2, MAX_INCREASE)
    }

    /// Returns the window at which row `row` of appendix B ends, segments.
    pub fn row_end(&self, row: u32) -> u32 {
        if row <= 1 {
            return self.low_window;
        }
        // Growth has a maximum at very large windows, so the first crossing counts.
        let (mut low, mut high) = (self.low_window, 2 * self.low_window);
        while self.increase(high) < f64::from(row) {
            if high >= MAX_WINDOW / 2 {
                return MAX_WINDOW;
            }
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.increase(middle) < f64::from(row) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Returns the share of the window that a loss takes in row `row`, in 256ths.
    pub fn row_decrease(&self, row: u32) -> u32 {
        (self.decrease(self.row_end(row)) * SHARE_PARTS) as u32
    }
}

/// Catalogue entry of HighSpeed TCP.
pub const INFO: CcaInfo = CcaInfo {
    name: "highspeed",
    aliases: &["hstcp", "highspeed-tcp"],
    title: "HighSpeed TCP",
    family: Family::Loss,
    reference: "RFC 3649",
    year: 2003,
    linux: true,
    parameters: HighSpeedConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(HighSpeed::new(HighSpeedConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    config: HighSpeedConfig,
    /// Row of appendix B at the last growth.
    row: u32,
    /// Window at that time.
    row_cwnd: u32,
}

impl HighSpeed {
    /// Creates HighSpeed TCP with these parameters.
    pub fn new(config: HighSpeedConfig) -> Self {
        Self {
            config,
            row: 1,
            row_cwnd: 0,
        }
    }
}

impl CongestionControl for HighSpeed {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        window.cwnd_clamp = window.cwnd_clamp.min(MAX_WINDOW);
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let share = u64::from(self.config.row_decrease(self.row));
        let reduction = (u64::from(window.cwnd) * share) >> 8;
        (window.cwnd - reduction as u32).max(2)
    }

    fn drops_slow_start_rest(&self) -> bool {
        true
    }

    /// Adds a(w) segments per window of ACKs. Linux counts ACKs rather than the segments that they cover.
    fn cong_avoid(&mut self, window: &mut Window, _acked: u32) {
        if self.row_cwnd != window.cwnd {
            self.row = self.config.row_at(window.cwnd);
            self.row_cwnd = window.cwnd;
        }
        if window.cwnd < window.cwnd_clamp {
            window.cwnd_cnt = window.cwnd_cnt.saturating_add(self.row);
            if window.cwnd_cnt >= window.cwnd {
                window.cwnd_cnt -= window.cwnd;
                window.cwnd += 1;
            }
        }
    }
}
