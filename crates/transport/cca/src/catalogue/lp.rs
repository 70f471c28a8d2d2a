//! TCP Low Priority (Kuzmanovic and Knightly 2003 and 2006): Reno that yields when the one-way delay rises,
//! before a loss occurs.

use crate::parameters::{choices, parameters};
use crate::slow_start::Method;
use crate::{AckSample, CaState, CcaInfo, CongestionControl, Event, Family, SlowStart, Window};
use units::Duration;

/// Ticks of the timestamp clock per second.
const TICKS: u32 = 1_000;
/// Window below which delayed ACKs distort the delay, segments.
const MIN_WINDOW: u32 = 10;

choices! {
    /// Variants of LP.
    pub enum Version {
        /// LP of the paper. The clock of the peer ticks in milliseconds like ours, so that differences
        /// of timestamps are differences of delays. The range of delays is that of the whole connection. The
        /// delay of a single segment, whose ACK may be delayed, does not count. Neither does a delay within a
        /// round trip of a reduction, which cannot show the reduction yet. Up to the first loss LP is Reno,
        /// because only a loss shows how long a full queue is.
        Paper = "paper",
        /// LP of the kernel. It estimates the tick of the peer's clock and includes the offset of the
        /// clocks in the delay. An offset beyond 2²⁹ ms, which the random offsets of timestamps (RFC 7323
        /// §5.4) make likely, hides the delay; LP is Reno then. The range of delays restarts at each
        /// reduction, and the threshold does not change.
        Linux = "linux",
    }
}

parameters! {
    /// Constants of the paper.
    pub struct LpConfig {
        /// Variant of LP; the one of Linux hardly ever sees a delay.
        version: Version = Version::Paper, "", "Kuzmanovic and Knightly 2006 §III; Linux tcp_lp (linux)";
        /// Share of the range of one-way delays beyond which there is congestion.
        threshold: u32 = 15, in 0..=100, "%", "Linux tcp_lp; Kuzmanovic and Knightly 2006 §III.A, δ = 0.15";
        /// Round trips for which the window does not change after a reduction.
        inference: u32 = 3, in 0..=1_000, "round trips", "Linux tcp_lp; Kuzmanovic and Knightly 2006 §III.C, itt = 3 RTT";
    }
}

/// Catalogue entry of LP.
pub const INFO: CcaInfo = CcaInfo {
    name: "lp",
    aliases: &["tcp-lp", "low-priority"],
    title: "TCP Low Priority",
    family: Family::Delay,
    reference: "Kuzmanovic, Knightly: TCP-LP, low-priority service via end-point congestion control, IEEE/ACM ToN 14(4)",
    year: 2003,
    linux: true,
    parameters: LpConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Lp::new(LpConfig::with(settings))),
};

/// State of one connection. Times are in ticks of a millisecond that wrap around at 32 bits, like timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lp {
    config: LpConfig,
    clock: RemoteClock,
    /// Offset of the clocks in the first pair of timestamps, for clocks with the same tick.
    clock_offset: Option<u32>,
    /// Smoothed one-way delay, eighths of a tick (Linux `sowd`).
    smoothed_owd: u32,
    owd_min: u32,
    /// Second highest delay: a single high delay does not count.
    owd_max: u32,
    /// Highest delay.
    owd_max_rsv: u32,
    last_reduction: Option<u32>,
    /// Time after a reduction in which the window does not change.
    inference: u32,
    within_inference: bool,
    /// Whether a loss has shown how long a full queue is.
    had_loss: bool,
    /// Value of `had_loss` before the last reduction.
    prior_had_loss: bool,
}

/// Clock of the peer: its ticks per second, estimated from the steps of both clocks.
#[derive(Clone, Copy, Debug, Default)]
struct RemoteClock {
    ticks_per_second: u32,
    /// Last timestamps, remote and local.
    last: Option<(u32, u32)>,
}

impl RemoteClock {
    /// Adds a pair of timestamps to the average, with a weight of 1/64. Returns whether there is an estimate.
    fn update(&mut self, (remote, local): (u32, u32)) -> bool {
        if let Some((last_remote, last_local)) = self.last
            && remote != last_remote
            && local != last_local
        {
            let steps = TICKS.wrapping_mul(remote.wrapping_sub(last_remote));
            let rate = steps / local.wrapping_sub(last_local);
            let previous = i64::from(self.ticks_per_second);
            let average = if previous > 0 {
                previous * 64 + i64::from(rate) - previous
            } else {
                i64::from(rate) * 64
            };
            self.ticks_per_second = (average >> 6) as u32;
        }
        // A clock that shows zero is no reference.
        self.last = (remote != 0 && local != 0).then_some((remote, local));
        self.ticks_per_second > 0
    }
}

impl Lp {
    /// Creates LP with these parameters.
    pub fn new(config: LpConfig) -> Self {
        Self {
            config,
            owd_min: u32::MAX,
            ..Self::default()
        }
    }

    /// Returns the one-way delay in ticks; `None` if it is zero or unknown.
    fn one_way_delay(&mut self, (remote, local): (u32, u32), rtt: u32) -> Option<u32> {
        let delay = match self.config.version {
            Version::Linux => {
                if !self.clock.update((remote, local)) {
                    return None;
                }
                let scale = TICKS / self.clock.ticks_per_second;
                remote.wrapping_mul(scale).wrapping_sub(local)
            }
            Version::Paper => {
                let difference = remote.wrapping_sub(local);
                let first = || difference.wrapping_sub((rtt / 2).max(1));
                difference.wrapping_sub(*self.clock_offset.get_or_insert_with(first))
            }
        };
        (delay > 0).then_some(delay)
    }

    fn sample(&mut self, timestamps: (u32, u32), rtt: Duration) {
        let rtt = rtt.as_millis() as u32;
        let Some(delay) = self.one_way_delay(timestamps, rtt) else {
            return;
        };
        self.owd_min = self.owd_min.min(delay);
        self.update_owd_max(delay);
        self.smoothed_owd = if self.smoothed_owd == 0 {
            delay.wrapping_mul(8)
        } else {
            // 7/8 of the old value, 1/8 of the new one.
            self.smoothed_owd
                .wrapping_add(delay.wrapping_sub(self.smoothed_owd / 8))
        };
    }

    fn update_owd_max(&mut self, delay: u32) {
        if delay > self.owd_max_rsv {
            self.owd_max = if self.owd_max_rsv == 0 {
                delay
            } else {
                self.owd_max_rsv
            };
            self.owd_max_rsv = delay;
        } else {
            self.owd_max = self.owd_max.max(delay);
        }
    }

    /// Returns whether the smoothed delay exceeds the threshold, a share of its range (§III.A).
    fn is_congested(&self) -> bool {
        let range = self.owd_max.wrapping_sub(self.owd_min);
        let share = self.config.threshold.wrapping_mul(range) / 100;
        let threshold = self.owd_min.wrapping_add(share);
        match self.config.version {
            Version::Paper => self.smoothed_owd / 8 > threshold,
            Version::Linux => self.smoothed_owd / 8 >= threshold,
        }
    }

    /// Returns whether the delay may count as congestion in the LP of the paper. A loss must have shown the length of the
    /// queue, no recovery may be going on, and the window must be large enough to be reduced.
    fn delay_is_valid(&self, window: &Window) -> bool {
        self.had_loss && window.state < CaState::Cwr && window.cwnd > 2
    }

    /// Restarts the range of delays, from the current delay to twice the current one (Linux).
    fn restart_range(&mut self) {
        self.owd_min = self.smoothed_owd / 8;
        self.owd_max = self.smoothed_owd / 4;
        self.owd_max_rsv = self.owd_max;
    }
}

impl CongestionControl for Lp {
    fn init(&mut self, _window: &mut Window) {
        *self = Self::new(self.config);
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.prior_had_loss = self.had_loss;
        self.had_loss = true;
        (window.cwnd / 2).max(2)
    }

    /// Forgets a spurious loss: reordered packets do not show how long a full queue is.
    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        self.had_loss = self.prior_had_loss;
        window.cwnd.max(window.prior_cwnd)
    }

    /// Halves the window at early congestion; a second time within the inference time it leaves one segment
    /// (§III.C). Without timestamps LP is Reno.
    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(timestamps) = window.timestamps.get() else {
            return;
        };
        let is_paper = self.config.version == Version::Paper;
        // In a small window delayed ACKs (RFC 1122 §4.2.3.2) would dominate the measured delay.
        let may_be_delayed = is_paper && window.cwnd < MIN_WINDOW && sample.acked < 2;
        let rtt = sample.rtt.filter(|rtt| rtt.as_micros() > 0);
        if let Some(rtt) = rtt.filter(|_| !may_be_delayed) {
            self.sample(timestamps, rtt);
        }
        let now = window.clock_ms();
        let (_, echo) = timestamps;
        let rtt = now.wrapping_sub(echo);
        if rtt as i32 > 0 {
            self.inference = self.config.inference.wrapping_mul(rtt);
        }
        let since = self.last_reduction.map(|at| now.wrapping_sub(at));
        self.within_inference = since.is_some_and(|since| since < self.inference);
        let just_reduced = since.is_some_and(|since| since <= rtt);
        if is_paper && just_reduced {
            // The average restarts with samples that can show the reduction.
            self.smoothed_owd = 0;
        }
        if is_paper && (just_reduced || !self.delay_is_valid(window)) || !self.is_congested() {
            return;
        }
        let half = (window.cwnd / 2).max(1);
        if !is_paper {
            self.restart_range();
        } else if !self.within_inference {
            window.ssthresh = half.max(2);
        }
        window.cwnd = if self.within_inference { 1 } else { half };
        self.last_reduction = (now != 0).then_some(now);
    }

    /// Treats a reduction after a loss like one for a delay.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::CompleteCwr && self.config.version == Version::Paper {
            self.last_reduction = Some(window.clock_ms());
        }
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !self.within_inference {
            self.slow_start_then_ca(window, slow_start, acked);
        }
    }
}
