//! Copa (Arun and Balakrishnan, NSDI 2018): steers the window towards the rate 1/(δ d), where d is the
//! queueing delay. Against flows that fill buffers it trades delay for rate. The kernel does not have it.

mod competition;
mod rtt;
mod velocity;

use units::{Bytes, Duration, Rate};

use crate::parameters::parameters;
use crate::{
    Ack, CaState, CcaInfo, CongestionControl, Event, Family, INFINITE_SSTHRESH, TransferState,
    Window,
};
use competition::Competition;
use rtt::Rtts;
use velocity::Velocity;

parameters! {
    /// Constants of the paper.
    pub struct CopaConfig {
        /// δ of the default mode: a flow alone has about 1/δ segments in the queue.
        delta: f64 = 0.5, in 0.001..=10.0, "1/segments", "Arun and Balakrishnan 2018 §2.1 and §2.2";
        /// Use a smaller δ against flows that fill buffers.
        competitive: bool = true, "", "Arun and Balakrishnan 2018 §2.2";
        /// Time for which a lowest RTT counts.
        min_rtt_window: Duration = Duration::from_secs(10), in Duration::from_millis(100)..=Duration::from_secs(600), "", "Arun and Balakrishnan 2018 §2.1";
        /// Share of the RTT's range below which the queueing delay is that of a nearly empty queue.
        empty_share: f64 = 0.1, in 0.0..=1.0, "", "Arun and Balakrishnan 2018 §2.2";
        /// Round trips without a nearly empty queue that show a flow that fills buffers.
        empty_rounds: u32 = 5, in 1..=1_000, "round trips", "Arun and Balakrishnan 2018 §2.2";
        /// Queue of the flow's own burst, which leaves in one piece and is acknowledged by one delayed ACK: a queue
        /// no longer than this is nearly empty. The flow of the paper sends and acknowledges single packets (0).
        own_burst: f64 = 1.5, in 0.0..=100.0, "segments", "Of celltcp; 0 is Arun and Balakrishnan 2018 §2.2";
        /// Pacing rate, in windows per standing RTT.
        pacing_gain: f64 = 2.0, in 1.0..=10.0, "", "Arun and Balakrishnan 2018 §2.1";
    }
}

/// Catalogue entry of Copa.
pub const INFO: CcaInfo = CcaInfo {
    name: "copa",
    aliases: &[],
    title: "Copa",
    family: Family::Delay,
    reference: "Arun, Balakrishnan: Copa, practical delay-based congestion control for the Internet, NSDI 2018",
    year: 2018,
    linux: false,
    parameters: CopaConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Copa::new(CopaConfig::with(settings))),
};

/// Minimum window, segments.
const MIN_CWND: u32 = 2;

/// State of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Copa {
    config: CopaConfig,
    rtts: Rtts,
    velocity: Velocity,
    competition: Competition,
    in_slow_start: bool,
    /// Fraction of a segment that the window has beyond whole ones.
    fraction: f64,
    /// Delivery count at which the current window has been delivered.
    next_round: u64,
    /// Whether this round has already reacted to a loss.
    lost_in_round: bool,
}

impl Copa {
    /// Creates Copa with these parameters.
    pub fn new(config: CopaConfig) -> Self {
        Self {
            config,
            rtts: Rtts::default(),
            velocity: Velocity::default(),
            competition: Competition::new(config.delta),
            in_slow_start: true,
            fraction: 0.0,
            next_round: 0,
            lost_in_round: false,
        }
    }

    /// Returns whether Copa competes with flows that fill buffers.
    pub fn is_competing(&self) -> bool {
        self.competition.is_on()
    }

    /// Returns the current δ.
    pub fn delta(&self) -> f64 {
        self.competition.delta()
    }

    /// Returns whether the rate is below its target: λ = cwnd / RTTstanding ≤ 1 / (δ d) (§2.1).
    fn is_below_target(&self, cwnd: f64) -> bool {
        let queueing = self.rtts.queueing().as_micros() as f64;
        let standing = self.rtts.standing().as_micros() as f64;
        cwnd * self.delta() * queueing <= standing
    }

    /// Ends a round: sets the direction and the velocity of the next one, and updates the mode.
    fn end_round(&mut self, w: &Window, cwnd: f64) {
        self.next_round = w.delivered;
        self.velocity.end_round(cwnd);
        if self.config.competitive {
            self.competition.end_round(self.lost_in_round);
        }
        self.lost_in_round = false;
    }

    /// Chooses the mode by whether the queue is nearly empty (§2.2).
    fn choose_mode(&mut self, w: &Window) {
        let queueing = self.rtts.queueing().as_micros() as f64;
        let rtt_range = self.rtts.range().as_micros() as f64;
        let patience = w.srtt * u64::from(self.config.empty_rounds);
        let segment_time = self.rtts.standing().as_micros() as f64 / f64::from(w.cwnd.max(1));
        let own_delay = self.config.own_burst * segment_time;
        let is_empty = queueing <= (self.config.empty_share * rtt_range).max(own_delay);
        self.competition.observe(w.now, is_empty, patience);
    }

    fn set_window(&mut self, w: &mut Window, cwnd: f64) {
        let max = f64::from(w.cwnd_clamp).max(f64::from(MIN_CWND));
        let cwnd = cwnd.clamp(f64::from(MIN_CWND), max);
        w.cwnd = (cwnd as u32).min(w.cwnd_clamp);
        if !self.in_slow_start {
            // Otherwise the connection would take this for slow start.
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
        self.fraction = cwnd - libm::floor(cwnd);
    }

    /// Sets the pacing rate to 2 cwnd / RTTstanding, so that bursts do not build queues (§2.1). Before the first ACK
    /// of data the RTT is that of the handshake, whose short packets do not count as RTT samples.
    fn pace(&self, w: &mut Window) {
        let measured = self.rtts.standing();
        let standing = if measured.is_zero() { w.srtt } else { measured };
        if standing.is_zero() {
            return;
        }
        let bytes = f64::from(w.cwnd) * f64::from(w.mss) * self.config.pacing_gain;
        w.pacing_rate = Rate::of(Bytes::new(bytes as u64), standing).min(w.max_pacing_rate);
    }
}

impl CongestionControl for Copa {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.in_slow_start = window.in_slow_start();
        self.next_round = window.delivered;
        self.velocity.restart(f64::from(window.cwnd));
        self.competition.restart(window.now);
        window.paced = true;
        self.pace(window);
    }

    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        if state.min_rtt < Duration::MAX {
            let length = self.config.min_rtt_window;
            self.rtts.seed(window.now, state.min_rtt, length);
        }
    }

    /// Notes a loss, which is only a sign of competition (§2.2); the window follows the delay.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        if self.config.competitive && !self.lost_in_round {
            self.competition.on_loss();
            self.lost_in_round = true;
        }
        window.ssthresh.min(window.cwnd).max(MIN_CWND)
    }

    fn mode(&self, _window: &Window) -> &'static str {
        if self.in_slow_start {
            "slow_start"
        } else if self.is_competing() {
            "competitive"
        } else {
            "default"
        }
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtts
                .sample(window.now, rtt, window.srtt, self.config.min_rtt_window);
            if self.config.competitive {
                self.choose_mode(window);
            }
        }
        let mut cwnd = f64::from(window.cwnd) + self.fraction;
        let acked = f64::from(ack.delivered);
        let is_below = self.is_below_target(cwnd);
        if self.in_slow_start && !is_below {
            self.in_slow_start = false;
            self.velocity.restart(cwnd);
        }
        // A window that the application does not fill is no evidence for a larger one.
        let may_grow = !ack.rate.app_limited;
        if self.in_slow_start {
            if may_grow {
                cwnd += acked;
            }
        } else if acked > 0.0 {
            self.velocity.set_direction(is_below, cwnd);
            // No faster than slow start.
            let step = (self.velocity.get() / (self.delta() * cwnd)).min(1.0) * acked;
            if !is_below {
                cwnd -= step;
            } else if may_grow {
                cwnd += step;
            }
        }
        self.set_window(window, cwnd);
        if ack.rate.delivered.is_some() && ack.rate.prior_delivered >= self.next_round {
            self.end_round(window, f64::from(window.cwnd) + self.fraction);
        }
        self.pace(window);
    }

    /// Restarts the search for the window after a time-out.
    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            self.in_slow_start = true;
            self.fraction = 0.0;
        }
    }

    /// Restarts the choice of the mode after an idle time, in which no ACK has shown the queue.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::TxStart {
            self.competition.restart(window.now);
            if window.ssthresh == INFINITE_SSTHRESH {
                self.velocity.restart(f64::from(window.cwnd));
            }
        }
    }
}
