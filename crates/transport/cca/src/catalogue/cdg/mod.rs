//! CAIA Delay-Gradient (Hayes and Armitage 2011), with the additions of Linux: Hybrid Slow Start, a back-off
//! by proportional rate reduction, and heuristics against losses that congestion did not cause.

mod gradient;
mod hystart;

use units::Duration;

use crate::parameters::{choices, parameters};
use crate::{
    AckSample, CcaInfo, CongestionControl, Event, Family, SlowStart, TransferState, Window,
};
use gradient::{Gradient, MinMax};
use hystart::CdgHystart;

/// Fall of a gradient that shows an effect of a back-off, µs.
const MIN_GRADIENT_FALL_US: i64 = 32;
/// Noise of gradients, µs.
const NOISE_US: i64 = 64;
/// Maximum number of successive ACKs that count as delayed ones.
const MAX_DELAYED_ACKS: u32 = 5;

choices! {
    /// Signals that end slow start before a delay gradient or a loss does.
    pub enum Detect {
        /// No signal.
        Off = "off",
        /// An ACK train as long as half the lowest RTT.
        Train = "train",
        /// A delay that is an eighth above the lowest RTT.
        Delay = "delay",
        /// Either.
        Both = "both",
    }
}

parameters! {
    /// Parameters of the kernel's module.
    pub struct CdgConfig {
        /// Rounds over which delay gradients are averaged.
        window: u32 = 8, in 1..=256, "rounds", "Linux tcp_cdg window; Hayes and Armitage 2011 §3.1";
        /// Share of the window left after a back-off.
        backoff_beta: f64 = 724.0 / 1024.0, in 0.0..=1.0, "", "Linux tcp_cdg backoff_beta, √½; Hayes and Armitage 2011: 0.7";
        /// Factor from a gradient to a probability: P = 1 − exp(−gradient · window · factor / 1 s).
        backoff_factor: u32 = 42, in 0..=1_000_000, "", "Linux tcp_cdg backoff_factor = 1000 / (G · window); Hayes and Armitage 2011 §3.2, G = 3";
        /// Signals other than the gradient that end slow start.
        hystart_detect: Detect = Detect::Both, "", "Linux tcp_cdg hystart_detect";
        /// Back-offs without effect after which CDG stops backing off; 0 for no limit.
        use_ineff: u32 = 5, in 0..=65_535, "back-offs", "Linux tcp_cdg use_ineff; Hayes and Armitage 2011 §3.3";
        /// Keep a shadow window, the one that losses alone would have left.
        use_shadow: bool = true, "", "Linux tcp_cdg use_shadow; Hayes and Armitage 2011 §3.4";
        /// Do not back off for a loss while the queue is not full.
        use_tolerance: bool = false, "", "Linux tcp_cdg use_tolerance; Hayes and Armitage 2011 §3.5";
    }
}

/// Catalogue entry of CDG.
pub const INFO: CcaInfo = CcaInfo {
    name: "cdg",
    aliases: &["caia-delay-gradient"],
    title: "CAIA Delay-Gradient",
    family: Family::Delay,
    reference: "Hayes, Armitage: Revisiting TCP congestion control using delay gradients, IFIP Networking 2011",
    year: 2011,
    linux: true,
    parameters: CdgConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Cdg::new(CdgConfig::with(settings))),
};

/// State of the queue at the bottleneck, as the gradients show it (§3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Queue {
    #[default]
    Unknown,
    NotFull,
    Full,
    /// The window is being reduced for a gradient.
    BackingOff,
}

/// State of one connection.
#[derive(Clone, Debug)]
pub struct Cdg {
    config: CdgConfig,
    gradient: Gradient,
    /// RTTs of this round.
    rtt: Option<MinMax>,
    /// RTTs of the last round.
    last_rtt: Option<MinMax>,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    queue: Queue,
    delayed_acks: u32,
    /// Window that losses alone would have left, segments.
    shadow_wnd: u32,
    /// Back-offs since the delay last fell.
    backoff_cnt: u32,
    hystart: CdgHystart,
}

impl Cdg {
    /// Creates CDG with these parameters.
    pub fn new(config: CdgConfig) -> Self {
        Self {
            config,
            gradient: Gradient::new(config.window),
            rtt: None,
            last_rtt: None,
            round_end: 0,
            queue: Queue::Unknown,
            delayed_acks: 0,
            shadow_wnd: 0,
            backoff_cnt: 0,
            hystart: CdgHystart::default(),
        }
    }

    fn restart(&mut self, w: &Window) {
        *self = Self {
            round_end: w.snd_nxt,
            shadow_wnd: w.cwnd,
            ..Self::new(self.config)
        };
    }

    /// Updates the state of the queue at the end of a round; returns the gradient in µs per window of rounds (§3.1).
    fn update_gradient(&mut self, rtt: MinMax, last_rtt: MinMax) -> i64 {
        let (change, gradient) = self.gradient.add(rtt.since(last_rtt));
        if change.min <= -MIN_GRADIENT_FALL_US || change.max <= -MIN_GRADIENT_FALL_US {
            self.backoff_cnt = 0;
        }
        if self.config.use_tolerance {
            let (min, max) = (in_noise_units(change.min), in_noise_units(change.max));
            if min > 0 && max <= 0 {
                self.queue = Queue::Full;
            } else if (min > 0 && max > 0) || max < 0 {
                self.queue = Queue::NotFull;
            }
        }
        gradient
    }

    /// Backs off with a probability that grows with the gradient, unless back-offs have had no effect (§3.2). Returns
    /// whether it backs off.
    fn try_back_off(&mut self, w: &mut Window, gradient: i64) -> bool {
        let exponent = gradient as f64 * f64::from(self.config.backoff_factor) * 1e-6;
        let threshold = f64::from(u32::MAX) * libm::exp(-exponent);
        let draw = w.random.bits() as u32;
        if f64::from(draw) <= threshold {
            return false;
        }
        if self.config.use_ineff > 0 {
            self.backoff_cnt = self.backoff_cnt.saturating_add(1);
            if self.backoff_cnt > self.config.use_ineff {
                return false;
            }
        }
        self.shadow_wnd = self.shadow_wnd.max(w.cwnd);
        self.queue = Queue::BackingOff;
        w.cwr_requested = true;
        true
    }
}

/// Returns a change in units of the noise, rounded to the nearest.
fn in_noise_units(change: i64) -> i64 {
    (change + change.signum() * NOISE_US / 2) / NOISE_US
}

impl CongestionControl for Cdg {
    fn init(&mut self, window: &mut Window) {
        self.restart(window);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        self.hystart.seed(state.min_rtt);
    }

    /// Returns `backoff_beta` of the window at a back-off, and the whole window after a loss without a full queue
    /// (`use_tolerance`). Otherwise it is half of the larger one of the window and the shadow window, at most the window
    /// (§3.4).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let cwnd = window.cwnd;
        match self.queue {
            Queue::BackingOff => ((f64::from(cwnd) * self.config.backoff_beta) as u32).max(2),
            Queue::NotFull if self.config.use_tolerance => cwnd,
            _ => {
                self.shadow_wnd = (self.shadow_wnd / 2).min(cwnd);
                let shadow = if self.config.use_shadow {
                    self.shadow_wnd
                } else {
                    0
                };
                shadow.max(cwnd / 2).max(2)
            }
        }
    }

    /// Adds an RTT sample. Samples of delayed ACKs count only for the lowest RTT (Hayes, CAIA technical
    /// report 100219A).
    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt.filter(|rtt| *rtt >= Duration::from_micros(1)) else {
            return;
        };
        let rtt = rtt.as_micros() as i64;
        if window.sacked_out == 0 {
            if sample.acked == 1 && self.delayed_acks > 0 {
                if let Some(round_rtt) = &mut self.rtt {
                    round_rtt.min = round_rtt.min.min(rtt);
                }
                self.delayed_acks -= 1;
                return;
            }
            if sample.acked > 1 && self.delayed_acks < MAX_DELAYED_ACKS {
                self.delayed_acks += 1;
            }
        }
        let round_rtt = self.rtt.get_or_insert(MinMax { min: rtt, max: rtt });
        round_rtt.min = round_rtt.min.min(rtt);
        round_rtt.max = round_rtt.max.max(rtt);
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.in_slow_start() {
            let min_rtt = self.rtt.map(|rtt| rtt.min);
            self.hystart
                .on_rtt(window, min_rtt, self.config.hystart_detect);
        }
        if window.snd_una > self.round_end
            && let Some(rtt) = self.rtt.take()
        {
            let last_rtt = self.last_rtt.replace(rtt);
            let gradient = last_rtt.map_or(0, |last_rtt| self.update_gradient(rtt, last_rtt));
            self.round_end = window.snd_nxt;
            self.hystart.begin_round();
            if gradient > 0 && self.try_back_off(window, gradient) {
                return;
            }
        }
        if !window.cwnd_limited {
            self.shadow_wnd = self.shadow_wnd.min(window.cwnd);
            return;
        }
        let before = window.cwnd;
        self.slow_start_then_ca(window, slow_start, acked);
        self.shadow_wnd = self.shadow_wnd.saturating_add(window.cwnd - before);
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        match event {
            Event::CwndRestart => self.restart(window),
            Event::CompleteCwr => {
                self.queue = Queue::Unknown;
                self.round_end = window.snd_nxt;
                self.last_rtt = self.rtt.take();
            }
            Event::TxStart | Event::Loss => {}
        }
    }
}
