//! CUBIC (RFC 9438), with the choices of Linux where the RFC leaves one.

mod stretch;

use units::{Duration, Instant};

use crate::parameters::{choices, parameters};
use crate::slow_start::Method;
use crate::{AckSample, CaState, CcaInfo, CongestionControl, Event, Family, TransferState, Window};
use stretch::AckRatio;

/// Minimum time between two updates of the growth while the window does not change, ms.
const UPDATE_INTERVAL: u64 = 31;
/// Time after the start of a growth epoch in which RTT samples do not count for the lowest delay, ms.
const DELAY_QUARANTINE: u64 = 1_000;
/// Ticks per second of the curve (Linux `BICTCP_HZ`).
const BICTCP_HZ: f64 = 1_024.0;

/// Returns an instant in whole milliseconds.
const fn ms(at: Instant) -> u64 {
    at.since_start().as_millis()
}

choices! {
    /// Kernel versions whose CUBIC differs.
    pub enum Kernel {
        /// Linux 4.3 and later, including 4.8.
        Current = "current",
        /// Linux 3.19: growth counts ACKs rather than segments, and an estimate of the segments per ACK corrects
        /// it. The window grows by up to one segment per ACK. Idle times count as time on the curve.
        Linux3_19 = "linux-3.19",
    }
}

choices! {
    /// Times that do not count as time on the curve.
    pub enum Excluded {
        /// Idle times, at whose end nothing is in flight (Linux 4.3 and later).
        Idle = "idle",
        /// Also times in which the application has data in flight and does not fill the window (RFC 9438).
        ApplicationLimited = "application-limited",
    }
}

parameters! {
    /// Parameters of RFC 9438 §4, under the names of the kernel's module where it has them.
    pub struct CubicConfig {
        /// Steepness of the cubic curve (C).
        c: f64 = 0.4, in 0.001..=100.0, "segments/s³", "RFC 9438 §5.1";
        /// Share of the window left after a reduction.
        beta: f64 = 717.0 / 1024.0, in 0.01..=0.99, "", "RFC 9438 §4.6, as Linux rounds it";
        /// Release bandwidth to new flows.
        fast_convergence: bool = true, "", "RFC 9438 §4.7";
        /// Grow at least as fast as Reno (the Reno-friendly region).
        tcp_friendliness: bool = true, "", "RFC 9438 §4.3";
        /// Times that do not count as time on the curve.
        excluded: Excluded = Excluded::Idle, "", "RFC 9438 §4.2 and §5.8; Linux bictcp_cwnd_event";
        /// Kernel version to follow where the RFC leaves a choice.
        kernel: Kernel = Kernel::Current, "", "Linux tcp_cubic of 3.19 and of 4.3 and later";
    }
}

/// Catalogue entry of CUBIC.
pub const INFO: CcaInfo = CcaInfo {
    name: "cubic",
    aliases: &[],
    title: "CUBIC",
    family: Family::Loss,
    reference: "RFC 9438; Ha, Rhee, Xu: CUBIC, a new TCP-friendly high-speed TCP variant, ACM SIGOPS OSR 42(5)",
    year: 2008,
    linux: true,
    parameters: CubicConfig::PARAMETERS,
    slow_start: Some(Method::Hystart),
    build: &|settings| Box::new(Cubic::new(CubicConfig::with(settings))),
};

/// State of one connection. Windows are in segments, times in whole milliseconds, as in Linux.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    config: CubicConfig,
    /// Window before the last reduction (`W_max`); zero before the first.
    w_max: u32,
    /// Start of the current growth epoch, ms.
    epoch: Option<u64>,
    /// Window at which the curve of the current epoch is flat.
    origin: u32,
    /// Time from the start of the epoch to the flat point (`K`), in ticks of the curve.
    k: u64,
    /// Lowest RTT, by which the curve looks ahead.
    delay_min: Option<Duration>,
    /// Window that Reno would have (`W_est`).
    w_est: u32,
    /// Acknowledged segments that count towards the next segment of `w_est`.
    w_est_acked: u32,
    /// ACKed segments per segment of growth (Linux `cnt`).
    cnt: u32,
    /// Time of the last update of `cnt`, ms.
    last_update: u64,
    /// Window at that time.
    last_cwnd: u32,
    /// Time of the latest ACK, ms.
    last_ack_ms: u64,
    /// Segments per ACK (Linux 3.19).
    ratio: AckRatio,
}

impl Cubic {
    /// Creates CUBIC with these parameters.
    pub fn new(config: CubicConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Begins a growth epoch at the current window, towards `w_max` (§4.2).
    fn start_epoch(&mut self, w: &Window, acked: u32) {
        self.epoch = Some(ms(w.now));
        self.w_est = w.cwnd;
        self.w_est_acked = acked;
        if self.w_max <= w.cwnd {
            self.k = 0;
            self.origin = w.cwnd;
        } else {
            let k = libm::cbrt(f64::from(self.w_max - w.cwnd) / self.config.c);
            self.k = (k * BICTCP_HZ) as u64;
            self.origin = self.w_max;
        }
    }

    /// Returns `W_cubic` at `ticks` into the epoch (§4.2, figure 1).
    fn w_cubic(&self, ticks: u64) -> i64 {
        let seconds = ticks.abs_diff(self.k) as f64 / BICTCP_HZ;
        let distance = (self.config.c * seconds * seconds * seconds) as i64;
        let origin = i64::from(self.origin);
        if ticks < self.k {
            origin - distance
        } else {
            origin + distance
        }
    }

    /// Updates `cnt` if the window has changed or some time has passed.
    fn update(&mut self, w: &Window, acked: u32) {
        self.w_est_acked += acked;
        let now = ms(w.now);
        if self.last_cwnd == w.cwnd && now - self.last_update <= UPDATE_INTERVAL {
            return;
        }
        let counts_segments = self.config.kernel == Kernel::Current;
        let skips_curve = counts_segments && self.epoch.is_some() && now == self.last_update;
        if !skips_curve {
            self.follow_curve(w, acked, now);
        }
        if self.config.tcp_friendliness {
            self.prefer_reno(w.cwnd);
        }
        self.cnt = if counts_segments {
            // §4.2: the target is at most 1.5 windows, so half a window per round trip.
            self.cnt.max(2)
        } else {
            self.ratio.acks_for(self.cnt)
        };
    }

    fn follow_curve(&mut self, w: &Window, acked: u32, now: u64) {
        self.last_cwnd = w.cwnd;
        self.last_update = now;
        if self.epoch.is_none() {
            self.start_epoch(w, acked);
        }
        let elapsed = now - self.epoch.unwrap_or(now);
        let ahead = self.delay_min.unwrap_or(Duration::ZERO);
        let ahead = ahead.as_micros().div_ceil(1_000);
        let ticks = (elapsed + ahead) * BICTCP_HZ as u64 / 1_000;
        let missing = self.w_cubic(ticks) - i64::from(w.cwnd);
        self.cnt = if missing > 0 {
            (i64::from(w.cwnd) / missing) as u32
        } else {
            // Hardly any growth.
            w.cwnd.saturating_mul(100)
        };
        if self.w_max == 0 && self.cnt > 20 {
            // No loss yet: at least 5 % per round trip.
            self.cnt = 20;
        }
    }

    /// Grows like Reno where that is faster (§4.3): alpha = 3 (1 - beta) / (1 + beta) of a segment per
    /// window. Linux stores the inverse in eighths.
    fn prefer_reno(&mut self, cwnd: u32) {
        let beta = self.config.beta;
        let eighths = (8.0 * (1.0 + beta) / 3.0 / (1.0 - beta)) as u32;
        let delta = (u64::from(cwnd) * u64::from(eighths)) >> 3;
        let delta = delta.clamp(1, u64::from(u32::MAX)) as u32;
        // As in Linux: `while (ack_cnt > delta)`.
        let whole = self.w_est_acked.saturating_sub(1) / delta;
        self.w_est_acked -= whole * delta;
        self.w_est += whole;
        if self.w_est > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.w_est - cwnd));
        }
    }

    /// Moves the epoch by the time since the latest ACK if the application left room in the window meanwhile (§4.2, §5.8).
    fn exclude_unused_time(&mut self, w: &Window) {
        let now = ms(w.now);
        let since = core::mem::replace(&mut self.last_ack_ms, now);
        if self.config.excluded == Excluded::ApplicationLimited && !w.cwnd_limited {
            self.epoch = self.epoch.map(|epoch| (epoch + now - since).min(now));
        }
    }
}

impl CongestionControl for Cubic {
    fn init(&mut self, _window: &mut Window) {
        *self = Self::new(self.config);
    }

    /// Puts the flat part of the curve at the window of the earlier CCA, as just after a reduction. Growth beyond it
    /// starts slowly.
    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        self.w_max = state.cwnd;
        if state.min_rtt != Duration::MAX {
            self.delay_min = Some(state.min_rtt);
        }
    }

    /// Reduces the window by `beta` (§4.6), and sets a lower `w_max` if the window did not reach the last one
    /// (§4.7).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let cwnd = f64::from(window.cwnd);
        self.epoch = None;
        self.w_max = if window.cwnd < self.w_max && self.config.fast_convergence {
            (cwnd * (1.0 + self.config.beta) / 2.0) as u32
        } else {
            window.cwnd
        };
        ((cwnd * self.config.beta) as u32).max(2)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        if window.state == CaState::Open {
            self.ratio.update(sample.acked);
        }
        self.exclude_unused_time(window);
        let Some(rtt) = sample.rtt else { return };
        let now = ms(window.now);
        if self
            .epoch
            .is_some_and(|epoch| now < epoch + DELAY_QUARANTINE)
        {
            return;
        }
        let rtt = rtt.max(Duration::from_micros(1));
        self.delay_min = Some(self.delay_min.map_or(rtt, |lowest| lowest.min(rtt)));
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        match self.config.kernel {
            Kernel::Current => {
                self.update(window, acked);
                window.grow_additively(self.cnt, acked);
            }
            Kernel::Linux3_19 => {
                self.update(window, 1);
                stretch::grow_per_ack(window, self.cnt);
            }
        }
    }

    /// The regions of RFC 9438 §4.3 to §4.5.
    fn mode(&self, window: &Window) -> &'static str {
        window.mode().unwrap_or(
            if self.config.tcp_friendliness && self.w_est > window.cwnd {
                "reno_friendly"
            } else if window.cwnd < self.w_max {
                "concave"
            } else {
                "convex"
            },
        )
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            *self = Self::new(self.config);
        }
    }

    /// Excludes an idle time from the epoch (§4.2, "application-limited").
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::TxStart
            && self.config.kernel == Kernel::Current
            && let Some(epoch) = self.epoch
        {
            let now = ms(window.now);
            let idle = now.saturating_sub(ms(window.last_sent));
            self.epoch = Some((epoch + idle).min(now));
            self.last_ack_ms = now;
        }
    }
}
