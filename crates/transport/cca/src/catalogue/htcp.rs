//! H-TCP (Leith, Shorten 2004): growth becomes faster with the time since the last loss, and a loss takes as
//! much as empties the queue.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CaState, CcaInfo, CongestionControl, Family, TransferState, Window, jiffies,
};

/// One, in the fractions of growth and reduction.
const ONE: u32 = 1 << 7;
/// Minimum share of the window left after a loss: one half.
const BETA_MIN: u64 = 64;
/// Largest share of the window left after a loss: 0.8.
const BETA_MAX: u64 = 102;
/// Time after a loss in which growth is that of Reno (Δ_L), jiffies.
const LOW_SPEED_TIME: u64 = jiffies::PER_SECOND;
/// Largest step of the highest RTT, jiffies.
const MAX_RTT_STEP: u64 = jiffies::PER_SECOND / 50;
/// Lowest RTT above which the reduction depends on the RTTs, jiffies.
const MIN_RTT: u64 = jiffies::PER_SECOND / 100;

parameters! {
    /// Parameters of the kernel's module.
    pub struct HtcpConfig {
        /// Grow in proportion to the RTT, so that flows of different RTT share equally.
        use_rtt_scaling: bool = true, "", "draft-leith-tcp-htcp-06; Linux tcp_htcp";
        /// Halve the window if the rate has changed by more than a fifth since the loss before.
        use_bandwidth_switch: bool = true, "", "draft-leith-tcp-htcp-06; Linux tcp_htcp";
    }
}

/// Catalogue entry of H-TCP.
pub const INFO: CcaInfo = CcaInfo {
    name: "htcp",
    aliases: &["h-tcp"],
    title: "H-TCP",
    family: Family::Loss,
    reference: "Leith, Shorten: H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004; draft-leith-tcp-htcp-06",
    year: 2004,
    linux: true,
    parameters: HtcpConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Htcp::new(HtcpConfig::with(settings))),
};

/// State that a loss episode changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct BeforeLoss {
    last_loss: u64,
    max_rtt: u64,
    old_max_rate: u64,
}

/// State of one connection. Times are in jiffies, rates in segments per second, growth and reduction in
/// 128ths.
#[derive(Clone, Debug, Default)]
pub struct Htcp {
    config: HtcpConfig,
    alpha: u32,
    beta: u32,
    /// Whether the next reduction may depend on the RTTs (Linux `modeswitch`).
    is_adaptive: bool,
    /// Segments that the current ACK covers.
    pkts_acked: u32,
    /// Lowest RTT; zero before the first sample.
    min_rtt: u64,
    /// Highest RTT; zero before the first sample.
    max_rtt: u64,
    /// End of the last loss episode.
    last_loss: u64,
    before_loss: Option<BeforeLoss>,
    /// Highest rate since the last loss.
    max_rate: u64,
    /// Highest rate between the last two losses.
    old_max_rate: u64,
    /// Smoothed rate.
    rate: u64,
    /// Segments of the current sample of the rate.
    sample_acked: u64,
    /// Start of that sample.
    sample_start: Option<u64>,
}

impl Htcp {
    /// Creates H-TCP with these parameters.
    pub fn new(config: HtcpConfig) -> Self {
        Self {
            config,
            alpha: ONE,
            beta: BETA_MIN as u32,
            pkts_acked: 1,
            ..Self::default()
        }
    }

    /// Returns the share of the window left after a loss, in 128ths.
    pub fn beta(&self) -> u32 {
        self.beta
    }

    /// Returns the segments added per round trip, in 128ths.
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    fn measure_rtt(&mut self, rtt: u64, state: CaState) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if (self.max_rtt..=self.max_rtt + MAX_RTT_STEP).contains(&rtt) {
                self.max_rtt = rtt;
            }
        }
    }

    /// Measures the rate at which segments are acknowledged, about once per round trip.
    fn measure_rate(&mut self, w: &Window, acked: u32) {
        let now = jiffies::at(w.now);
        if w.state > CaState::Disorder {
            self.sample_acked = 0;
            self.sample_start = Some(now);
            return;
        }
        self.sample_acked += u64::from(acked);
        // The first sample has no start time, so its rate is zero.
        let time = self.sample_start.map(|start| now.saturating_sub(start));
        let round = w.cwnd.checked_sub((self.alpha >> 7).max(1));
        let is_complete = round.is_some_and(|round| self.sample_acked >= u64::from(round));
        if !is_complete || self.min_rtt == 0 || time.is_some_and(|time| time < self.min_rtt) {
            return;
        }
        let rate = time.map_or(0, |time| self.sample_acked * jiffies::PER_SECOND / time);
        let rounds_since_loss = now.saturating_sub(self.last_loss) / self.min_rtt;
        if rounds_since_loss <= 3 {
            self.rate = rate;
            self.max_rate = rate;
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.max_rate = self.max_rate.max(self.rate);
        }
        self.sample_acked = 0;
        self.sample_start = Some(now);
    }

    /// Sets the share left after a loss to minRTT / maxRTT; to one half on short paths, and until the second loss after a
    /// large change of the rate (`use_bandwidth_switch`).
    fn update_beta(&mut self) {
        if self.config.use_bandwidth_switch {
            let previous = core::mem::replace(&mut self.old_max_rate, self.max_rate);
            if !(4 * previous..=6 * previous).contains(&(5 * self.max_rate)) {
                self.beta = BETA_MIN as u32;
                self.is_adaptive = false;
                return;
            }
        }
        self.beta = if self.is_adaptive && self.min_rtt > MIN_RTT && self.max_rtt > 0 {
            let share = u64::from(ONE) * self.min_rtt / self.max_rtt;
            share.clamp(BETA_MIN, BETA_MAX) as u32
        } else {
            self.is_adaptive = true;
            BETA_MIN as u32
        };
    }

    /// Sets the growth to 1 + 10 Δ + (Δ/2)², with Δ the seconds since the last loss beyond the first one. It
    /// is multiplied by the RTT over 100 ms (`use_rtt_scaling`), and by 2 (1 − β), so that the mean is that of Reno.
    fn update_alpha(&mut self, now: u64) {
        let hz = jiffies::PER_SECOND;
        let elapsed = now.saturating_sub(self.last_loss).min(u64::from(u32::MAX));
        let mut factor = 1;
        if let Some(delta) = elapsed.checked_sub(LOW_SPEED_TIME) {
            factor = 1 + (10 * delta + (delta / 2) * (delta / 2) / hz) / hz;
        }
        if self.config.use_rtt_scaling && self.min_rtt > 0 {
            let eighths = (8 * hz / (10 * self.min_rtt)).clamp(4, 80);
            factor = (8 * factor / eighths).max(1);
        }
        let alpha = 2 * factor * u64::from(ONE - self.beta);
        self.alpha = alpha.clamp(1, u64::from(u32::MAX)) as u32;
    }
}

impl CongestionControl for Htcp {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.last_loss = jiffies::at(window.now);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        if !state.srtt.is_zero() {
            self.min_rtt = jiffies::of(state.min_rtt).max(1);
            self.max_rtt = jiffies::of(state.srtt).max(self.min_rtt);
        }
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.update_beta();
        self.update_alpha(jiffies::at(window.now));
        // The highest RTT decays, because routes change.
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        let left = (u64::from(window.cwnd) * u64::from(self.beta)) >> 7;
        (left as u32).max(2)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        if window.state == CaState::Open {
            self.pkts_acked = sample.acked;
        }
        if let Some(rtt) = sample.rtt.filter(|rtt| !rtt.is_zero()) {
            self.measure_rtt(jiffies::of(rtt), window.state);
        }
        if self.config.use_bandwidth_switch {
            self.measure_rate(window, sample.acked);
        }
    }

    fn drops_slow_start_rest(&self) -> bool {
        true
    }

    /// Adds alpha segments per window of acknowledged ones, one at a time.
    fn cong_avoid(&mut self, window: &mut Window, _acked: u32) {
        let growth = (u64::from(window.cwnd_cnt) * u64::from(self.alpha)) >> 7;
        if growth >= u64::from(window.cwnd) {
            if window.cwnd < window.cwnd_clamp {
                window.cwnd += 1;
            }
            window.cwnd_cnt = 0;
            self.update_alpha(jiffies::at(window.now));
        } else {
            window.cwnd_cnt = window.cwnd_cnt.saturating_add(self.pkts_acked);
        }
        self.pkts_acked = 1;
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        let now = jiffies::at(window.now);
        match state {
            CaState::Open => {
                if self.before_loss.take().is_some() {
                    self.last_loss = now;
                }
            }
            CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.before_loss = Some(BeforeLoss {
                    last_loss: self.last_loss,
                    max_rtt: self.max_rtt,
                    old_max_rate: self.old_max_rate,
                });
                self.last_loss = now;
            }
        }
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        if let Some(previous) = self.before_loss.take() {
            self.last_loss = previous.last_loss;
            self.max_rtt = previous.max_rtt;
            self.old_max_rate = previous.old_max_rate;
        }
        window.cwnd.max(window.prior_cwnd)
    }
}
