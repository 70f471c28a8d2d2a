//! New Vegas (Brakmo 2010, in Linux since 4.8): the window follows the highest rate of a round times the lowest RTT, plus
//! a few segments for the queue.

use units::{Duration, Instant};

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CaState, CcaInfo, CongestionControl, Family, INFINITE_SSTHRESH, SlowStart,
    TransferState, Window,
};

/// Minimum window for a decision, segments.
const MIN_CWND: u32 = 4;
/// Step by which that minimum rises after each round with only one ACK, segments.
const MIN_CWND_GROWTH: u32 = 2;
/// Upper bound of that minimum, segments.
const MIN_CWND_BOUND: u32 = 81;
/// Slowest growth: one segment in 2^8 round trips.
const MIN_GROWTH_SHIFT: i32 = -8;
/// Fastest growth: a larger shift of the window makes no difference.
const MAX_GROWTH_SHIFT: i32 = 31;
/// Time until the lowest RTT is reset for the first time.
const FIRST_RESET: Duration = Duration::from_secs(2);
/// Upper bound of the counters of RTTs and rounds.
const MAX_COUNT: u32 = 255;
/// One byte per microsecond in hundreds of bit/s.
const RATE_UNIT: u64 = 80_000;

parameters! {
    /// Constants of the kernel's module, under its names.
    pub struct NvConfig {
        /// Segments of the flow that may be queued in the network.
        nv_pad: u32 = 10, in 0..=1_000_000, "segments", "Linux tcp_nv nv_pad";
        /// Distance to nv_pad in which the window does not grow.
        nv_pad_buffer: u32 = 2, in 0..=1_000_000, "segments", "Linux tcp_nv nv_pad_buffer";
        /// Mean time between resets of the lowest RTT.
        nv_reset_period: Duration = Duration::from_secs(5), in Duration::from_millis(1)..=Duration::from_secs(86_400), "", "Linux tcp_nv nv_reset_period";
        /// Minimum window without a loss.
        nv_min_cwnd: u32 = 2, in 1..=1_000_000, "segments", "Linux tcp_nv nv_min_cwnd";
        /// Share of the surplus in the network by which the window shrinks, in 128ths.
        nv_cong_dec_mult: u32 = 38, in 0..=128, "1/128", "Linux tcp_nv nv_cong_dec_mult (30 %)";
        /// Threshold after congestion, in eighths of the window that fills the path at the measured rate.
        nv_ssthresh_factor: u32 = 8, in 1..=64, "1/8", "Linux tcp_nv nv_ssthresh_factor";
        /// Weight of a new RTT in the average, in 256ths.
        nv_rtt_factor: u32 = 128, in 0..=256, "1/256", "Linux tcp_nv nv_rtt_factor";
        /// Share of the window left after a loss, in 1024ths.
        nv_loss_dec_factor: u32 = 819, in 1..=1_024, "1/1024", "Linux tcp_nv nv_loss_dec_factor (80 %)";
        /// Decisions without congestion after which a growth slower than Reno's doubles; 0 for never.
        nv_cwnd_growth_rate_neg: u32 = 8, in 0..=1_000_000, "decisions", "Linux tcp_nv nv_cwnd_growth_rate_neg";
        /// Decisions without congestion after which a growth of Reno's speed or faster doubles; 0 for never.
        nv_cwnd_growth_rate_pos: u32 = 0, in 0..=1_000_000, "decisions", "Linux tcp_nv nv_cwnd_growth_rate_pos";
        /// RTT samples needed to shrink the window.
        nv_dec_eval_min_calls: u32 = 60, in 0..=255, "RTT samples", "Linux tcp_nv nv_dec_eval_min_calls";
        /// RTT samples needed to grow the window.
        nv_inc_eval_min_calls: u32 = 20, in 0..=255, "RTT samples", "Linux tcp_nv nv_inc_eval_min_calls";
        /// RTT samples needed to leave slow start.
        nv_ssthresh_eval_min_calls: u32 = 30, in 0..=255, "RTT samples", "Linux tcp_nv nv_ssthresh_eval_min_calls";
        /// Rounds without a decision after which the window stops growing.
        nv_stop_rtt_cnt: u32 = 10, in 0..=255, "rounds", "Linux tcp_nv nv_stop_rtt_cnt";
        /// Rounds needed to shrink the window.
        nv_rtt_min_cnt: u32 = 2, in 0..=255, "rounds", "Linux tcp_nv nv_rtt_min_cnt";
        /// RTT of the path if it is known in advance, an upper bound of the lowest RTT; 0 if unknown.
        base_rtt: Duration = Duration::ZERO, "", "Linux BPF_SOCK_OPS_BASE_RTT; unknown unless a program tells";
    }
}

/// Catalogue entry of NV.
pub const INFO: CcaInfo = CcaInfo {
    name: "nv",
    aliases: &["tcp-nv", "new-vegas"],
    title: "New Vegas (TCP-NV)",
    family: Family::Delay,
    reference: "Brakmo: TCP-NV, congestion avoidance for data centers, Linux Plumbers Conference 2010; Linux tcp_nv",
    year: 2010,
    linux: true,
    parameters: NvConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Nv::new(NvConfig::with(settings))),
};

/// State of one connection. RTTs are in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nv {
    config: NvConfig,
    /// Time of the next reset of the lowest RTT.
    reset_at: Instant,
    /// Doublings of Reno's speed of growth; halvings if negative.
    growth_shift: i32,
    may_grow: bool,
    /// Whether losses have made the measurements of this round useless.
    is_stale: bool,
    /// RTT samples since the last decision.
    samples: u32,
    /// Rounds since the last decision.
    rounds: u32,
    /// Window below which a round has only one ACK.
    min_cwnd: u32,
    average_rtt: u64,
    min_rtt: u64,
    /// Lowest RTT since the last reset.
    min_rtt_new: u64,
    /// Highest rate since the last decision, hundreds of bit/s.
    max_rate: u64,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    last_una: u64,
    no_cong_cnt: u32,
}

impl Nv {
    /// Creates NV with these parameters.
    pub fn new(config: NvConfig) -> Self {
        Self {
            config,
            reset_at: Instant::ZERO + FIRST_RESET,
            may_grow: true,
            min_cwnd: MIN_CWND,
            min_rtt: u64::MAX,
            min_rtt_new: u64::MAX,
            ..Self::default()
        }
    }

    /// Restarts all measurements except the lowest RTT.
    fn restart(&mut self, w: &Window) {
        self.is_stale = false;
        self.no_cong_cnt = 0;
        self.rounds = 0;
        self.average_rtt = 0;
        self.max_rate = 0;
        self.round_end = w.snd_una;
        self.samples = 0;
        self.last_una = w.snd_una;
    }

    /// Measures the averaged RTT and the rate that follows from it.
    fn measure(&mut self, w: &mut Window, rtt: u64, in_flight: u32) {
        let factor = u64::from(self.config.nv_rtt_factor);
        let mut average = rtt;
        if factor > 0 {
            if self.average_rtt > 0 {
                average = (rtt * factor + self.average_rtt * (256 - factor)) >> 8;
            } else {
                self.min_rtt = rtt << 1;
            }
            self.average_rtt = average;
        }
        let bytes = u64::from(in_flight) * u64::from(w.mss);
        self.max_rate = self.max_rate.max(bytes * RATE_UNIT / average.max(1));
        self.samples = (self.samples + 1).min(MAX_COUNT);
        let clamped = self.clamp_to_base(average);
        self.min_rtt = self.min_rtt.min(clamped);
        self.min_rtt_new = self.min_rtt_new.min(clamped);
        if w.now >= self.reset_at {
            self.min_rtt = self.min_rtt_new;
            self.min_rtt_new = u64::MAX;
            // Between three quarters and five quarters of the period.
            let part = 384 + w.random.uniform_u64(256);
            self.reset_at = w.now + self.config.nv_reset_period.scaled(part, 512);
            self.min_cwnd = (self.min_cwnd / 2).max(MIN_CWND);
        }
    }

    /// Returns the RTT clamped to 80 % to 100 % of the RTT that is known in advance, if there is one.
    fn clamp_to_base(&self, rtt: u64) -> u64 {
        let base = self.config.base_rtt.as_micros();
        if base == 0 {
            return rtt;
        }
        rtt.clamp(base * 205 / 256, base)
    }

    /// Returns the window at which `nv_pad` segments are queued, by the highest rate of the round.
    fn max_window(&self, mss: u32) -> u32 {
        let segment = u128::from(RATE_UNIT) * u128::from(mss);
        let window = u128::from(self.max_rate) * u128::from(self.min_rtt) / segment;
        (window.min(u128::from(u32::MAX / 64)) as u32) + self.config.nv_pad
    }

    /// Decides at the end of a round: grow the window, shrink it, or wait for more samples.
    fn decide(&mut self, w: &mut Window) {
        let max_window = self.max_window(w.mss);
        if w.cwnd > max_window {
            if !self.may_shrink(w) {
                return;
            }
            self.may_grow = false;
            self.shrink(w, max_window);
            self.growth_shift = self.growth_shift.min(0);
            self.no_cong_cnt = 0;
        } else if w.cwnd <= max_window.saturating_sub(self.config.nv_pad_buffer) {
            if self.samples < self.config.nv_inc_eval_min_calls {
                return;
            }
            self.may_grow = true;
            self.double_growth();
        } else {
            return;
        }
        self.samples = 0;
        self.rounds = 0;
        self.max_rate = 0;
        w.cwnd = w.cwnd.max(self.config.nv_min_cwnd).min(w.cwnd_clamp);
    }

    /// Returns whether there are enough samples to detect congestion. After too many rounds without enough of them, the
    /// window stops growing.
    fn may_shrink(&mut self, w: &Window) -> bool {
        if self.rounds < self.config.nv_rtt_min_cnt {
            return false;
        }
        if w.ssthresh == INFINITE_SSTHRESH {
            return self.samples >= self.config.nv_ssthresh_eval_min_calls;
        }
        if self.samples < self.config.nv_dec_eval_min_calls {
            self.may_grow &= self.rounds <= self.config.nv_stop_rtt_cnt;
            return false;
        }
        true
    }

    fn shrink(&self, w: &mut Window, max_window: u32) {
        let threshold = u64::from(self.config.nv_ssthresh_factor) * u64::from(max_window) / 8;
        w.ssthresh = threshold.clamp(1, u64::from(INFINITE_SSTHRESH)) as u32;
        let surplus = w.cwnd - max_window;
        if surplus > 2 {
            let share = u64::from(surplus) * u64::from(self.config.nv_cong_dec_mult) / 128;
            w.cwnd -= (share as u32).max(2);
        } else if self.config.nv_cong_dec_mult > 0 {
            w.cwnd = max_window;
        }
    }

    /// Doubles the growth after a number of decisions without congestion.
    fn double_growth(&mut self) {
        self.no_cong_cnt = self.no_cong_cnt.saturating_add(1);
        let growth_rate = if self.growth_shift < 0 {
            self.config.nv_cwnd_growth_rate_neg
        } else {
            self.config.nv_cwnd_growth_rate_pos
        };
        if growth_rate > 0 && self.no_cong_cnt > growth_rate {
            self.growth_shift = (self.growth_shift + 1).min(MAX_GROWTH_SHIFT);
            self.no_cong_cnt = 0;
        }
    }

    /// Returns whether the round had only one ACK. The window is then too small for a decision, because
    /// bursts or the receiver merge ACKs; the minimum window for a decision rises.
    fn is_one_ack_per_round(&mut self, w: &Window, acked: u64) -> bool {
        let mss = u64::from(w.mss);
        let is_single = self.samples == 1
            && acked >= u64::from(self.min_cwnd - 1) * mss
            && self.min_cwnd < MIN_CWND_BOUND;
        if is_single {
            self.min_cwnd = (self.min_cwnd + MIN_CWND_GROWTH).min(MIN_CWND_BOUND);
            self.round_end = w.snd_nxt + u64::from(self.min_cwnd) * mss;
            self.samples = 0;
            self.may_grow = true;
        }
        is_single
    }
}

impl CongestionControl for Nv {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.reset_at = window.now + FIRST_RESET;
        self.restart(window);
    }

    /// Sets the RTTs to the transferred ones: the first sample would otherwise double the lowest RTT.
    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        self.average_rtt = state.srtt.as_micros();
        self.min_rtt = state.min_rtt.as_micros();
        self.min_rtt_new = self.min_rtt;
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let left = u64::from(window.cwnd) * u64::from(self.config.nv_loss_dec_factor) / 1024;
        (left as u32).max(2)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        if window.state > CaState::Disorder {
            return;
        }
        let acked = window.snd_una - self.last_una;
        self.last_una = window.snd_una;
        if sample.in_flight == 0 {
            return;
        }
        self.measure(window, rtt.as_micros(), sample.in_flight);
        if self.round_end < window.snd_una {
            self.round_end = window.snd_nxt;
            self.rounds = (self.rounds + 1).min(MAX_COUNT);
            if !self.is_one_ack_per_round(window, acked) {
                self.decide(window);
            }
        }
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if self.may_grow {
            self.slow_start_then_ca(window, slow_start, acked);
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        let per_segments = if self.growth_shift < 0 {
            window.cwnd.saturating_mul(1 << -self.growth_shift)
        } else {
            (window.cwnd >> self.growth_shift).max(4)
        };
        window.grow_additively(per_segments, acked);
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        match state {
            CaState::Open if self.is_stale => self.restart(window),
            CaState::Open | CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.is_stale = true;
                self.may_grow = false;
                if state == CaState::Loss {
                    self.growth_shift = self.growth_shift.min(0);
                    if self.config.nv_cwnd_growth_rate_neg > 0
                        && self.growth_shift > MIN_GROWTH_SHIFT
                    {
                        self.growth_shift -= 1;
                    }
                }
            }
        }
    }
}
