//! TCP-Illinois (Liu, Başar, Srikant 2008): a loss decides when to reduce the window; the delay decides how
//! fast to grow and how much to reduce.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CaState, CcaInfo, CongestionControl, Family, SlowStart, TransferState, Window,
};

/// Fraction bits of the growth.
const ALPHA_SHIFT: u32 = 7;
/// One segment in these fractions.
const ALPHA_ONE: u64 = 1 << ALPHA_SHIFT;
/// Fraction bits of the share of a reduction.
const BETA_SHIFT: u32 = 6;
/// One in these fractions.
const BETA_ONE: u64 = 1 << BETA_SHIFT;
/// Upper bound of an RTT, µs (Linux `RTT_MAX`).
const RTT_MAX: u64 = u32::MAX as u64 / (10 * ALPHA_ONE);
/// RTT before the first sample, µs.
const NO_RTT: u64 = 0x7fff_ffff;

parameters! {
    /// Parameters of Liu et al. 2008, under the names of the kernel's module where it has them.
    pub struct IllinoisConfig {
        /// Window below which it behaves like Reno.
        win_thresh: u32 = 15, in 0..=1_000_000, "segments", "Liu et al. 2008, W_thresh; Linux tcp_illinois";
        /// Round trips of low delay before growth returns to its fastest.
        theta: u32 = 5, in 1..=255, "round trips", "Liu et al. 2008; Linux tcp_illinois";
        /// Slowest growth per round trip.
        alpha_min: f64 = 0.3, in 0.01..=1.0, "segments", "Liu et al. 2008; Linux ALPHA_MIN";
        /// Fastest growth per round trip.
        alpha_max: f64 = 10.0, in 1.0..=1_000.0, "segments", "Liu et al. 2008; Linux ALPHA_MAX";
        /// Smallest share of the window that a loss takes.
        beta_min: f64 = 0.125, in 0.02..=0.5, "", "Liu et al. 2008; Linux BETA_MIN";
        /// Largest share of the window that a loss takes.
        beta_max: f64 = 0.5, in 0.5..=0.95, "", "Liu et al. 2008; Linux BETA_MAX";
        /// Maximum queueing delay with the fastest growth, as a share of the largest one.
        eta1: u32 = 1, in 0..=50, "%", "Liu et al. 2008; Linux tcp_illinois";
        /// Maximum queueing delay at which a loss reduces the window least, as a share of the largest one.
        eta2: u32 = 10, in 0..=100, "%", "Liu et al. 2008; Linux tcp_illinois";
        /// Queueing delay above which a loss takes the largest share, as a share of the largest one.
        eta3: u32 = 80, in 0..=100, "%", "Liu et al. 2008; Linux tcp_illinois";
    }
}

/// Catalogue entry of TCP-Illinois.
pub const INFO: CcaInfo = CcaInfo {
    name: "illinois",
    aliases: &["tcp-illinois"],
    title: "TCP-Illinois",
    family: Family::Hybrid,
    reference: "Liu, Başar, Srikant: TCP-Illinois: A loss- and delay-based congestion control algorithm for high-speed networks, Performance Evaluation 65(6-7)",
    year: 2008,
    linux: true,
    parameters: IllinoisConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Illinois::new(IllinoisConfig::with(settings))),
};

/// State of one connection. RTTs are in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Illinois {
    config: IllinoisConfig,
    /// Segments added per round trip, 128ths.
    alpha: u64,
    /// Share of the window that a loss takes, 64ths.
    beta: u64,
    /// Sum of the RTTs of this round trip.
    sum_rtt: u64,
    /// Number of these RTTs.
    cnt_rtt: u64,
    base_rtt: u64,
    max_rtt: u64,
    /// The round trip ends when more than this is acknowledged.
    round_end: u64,
    /// Segments that the current ACK covers.
    acked: u32,
    /// Whether the delay has exceeded the threshold of fastest growth.
    was_above: bool,
    /// Number of round trips since then with a lower delay.
    low_rounds: u32,
}

impl Illinois {
    /// Creates TCP-Illinois with these parameters.
    pub fn new(config: IllinoisConfig) -> Self {
        Self {
            config,
            alpha: alpha_parts(config.alpha_max),
            beta: beta_parts(0.5),
            base_rtt: NO_RTT,
            ..Self::default()
        }
    }

    /// Returns the segments added per round trip, 128ths.
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// Returns the share of the window that a loss takes, 64ths.
    pub fn beta(&self) -> u64 {
        self.beta
    }

    fn begin_round(&mut self, w: &Window) {
        self.round_end = w.snd_nxt;
        self.cnt_rtt = 0;
        self.sum_rtt = 0;
    }

    fn behave_as_reno(&mut self) {
        self.alpha = ALPHA_ONE;
        self.beta = beta_parts(0.5);
    }

    /// Sets growth and reduction from the mean queueing delay of a round trip (Liu et al. 2008).
    fn end_round(&mut self, w: &Window) {
        if w.cwnd < self.config.win_thresh {
            self.behave_as_reno();
        } else if let Some(mean_rtt) = self.sum_rtt.checked_div(self.cnt_rtt) {
            let max_delay = self.max_rtt - self.base_rtt;
            let mean_delay = mean_rtt.saturating_sub(self.base_rtt);
            self.alpha = self.alpha_at(mean_delay, max_delay);
            self.beta = self.beta_at(mean_delay, max_delay);
        }
        self.begin_round(w);
    }

    /// Returns the growth at `delay`, and counts the round trips of low delay. Up to η1 of the largest delay the growth is
    /// the fastest, after a higher delay only from the `theta`th such round trip on. Above, it is κ1 / (κ2 + delay), down
    /// to the slowest.
    fn alpha_at(&mut self, delay: u64, max_delay: u64) -> u64 {
        let (min_alpha, max_alpha) = (
            alpha_parts(self.config.alpha_min),
            alpha_parts(self.config.alpha_max),
        );
        let low = max_delay * u64::from(self.config.eta1) / 100;
        if delay <= low {
            if !self.was_above {
                return max_alpha;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.config.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.was_above = false;
            return max_alpha;
        }
        self.was_above = true;
        let (delay, max_delay) = (delay - low, max_delay - low);
        max_delay * max_alpha / (max_delay + delay * (max_alpha - min_alpha) / min_alpha)
    }

    /// Returns the share that a loss takes at `delay`: the smallest up to η2 of the largest delay, the
    /// largest from η3 on, linear in between.
    fn beta_at(&self, delay: u64, max_delay: u64) -> u64 {
        let (min_beta, max_beta) = (
            beta_parts(self.config.beta_min),
            beta_parts(self.config.beta_max),
        );
        let low = max_delay * u64::from(self.config.eta2) / 100;
        if delay <= low {
            return min_beta;
        }
        let high = max_delay * u64::from(self.config.eta3) / 100;
        if delay >= high || high <= low {
            return max_beta;
        }
        (min_beta * (high - low) + (max_beta - min_beta) * (delay - low)) / (high - low)
    }
}

fn alpha_parts(segments: f64) -> u64 {
    (segments * ALPHA_ONE as f64) as u64
}

fn beta_parts(share: f64) -> u64 {
    (share * BETA_ONE as f64) as u64
}

impl CongestionControl for Illinois {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.begin_round(window);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        if !state.srtt.is_zero() {
            self.base_rtt = state.min_rtt.as_micros().min(RTT_MAX);
            self.max_rtt = state.srtt.as_micros().clamp(self.base_rtt, RTT_MAX);
        }
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let reduction = (u64::from(window.cwnd) * self.beta) >> BETA_SHIFT;
        (window.cwnd - reduction as u32).max(2)
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        self.acked = sample.acked;
        if let Some(rtt) = sample.rtt {
            let rtt = rtt.as_micros().min(RTT_MAX);
            self.base_rtt = self.base_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.cnt_rtt += 1;
            self.sum_rtt += rtt;
        }
    }

    /// As in Linux, which passes no rest of the ACKed segments on.
    fn drops_slow_start_rest(&self) -> bool {
        true
    }

    /// Ends round trips even if the window is not in full use.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.snd_una > self.round_end {
            self.end_round(window);
        }
        self.slow_start_then_ca(window, slow_start, acked);
    }

    /// Adds alpha segments per window of acknowledged ones.
    fn cong_avoid(&mut self, window: &mut Window, _acked: u32) {
        window.cwnd_cnt = window.cwnd_cnt.saturating_add(self.acked);
        // As in Linux: without a new sample, the next call counts one segment.
        self.acked = 1;
        let growth = (u64::from(window.cwnd_cnt) * self.alpha) >> ALPHA_SHIFT;
        let cwnd = u64::from(window.cwnd.max(1));
        if growth >= cwnd {
            let new_cwnd = cwnd + growth / cwnd;
            window.cwnd = new_cwnd.min(u64::from(window.cwnd_clamp)) as u32;
            window.cwnd_cnt = 0;
        }
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            self.behave_as_reno();
            self.low_rounds = 0;
            self.was_above = false;
            self.begin_round(window);
        }
    }
}
