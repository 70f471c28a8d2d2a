//! BIC (Xu, Harfoush, Rhee 2004): a binary search for the window at which losses begin.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{AckSample, CaState, CcaInfo, CongestionControl, Family, Window, jiffies};

/// Divisor of the distance to the goal that the search steps by (Linux `BICTCP_B`; 2 in the paper).
const SEARCH_PART: u32 = 4;
/// Minimum time between two updates of the growth while the window does not change, jiffies.
const UPDATE_INTERVAL: u64 = jiffies::PER_SECOND / 32;
/// Maximum number of acknowledged segments per added one before the first loss: growth of at least 5 % per round trip.
const MAX_BEFORE_LOSS: u64 = 20;
/// Bits of the fraction of the number of segments per ACK (Linux `ACK_RATIO_SHIFT`).
const ACK_RATIO_SHIFT: u32 = 4;

parameters! {
    /// Parameters of the kernel's module.
    pub struct BicConfig {
        /// Release bandwidth to new flows.
        fast_convergence: bool = true, "", "Xu et al. 2004";
        /// Maximum number of segments added per round trip (Smax).
        max_increment: u32 = 16, in 1..=10_000, "segments", "Linux tcp_bic; 32 in Xu et al. 2004";
        /// Maximum window at which BIC behaves like Reno.
        low_window: u32 = 14, in 0..=1_000_000, "segments", "Xu et al. 2004; Linux tcp_bic";
        /// Share of the window left after a reduction.
        beta: f64 = 819.0 / 1024.0, in 0.01..=0.99, "", "Linux tcp_bic; 0.875 in Xu et al. 2004";
        /// Initial slow-start threshold; 0 for none.
        initial_ssthresh: u32 = 0, in 0..=1_000_000, "segments", "Linux tcp_bic";
        /// Round trips that the last part of the search takes.
        smooth_part: u32 = 20, in 1..=1_000, "round trips", "Linux tcp_bic";
    }
}

/// Catalogue entry of BIC.
pub const INFO: CcaInfo = CcaInfo {
    name: "bic",
    aliases: &["bic-tcp", "bictcp"],
    title: "BIC",
    family: Family::Loss,
    reference: "Xu, Harfoush, Rhee: Binary increase congestion control (BIC) for fast long-distance networks, IEEE INFOCOM",
    year: 2004,
    linux: true,
    parameters: BicConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Bic::new(BicConfig::with(settings))),
};

/// State of one connection. Windows are in segments.
#[derive(Clone, Debug, Default)]
pub struct Bic {
    config: BicConfig,
    /// Window at the last loss, the goal of the search; zero before the first loss.
    last_max: u32,
    /// Segments to be acknowledged for each segment added to the window.
    per_segments: u32,
    /// Window at the last update.
    last_cwnd: u32,
    /// Time of the last update, jiffies.
    last_update: u64,
    /// Running mean of the segments per ACK, times 16.
    ack_ratio: u32,
}

impl Bic {
    /// Creates BIC with these parameters.
    pub fn new(config: BicConfig) -> Self {
        Self {
            config,
            ack_ratio: 2 << ACK_RATIO_SHIFT,
            ..Self::default()
        }
    }

    /// Returns the acknowledged segments per added one, which depends on the position of the window in the
    /// search (Xu et al. 2004, as in Linux).
    fn segments_per_increase(&self, cwnd: u32) -> u64 {
        let BicConfig {
            max_increment,
            low_window,
            smooth_part,
            ..
        } = self.config;
        let window = u64::from(cwnd);
        if cwnd <= low_window {
            return window;
        }
        let linear = window / u64::from(max_increment);
        let smooth = window * u64::from(smooth_part) / u64::from(SEARCH_PART);
        if let Some(missing) = self.last_max.checked_sub(cwnd).filter(|&left| left > 0) {
            // Binary search towards the goal.
            return match missing / SEARCH_PART {
                step if step > max_increment => linear,
                0 | 1 => smooth,
                step => window / u64::from(step),
            };
        }
        // Beyond the goal: growth is slow at first, then faster, up to the largest increment.
        let beyond = cwnd - self.last_max;
        if beyond < SEARCH_PART {
            smooth
        } else if beyond < max_increment * (SEARCH_PART - 1) {
            window * u64::from(SEARCH_PART - 1) / u64::from(beyond)
        } else {
            linear
        }
    }

    fn update(&mut self, w: &Window) {
        let now = jiffies::at(w.now);
        if self.last_cwnd == w.cwnd && now.saturating_sub(self.last_update) <= UPDATE_INTERVAL {
            return;
        }
        self.last_cwnd = w.cwnd;
        self.last_update = now;
        let mut per_segments = self.segments_per_increase(w.cwnd);
        if self.last_max == 0 && w.cwnd > self.config.low_window {
            per_segments = per_segments.min(MAX_BEFORE_LOSS);
        }
        if w.cwnd > self.config.low_window {
            // Growth is meant per ACK, so receivers that delay ACKs do not slow it down.
            per_segments = (per_segments << ACK_RATIO_SHIFT) / u64::from(self.ack_ratio);
        }
        self.per_segments = per_segments.clamp(1, u64::from(u32::MAX)) as u32;
    }
}

impl CongestionControl for Bic {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        if self.config.initial_ssthresh > 0 {
            window.ssthresh = self.config.initial_ssthresh;
        }
    }

    /// Reduces the window by `beta`, or by half where the window is small. A window that lost before it
    /// reached its goal sets a lower goal (Xu et al. 2004, fast convergence).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let cwnd = f64::from(window.cwnd);
        self.last_max = if window.cwnd < self.last_max && self.config.fast_convergence {
            (cwnd * (1.0 + self.config.beta) / 2.0) as u32
        } else {
            window.cwnd
        };
        if window.cwnd <= self.config.low_window {
            (window.cwnd / 2).max(2)
        } else {
            ((cwnd * self.config.beta) as u32).max(2)
        }
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        if window.state == CaState::Open {
            let decay = self.ack_ratio >> ACK_RATIO_SHIFT;
            self.ack_ratio = (self.ack_ratio - decay).saturating_add(sample.acked);
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        self.update(window);
        window.grow_additively(self.per_segments, acked);
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            *self = Self::new(self.config);
        }
    }
}
