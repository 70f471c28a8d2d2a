//! TCP-Illinois (Liu, Başar, Srikant 2008): loss decides when to reduce, delay how fast to grow and how much
//! to give up.

use super::parameters::parameters;
use super::slow_start::Method;
use super::{AckSample, CaState, Cca, CongestionControl, Context, Family, SlowStart, Window};

/// Parts in which growth is kept, by shift and number.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_ONE: u64 = 1 << ALPHA_SHIFT;
/// Parts in which the share that a loss takes is kept, by shift and number.
const BETA_SHIFT: u32 = 6;
const BETA_ONE: u64 = 1 << BETA_SHIFT;
/// RTTs count for no more than this, µs (Linux `RTT_MAX`).
const RTT_MAX: u64 = u32::MAX as u64 / (10 * ALPHA_ONE);
/// RTT before the first sample, µs.
const NO_RTT: u64 = 0x7fff_ffff;

parameters! {
    /// The parameters of Liu et al. 2008, under the names of the kernel's module where it has them.
    pub struct IllinoisConfig {
        /// Window below which it behaves as Reno.
        win_thresh: u32 = 15, in 0..=1_000_000, "segments", "Liu et al. 2008, W_thresh; Linux tcp_illinois";
        /// Round trips of low delay before growth is at its fastest again.
        theta: u32 = 5, in 1..=255, "round trips", "Liu et al. 2008; Linux tcp_illinois";
        /// Least growth per round trip.
        alpha_min: f64 = 0.3, in 0.01..=1.0, "segments", "Liu et al. 2008; Linux ALPHA_MIN";
        /// Most growth per round trip.
        alpha_max: f64 = 10.0, in 1.0..=1_000.0, "segments", "Liu et al. 2008; Linux ALPHA_MAX";
        /// Least share of the window that a loss takes.
        beta_min: f64 = 0.125, in 0.02..=0.5, "", "Liu et al. 2008; Linux BETA_MIN";
        /// Largest share of the window that a loss takes.
        beta_max: f64 = 0.5, in 0.5..=0.95, "", "Liu et al. 2008; Linux BETA_MAX";
        /// Queueing delay up to which growth is at its fastest, of the largest one.
        eta1: u32 = 1, in 0..=50, "%", "Liu et al. 2008; Linux tcp_illinois";
        /// Queueing delay up to which a loss takes the least, of the largest one.
        eta2: u32 = 10, in 0..=100, "%", "Liu et al. 2008; Linux tcp_illinois";
        /// Queueing delay from which on a loss takes the most, of the largest one.
        eta3: u32 = 80, in 0..=100, "%", "Liu et al. 2008; Linux tcp_illinois";
    }
}

/// TCP-Illinois in the catalogue.
pub const ABOUT: Cca = Cca {
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

/// The state of one connection. RTTs in whole microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Illinois {
    config: IllinoisConfig,
    /// Segments added per round trip, 128ths.
    alpha: u64,
    /// Share of the window that a loss takes, 64ths.
    beta: u64,
    /// RTTs of this round trip.
    sum_rtt: u64,
    rtts: u64,
    base_rtt: u64,
    max_rtt: u64,
    /// The round trip ends when more than this is acknowledged.
    round_end: u64,
    /// Segments that the present ACK covers.
    acked: u32,
    /// Whether the delay has been above the threshold of fastest growth, and for how many round trips it
    /// has been below it since.
    was_above: bool,
    low_rounds: u32,
}

impl Default for Illinois {
    fn default() -> Self {
        Self::new(IllinoisConfig::default())
    }
}

impl Illinois {
    /// TCP-Illinois with other parameters.
    pub fn new(config: IllinoisConfig) -> Self {
        Self {
            config,
            alpha: alpha_parts(config.alpha_max),
            beta: beta_parts(0.5),
            sum_rtt: 0,
            rtts: 0,
            base_rtt: NO_RTT,
            max_rtt: 0,
            round_end: 0,
            acked: 0,
            was_above: false,
            low_rounds: 0,
        }
    }

    /// Segments added per round trip, 128ths.
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// The share of the window that a loss takes, 64ths.
    pub fn beta(&self) -> u64 {
        self.beta
    }

    fn begin_round(&mut self, w: &Window) {
        self.round_end = w.snd_nxt;
        self.rtts = 0;
        self.sum_rtt = 0;
    }

    fn behave_as_reno(&mut self) {
        self.alpha = ALPHA_ONE;
        self.beta = beta_parts(0.5);
    }

    /// Once a round trip: growth and reduction by its mean queueing delay (Liu et al. 2008).
    fn end_round(&mut self, w: &Window) {
        if w.cwnd < self.config.win_thresh {
            self.behave_as_reno();
        } else if let Some(mean) = self.sum_rtt.checked_div(self.rtts) {
            let largest = self.max_rtt - self.base_rtt;
            let mean = mean.saturating_sub(self.base_rtt);
            self.alpha = self.alpha_at(mean, largest);
            self.beta = self.beta_at(mean, largest);
        }
        self.begin_round(w);
    }

    /// The most up to η1 of the largest delay, then κ1 / (κ2 + delay) down to the least.
    fn alpha_at(&mut self, delay: u64, largest: u64) -> u64 {
        let (least, most) = (
            alpha_parts(self.config.alpha_min),
            alpha_parts(self.config.alpha_max),
        );
        let low = largest * u64::from(self.config.eta1) / 100;
        if delay <= low {
            if !self.was_above {
                return most;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.config.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.was_above = false;
            return most;
        }
        self.was_above = true;
        let (delay, largest) = (delay - low, largest - low);
        largest * most / (largest + delay * (most - least) / least)
    }

    /// The least up to η2 of the largest delay, the most from η3, a straight line between.
    fn beta_at(&self, delay: u64, largest: u64) -> u64 {
        let (least, most) = (
            beta_parts(self.config.beta_min),
            beta_parts(self.config.beta_max),
        );
        let from = largest * u64::from(self.config.eta2) / 100;
        if delay <= from {
            return least;
        }
        let to = largest * u64::from(self.config.eta3) / 100;
        if delay >= to || to <= from {
            return most;
        }
        (least * (to - from) + (most - least) * (delay - from)) / (to - from)
    }
}

fn alpha_parts(segments: f64) -> u64 {
    (segments * ALPHA_ONE as f64) as u64
}

fn beta_parts(share: f64) -> u64 {
    (share * BETA_ONE as f64) as u64
}

impl CongestionControl for Illinois {
    fn name(&self) -> &'static str {
        "illinois"
    }

    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.begin_round(window);
    }

    fn seed(&mut self, _window: &mut Window, context: &Context) {
        if !context.srtt.is_zero() {
            self.base_rtt = context.min_rtt.as_micros().min(RTT_MAX);
            self.max_rtt = context.srtt.as_micros().clamp(self.base_rtt, RTT_MAX);
        }
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let taken = (u64::from(window.cwnd) * self.beta) >> BETA_SHIFT;
        (window.cwnd - taken as u32).max(2)
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        self.acked = sample.acked;
        if let Some(rtt) = sample.rtt {
            let rtt = rtt.as_micros().min(RTT_MAX);
            self.base_rtt = self.base_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.rtts += 1;
            self.sum_rtt += rtt;
        }
    }

    /// Round trips end whether the window is in full use or not. What slow start leaves over is not
    /// counted.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.snd_una > self.round_end {
            self.end_round(window);
        }
        self.start_or_avoid(window, slow_start, acked);
    }

    /// Alpha segments per window of acknowledged ones.
    fn cong_avoid(&mut self, window: &mut Window, _acked: u32) {
        window.cwnd_cnt = window.cwnd_cnt.saturating_add(self.acked);
        self.acked = 1;
        let earned = (u64::from(window.cwnd_cnt) * self.alpha) >> ALPHA_SHIFT;
        let cwnd = u64::from(window.cwnd.max(1));
        if earned >= cwnd {
            let grown = cwnd + earned / cwnd;
            window.cwnd = grown.min(u64::from(window.cwnd_clamp)) as u32;
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
