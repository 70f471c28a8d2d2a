//! CUBIC (RFC 9438), with the choices of Linux where the RFC leaves one.

use units::{Duration, Instant};

use super::{Ack, CaState, CongestionControl, Event, Window};

/// The window is computed anew at most this often while it does not change.
const UPDATE_INTERVAL: Duration = Duration::from_nanos(31_250_000);
/// RTT samples this soon after a loss episode began are not trusted for the lowest delay.
const DELAY_QUARANTINE: Duration = Duration::from_secs(1);

/// The parameters of RFC 9438 §4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// C, segments per second cubed (§5.1).
    pub c: f64,
    /// Multiplicative decrease factor; Linux's 717/1024 for the RFC's 0.7.
    pub beta: f64,
    /// Release of bandwidth to newcomers (§4.7).
    pub fast_convergence: bool,
    /// The Reno-friendly region (§4.3).
    pub reno_friendly: bool,
}

impl Default for CubicConfig {
    fn default() -> Self {
        Self {
            c: 0.4,
            beta: 717.0 / 1024.0,
            fast_convergence: true,
            reno_friendly: true,
        }
    }
}

/// The state of one connection. Windows in segments, times in seconds.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    config: CubicConfig,
    /// Window before the last reduction (`W_max`).
    w_max: f64,
    /// Start of the present growth.
    epoch: Option<Instant>,
    /// Window at which the cubic is flat in the present epoch.
    origin: f64,
    /// Time from the start of the epoch to the flat point (`K`).
    k: f64,
    /// Lowest RTT, by which the cubic looks ahead.
    delay_min: Option<Duration>,
    /// What Reno would have (`W_est`), and the ACKs counted towards its next segment.
    w_est: f64,
    /// Segments to be acknowledged for one more in the window.
    per_segments: u32,
    last_update: Instant,
    last_cwnd: u32,
    last_sent: Instant,
}

impl Cubic {
    /// CUBIC with other parameters.
    pub fn new(config: CubicConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// A growth epoch begins (§4.2): at the window now, aiming at `w_max`.
    fn start_epoch(&mut self, w: &Window) {
        let cwnd = f64::from(w.cwnd);
        self.epoch = Some(w.now);
        self.w_est = cwnd;
        if self.w_max <= cwnd {
            self.k = 0.0;
            self.origin = cwnd;
        } else {
            self.k = libm::cbrt((self.w_max - cwnd) / self.config.c);
            self.origin = self.w_max;
        }
    }

    /// `W_cubic` at `elapsed` seconds into the epoch (§4.2, figure 1).
    fn w_cubic(&self, elapsed: f64) -> f64 {
        let from_flat = elapsed - self.k;
        self.origin + self.config.c * from_flat * from_flat * from_flat
    }

    /// Recomputes how many ACKed segments the next segment of window costs.
    fn update(&mut self, w: &Window, acked: u32) {
        let cwnd = f64::from(w.cwnd);
        let unchanged = self.last_cwnd == w.cwnd;
        let epoch_is_on = self.epoch.is_some();
        if epoch_is_on && self.config.reno_friendly {
            // §4.3: alpha = 3 (1 - beta) / (1 + beta), until W_est has reached W_max.
            let beta = self.config.beta;
            let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
            self.w_est += alpha * f64::from(acked) / cwnd;
        }
        if epoch_is_on && unchanged && w.now.saturating_since(self.last_update) <= UPDATE_INTERVAL {
            self.prefer_reno(cwnd);
            return;
        }
        self.last_cwnd = w.cwnd;
        self.last_update = w.now;
        if !epoch_is_on {
            self.start_epoch(w);
        }
        let Some(epoch) = self.epoch else { return };
        let ahead = self.delay_min.unwrap_or(Duration::ZERO).as_secs_f64();
        let target = self.w_cubic(w.now.saturating_since(epoch).as_secs_f64() + ahead);
        self.per_segments = if target > cwnd {
            (cwnd / (target - cwnd)) as u32
        } else {
            // Hardly any growth.
            w.cwnd.saturating_mul(100)
        };
        if self.w_max <= 0.0 && self.per_segments > 20 {
            // No loss seen yet: at least 5 % per round trip.
            self.per_segments = 20;
        }
        self.prefer_reno(cwnd);
        // §4.4: not faster than half a window per round trip.
        self.per_segments = self.per_segments.max(2);
    }

    /// Grows as Reno would where that is faster.
    fn prefer_reno(&mut self, cwnd: f64) {
        if self.config.reno_friendly && self.w_est > cwnd {
            let per = (cwnd / (self.w_est - cwnd)) as u32;
            self.per_segments = self.per_segments.min(per).max(2);
        }
    }

    fn reset(&mut self) {
        let (config, delay_min) = (self.config, self.delay_min);
        *self = Self {
            config,
            delay_min,
            ..Self::default()
        };
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn init(&mut self, _window: &mut Window) {
        self.delay_min = None;
        self.reset();
    }

    /// §4.6 and §4.7.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let cwnd = f64::from(window.cwnd);
        self.epoch = None;
        self.w_max = if cwnd < self.w_max && self.config.fast_convergence {
            cwnd * (1.0 + self.config.beta) / 2.0
        } else {
            cwnd
        };
        ((cwnd * self.config.beta) as u32).max(2)
    }

    fn pkts_acked(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let young = |epoch| window.now.saturating_since(epoch) < DELAY_QUARANTINE;
        if self.epoch.is_some_and(young) {
            return;
        }
        let rtt = rtt.max(Duration::from_micros(1));
        self.delay_min = Some(self.delay_min.map_or(rtt, |lowest| lowest.min(rtt)));
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        self.update(window, acked);
        window.grow_additively(self.per_segments, acked);
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            self.delay_min = None;
            self.reset();
        }
    }

    /// After an idle time the epoch goes on where it stopped (§4.2, "application-limited").
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::TxStart {
            if let Some(epoch) = self.epoch {
                let idle = window
                    .now
                    .saturating_since(self.last_sent.max(self.last_update));
                self.epoch = Some((epoch + idle).min(window.now));
            }
            self.last_sent = window.now;
        }
    }
}
