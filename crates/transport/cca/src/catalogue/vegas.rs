//! Vegas (Brakmo and Peterson 1995) with the choices of Linux: by default no pauses in slow start, no pacing, standard loss
//! recovery.

use crate::delay_round::{DelayRound, RoundRtt};
use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CaState, CcaInfo, CongestionControl, Event, Family, SlowStart, TransferState, Window,
};

parameters! {
    /// Bounds of the flow's segments in the queue.
    pub struct VegasConfig {
        /// Segments in the queue below which the window grows.
        alpha: u32 = 2, in 0..=10_000, "segments", "Linux tcp_vegas alpha; Brakmo and Peterson 1995 §IV.B (1 and 3, or 2 and 4)";
        /// Segments in the queue above which the window shrinks.
        beta: u32 = 4, in 0..=10_000, "segments", "Linux tcp_vegas beta; Brakmo and Peterson 1995 §IV.B";
        /// Segments in the queue above which slow start ends.
        gamma: u32 = 1, in 0..=10_000, "segments", "Linux tcp_vegas gamma; Brakmo and Peterson 1995 §IV.C";
        /// Grow only in every other round trip of slow start, as in the paper.
        slow_start_pauses: bool = false, "", "Brakmo and Peterson 1995 §IV.C; off in Linux";
    }
}

/// Catalogue entry of Vegas.
pub const INFO: CcaInfo = CcaInfo {
    name: "vegas",
    aliases: &["tcp-vegas"],
    title: "Vegas",
    family: Family::Delay,
    reference: "Brakmo, Peterson: TCP Vegas, end to end congestion avoidance on a global Internet, IEEE JSAC 13(8)",
    year: 1995,
    linux: true,
    parameters: VegasConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Vegas::new(VegasConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vegas {
    config: VegasConfig,
    round: DelayRound,
    /// Whether Vegas sets the window. It does not during loss recovery, when the RTTs are not those of the
    /// window.
    is_enabled: bool,
    /// Whether slow start pauses in this round.
    pauses: bool,
}

impl Vegas {
    /// Creates Vegas with these parameters.
    pub fn new(config: VegasConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    fn restart(&mut self, window: &Window) {
        self.round.restart(window);
        self.is_enabled = true;
    }

    /// Grows the window like Reno.
    fn grow_as_reno(&mut self, w: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !(self.pauses && w.in_slow_start()) {
            self.slow_start_then_ca(w, slow_start, acked);
        }
    }

    fn grow_in_slow_start(&self, w: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !self.pauses {
            slow_start.grow(w, acked);
        }
    }

    /// Updates the window at the end of a round by `Diff`, the segments in the queue: by one segment (§IV.B), or in slow
    /// start by its growth or its end (§IV.C).
    fn adjust(
        &mut self,
        w: &mut Window,
        slow_start: &mut dyn SlowStart,
        acked: u32,
        rtt: RoundRtt,
    ) {
        let cwnd = u64::from(w.cwnd);
        let queued = cwnd * rtt.queueing_delay() / rtt.base;
        if w.in_slow_start() {
            if queued > u64::from(self.config.gamma) {
                // The window that fills the path at the measured rate, rounded up.
                let target = cwnd * rtt.base / rtt.min + 1;
                w.cwnd = cwnd.min(target) as u32;
                w.ssthresh = w.ssthresh.min(w.cwnd);
            } else {
                self.grow_in_slow_start(w, slow_start, acked);
            }
        } else if queued > u64::from(self.config.beta) {
            w.cwnd -= 1;
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if queued < u64::from(self.config.alpha) {
            w.cwnd += 1;
        }
        w.cwnd = w.cwnd.max(2).min(w.cwnd_clamp);
        w.ssthresh = w.current_ssthresh();
    }
}

impl CongestionControl for Vegas {
    fn init(&mut self, window: &mut Window) {
        self.restart(window);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        self.round.seed(state.min_rtt);
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        self.round.sample(sample);
    }

    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !self.is_enabled {
            self.grow_as_reno(window, slow_start, acked);
        } else if self.round.is_over(window) {
            let rtt = self.round.rtt();
            self.round.begin(window);
            self.pauses = self.config.slow_start_pauses && !self.pauses;
            match rtt {
                Some(rtt) => self.adjust(window, slow_start, acked, rtt),
                None => self.grow_as_reno(window, slow_start, acked),
            }
        } else if window.in_slow_start() {
            self.grow_in_slow_start(window, slow_start, acked);
        }
    }

    /// Restarts the measurement after loss recovery, with a whole round of ACKs.
    fn set_state(&mut self, window: &mut Window, state: CaState) {
        self.is_enabled = state == CaState::Open;
        if self.is_enabled {
            self.round.begin(window);
        }
    }

    /// Restarts after an idle time, because the path may have changed.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if matches!(event, Event::CwndRestart | Event::TxStart) {
            self.restart(window);
        }
    }
}
