//! YeAH-TCP (Baiocchi, Castellani and Vacirca 2007): Scalable TCP while the queue at the bottleneck is short,
//! Reno otherwise, and a reduction of a long queue before it overflows.

use crate::delay_round::{DelayRound, RoundRtt};
use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CcaInfo, CongestionControl, Event, Family, SlowStart, TransferState, Window,
};

/// Minimum value of the estimated window of a greedy Reno flow, segments.
const MIN_RENO_COUNT: u32 = 2;

parameters! {
    /// Constants of the paper, under the kernel's names.
    pub struct YeahConfig {
        /// Segments of the flow that may be queued at the bottleneck.
        alpha: u32 = 80, in 1..=1_000_000, "segments", "Linux TCP_YEAH_ALPHA; Baiocchi et al. 2007 §2, Q_max";
        /// Divisor of the queue that gives the reduction of the window.
        gamma: u32 = 1, in 1..=1_000, "", "Linux TCP_YEAH_GAMMA; Baiocchi et al. 2007 §2, γ";
        /// A loss shrinks the window by at least its 2^delta-th part.
        delta: u32 = 3, in 0..=31, "", "Linux TCP_YEAH_DELTA; Baiocchi et al. 2007 §2, δ";
        /// A reduction before a loss shrinks the window by at most its 2^epsilon-th part.
        epsilon: u32 = 1, in 0..=31, "", "Linux TCP_YEAH_EPSILON; Baiocchi et al. 2007 §2, ε";
        /// A queueing delay beyond the phy-th part of the lowest RTT means congestion.
        phy: u32 = 8, in 1..=1_000, "", "Linux TCP_YEAH_PHY; Baiocchi et al. 2007 §2, φ";
        /// Rounds as Reno after which a loss halves the window, because greedy flows share the path.
        rho: u32 = 16, in 0..=1_000_000, "rounds", "Linux TCP_YEAH_RHO; Baiocchi et al. 2007 §2, ρ";
        /// Rounds as Scalable TCP after which greedy flows are assumed to have ended.
        zeta: u32 = 50, in 0..=1_000_000, "rounds", "Linux TCP_YEAH_ZETA";
        /// Maximum number of acknowledged segments per added one as Scalable TCP.
        scalable: u32 = 100, in 1..=1_000_000, "segments", "Linux TCP_SCALABLE_AI_CNT; Kelly 2003, a = 0.01";
    }
}

/// Catalogue entry of YeAH.
pub const INFO: CcaInfo = CcaInfo {
    name: "yeah",
    aliases: &["yeah-tcp"],
    title: "YeAH-TCP",
    family: Family::Hybrid,
    reference: "Baiocchi, Castellani, Vacirca: YeAH-TCP, yet another highspeed TCP, PFLDnet 2007",
    year: 2007,
    linux: true,
    parameters: YeahConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Yeah::new(YeahConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yeah {
    config: YeahConfig,
    round: DelayRound,
    /// Segments in the queue in the last round.
    queue: u32,
    /// Successive rounds as Reno; zero as Scalable TCP.
    reno_rounds: u32,
    /// Estimated window of a greedy Reno flow (the kernel's `reno_count`).
    reno_count: u32,
    /// Rounds as Scalable TCP since the last loss, or since they last set `reno_count` back.
    fast_rounds: u32,
}

impl Yeah {
    /// Creates YeAH with these parameters.
    pub fn new(config: YeahConfig) -> Self {
        Self {
            config,
            reno_count: MIN_RENO_COUNT,
            ..Self::default()
        }
    }

    /// Returns whether the flow grows like Reno now.
    pub fn is_slow(&self) -> bool {
        self.reno_rounds > 0
    }

    /// Chooses the mode at the end of a round, and reduces a long queue (§2).
    fn choose_mode(&mut self, w: &mut Window, rtt: RoundRtt) {
        let cwnd = u64::from(w.cwnd);
        self.queue = (cwnd * rtt.queueing_delay() / rtt.min) as u32;
        let is_long = self.queue > self.config.alpha;
        if is_long || rtt.queueing_delay() > rtt.base / u64::from(self.config.phy) {
            if is_long && w.cwnd > self.reno_count {
                self.decongest(w);
            }
            self.reno_count = if self.reno_count <= MIN_RENO_COUNT {
                (w.cwnd / 2).max(MIN_RENO_COUNT)
            } else {
                self.reno_count.saturating_add(1)
            };
            self.reno_rounds = self.reno_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > self.config.zeta {
                self.reno_count = MIN_RENO_COUNT;
                self.fast_rounds = 0;
            }
            self.reno_rounds = 0;
        }
    }

    /// Reduces the window by the queue (precautionary decongestion), down to that of a greedy Reno flow.
    fn decongest(&self, w: &mut Window) {
        let reduction = (self.queue / self.config.gamma).min(w.cwnd >> self.config.epsilon);
        w.cwnd = (w.cwnd - reduction).max(self.reno_count);
        w.ssthresh = w.cwnd;
    }
}

impl CongestionControl for Yeah {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.round.restart(window);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        self.round.seed(state.min_rtt);
    }

    /// Halves the window against greedy flows; otherwise removes the segments in the queue, but at least the
    /// window over 2^`delta` (§2).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let half = (window.cwnd / 2).max(2);
        let reduction = if self.reno_rounds < self.config.rho {
            self.queue.min(half).max(window.cwnd >> self.config.delta)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2).max(MIN_RENO_COUNT);
        window.cwnd.saturating_sub(reduction).max(2)
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        self.round.sample(sample);
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !window.cwnd_limited {
            return;
        }
        self.slow_start_then_ca(window, slow_start, acked);
        if self.round.is_over(window) {
            if let Some(rtt) = self.round.rtt() {
                self.choose_mode(window, rtt);
            }
            self.round.begin(window);
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        let per_segments = if self.is_slow() {
            window.cwnd
        } else {
            window.cwnd.min(self.config.scalable)
        };
        window.grow_additively(per_segments, acked);
    }

    fn set_state(&mut self, window: &mut Window, state: crate::CaState) {
        if state == crate::CaState::Open {
            self.round.begin(window);
        }
    }

    /// Restarts after an idle time, because the path may have changed.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if matches!(event, Event::CwndRestart | Event::TxStart) {
            self.round.restart(window);
        }
    }
}
