//! YeAH-TCP (Baiocchi, Castellani and Vacirca 2007): Scalable TCP while the queue at the bottleneck is
//! short, Reno while it is not, and less of a queue before it overflows.

use super::delay_round::{DelayRound, RoundRtt};
use super::parameters::parameters;
use super::slow_start::Method;
use super::{AckSample, Cca, CongestionControl, Context, Event, Family, SlowStart, Window};

/// Least window for which rounds of competition are counted, segments.
const LEAST_RENO_COUNT: u32 = 2;

parameters! {
    /// The constants of the paper, under the names that the kernel has for them.
    pub struct YeahConfig {
        /// Segments of the flow that may wait at the bottleneck.
        alpha: u32 = 80, in 1..=1_000_000, "segments", "Linux TCP_YEAH_ALPHA; Baiocchi et al. 2007 §2, Q_max";
        /// The queue is divided by this to give what is taken out of the network.
        gamma: u32 = 1, in 1..=1_000, "", "Linux TCP_YEAH_GAMMA; Baiocchi et al. 2007 §2, γ";
        /// At a loss the window shrinks by at least its 2^delta-th part.
        delta: u32 = 3, in 0..=31, "", "Linux TCP_YEAH_DELTA; Baiocchi et al. 2007 §2, δ";
        /// Before a loss the window shrinks by at most its 2^epsilon-th part.
        epsilon: u32 = 1, in 0..=31, "", "Linux TCP_YEAH_EPSILON; Baiocchi et al. 2007 §2, ε";
        /// A queueing delay beyond the phy-th part of the lowest RTT means congestion.
        phy: u32 = 8, in 1..=1_000, "", "Linux TCP_YEAH_PHY; Baiocchi et al. 2007 §2, φ";
        /// Rounds as Reno after which a loss is shared with greedy flows, and the window halved.
        rho: u32 = 16, in 0..=1_000_000, "rounds", "Linux TCP_YEAH_RHO; Baiocchi et al. 2007 §2, ρ";
        /// Rounds as Scalable TCP after which there are no greedy flows any more.
        zeta: u32 = 50, in 0..=1_000_000, "rounds", "Linux TCP_YEAH_ZETA";
        /// Scalable TCP grows by one segment for as many acknowledged ones, at most.
        scalable: u32 = 100, in 1..=1_000_000, "segments", "Linux TCP_SCALABLE_AI_CNT; Kelly 2003, a = 0.01";
    }
}

/// YeAH in the catalogue.
pub const ABOUT: Cca = Cca {
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

/// The state of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Yeah {
    config: YeahConfig,
    round: DelayRound,
    /// Segments that waited in the last round.
    queue: u32,
    /// Rounds in succession as Reno; zero means Scalable TCP.
    reno_rounds: u32,
    /// An estimate of the window of a greedy Reno flow (the kernel's `reno_count`).
    reno_count: u32,
    /// Rounds as Scalable TCP since the last loss.
    fast_rounds: u32,
}

impl Default for Yeah {
    fn default() -> Self {
        Self::new(YeahConfig::default())
    }
}

impl Yeah {
    /// YeAH with other parameters.
    pub fn new(config: YeahConfig) -> Self {
        Self {
            config,
            round: DelayRound::default(),
            queue: 0,
            reno_rounds: 0,
            reno_count: LEAST_RENO_COUNT,
            fast_rounds: 0,
        }
    }

    /// Whether the flow is as slow as Reno at present.
    pub fn is_slow(&self) -> bool {
        self.reno_rounds > 0
    }

    /// §2: the end of a round chooses the mode and takes a long queue out of the network.
    fn choose_mode(&mut self, w: &mut Window, rtt: RoundRtt) {
        let cwnd = u64::from(w.cwnd);
        self.queue = (cwnd * rtt.queueing() / rtt.lowest) as u32;
        let too_many = self.queue > self.config.alpha;
        if too_many || rtt.queueing() > rtt.base / u64::from(self.config.phy) {
            if too_many && w.cwnd > self.reno_count {
                self.decongest(w);
            }
            self.reno_count = if self.reno_count <= LEAST_RENO_COUNT {
                (w.cwnd / 2).max(LEAST_RENO_COUNT)
            } else {
                self.reno_count.saturating_add(1)
            };
            self.reno_rounds = self.reno_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > self.config.zeta {
                self.reno_count = LEAST_RENO_COUNT;
                self.fast_rounds = 0;
            }
            self.reno_rounds = 0;
        }
    }

    /// Precautionary decongestion: the queue goes, but the window stays that of a greedy Reno flow.
    fn decongest(&self, w: &mut Window) {
        let reduction = (self.queue / self.config.gamma).min(w.cwnd >> self.config.epsilon);
        w.cwnd = (w.cwnd - reduction).max(self.reno_count);
        w.ssthresh = w.cwnd;
    }
}

impl CongestionControl for Yeah {
    fn name(&self) -> &'static str {
        "yeah"
    }

    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.round.restart(window);
    }

    fn seed(&mut self, _window: &mut Window, context: &Context) {
        self.round.seed(context.min_rtt);
    }

    /// §2: against greedy flows a half, else what waits in the queue, but no less than an eighth.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let half = (window.cwnd / 2).max(2);
        let reduction = if self.reno_rounds < self.config.rho {
            self.queue.min(half).max(window.cwnd >> self.config.delta)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2).max(LEAST_RENO_COUNT);
        window.cwnd.saturating_sub(reduction).max(2)
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        self.round.sample(sample);
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !window.cwnd_limited {
            return;
        }
        self.start_then_avoid(window, slow_start, acked);
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

    fn set_state(&mut self, window: &mut Window, state: super::CaState) {
        if state == super::CaState::Open {
            self.round.begin(window);
        }
    }

    /// After an idle time the path may be another.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if matches!(event, Event::CwndRestart | Event::TxStart) {
            self.round.restart(window);
        }
    }
}
