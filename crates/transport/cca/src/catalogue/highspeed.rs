//! HighSpeed TCP (RFC 3649): in windows beyond 38 segments, growth and reduction follow a response function
//! that allows high rates at realistic loss rates.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{CcaInfo, CongestionControl, Family, SlowStart, Window};

/// Fastest growth, segments per round trip (the last row of RFC 3649 appendix B that Linux keeps).
const STEEPEST: u32 = 72;
/// Fractions in which Linux stores the share of a reduction.
const SHARE_PARTS: f64 = 256.0;
/// Largest window considered.
const WIDEST: u32 = u32::MAX / 128;

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
        let way = (libm::log(f64::from(w)) - low) / (libm::log(f64::from(self.high_window)) - low);
        let share = (self.high_decrease - 0.5) * way + 0.5;
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
    pub fn row_of(&self, w: u32) -> u32 {
        if w <= self.low_window {
            return 1;
        }
        (self.increase(w - 1) as u32 + 1).clamp(2, STEEPEST)
    }

    /// Returns the window at which row `row` of appendix B ends, segments.
    pub fn end_of(&self, row: u32) -> u32 {
        if row <= 1 {
            return self.low_window;
        }
        // Growth has a maximum at very large windows, so the first crossing counts.
        let (mut below, mut from) = (self.low_window, 2 * self.low_window);
        while self.increase(from) < f64::from(row) {
            if from >= WIDEST / 2 {
                return WIDEST;
            }
            (below, from) = (from, 2 * from);
        }
        while from - below > 1 {
            let middle = below + (from - below) / 2;
            if self.increase(middle) < f64::from(row) {
                below = middle;
            } else {
                from = middle;
            }
        }
        from
    }

    /// Returns the share of the window that a loss takes in row `row`, in 256ths.
    pub fn share_of(&self, row: u32) -> u32 {
        (self.decrease(self.end_of(row)) * SHARE_PARTS) as u32
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
    /// Window for which the row was found.
    row_at: u32,
}

impl HighSpeed {
    /// Creates HighSpeed TCP with these parameters.
    pub fn new(config: HighSpeedConfig) -> Self {
        Self {
            config,
            row: 1,
            row_at: 0,
        }
    }
}

impl CongestionControl for HighSpeed {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        window.cwnd_clamp = window.cwnd_clamp.min(WIDEST);
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let share = u64::from(self.config.share_of(self.row));
        let reduction = (u64::from(window.cwnd) * share) >> 8;
        (window.cwnd - reduction as u32).max(2)
    }

    /// Grows the window; segments that slow start leaves over do not count.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        self.slow_start_or_ca(window, slow_start, acked);
    }

    /// Adds a(w) segments per window of ACKs. Linux counts ACKs rather than the segments that they cover.
    fn cong_avoid(&mut self, window: &mut Window, _acked: u32) {
        if self.row_at != window.cwnd {
            self.row = self.config.row_of(window.cwnd);
            self.row_at = window.cwnd;
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
