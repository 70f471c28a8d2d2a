//! Lowest RTT, and ProbeRTT: a path without a queue for a new sample (draft-ietf-ccwg-bbr-06 §5.3.4).

use units::{Duration, Instant};

use super::Bbr3;
use super::probe_bw::AckPhase;
use super::state::State;
use crate::bandwidth::Gain;
use crate::{Ack, Window};

/// Lowest RTT over two time spans: one for the model, and a shorter one that triggers ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `min_rtt`; [`Duration::MAX`] before the first sample.
    pub(super) rtt: Duration,
    /// `min_rtt_stamp`.
    at: Instant,
    /// `probe_rtt_min_delay`.
    recent: Duration,
    /// `probe_rtt_min_stamp`.
    pub(super) recent_at: Instant,
    /// `probe_rtt_expired`.
    is_expired: bool,
}

impl MinRtt {
    pub(super) fn new(rtt: Duration, at: Instant) -> Self {
        Self {
            rtt,
            at,
            recent: rtt,
            recent_at: at,
            is_expired: false,
        }
    }
}

impl Bbr3 {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, window: &Window, ack: &Ack) {
        let now = window.now;
        let min_rtt = &mut self.min_rtt;
        min_rtt.is_expired = now > min_rtt.recent_at + self.config.probe_rtt_interval;
        if let Some(rtt) = ack.rtt
            && (rtt < min_rtt.recent || min_rtt.is_expired)
        {
            min_rtt.recent = rtt;
            min_rtt.recent_at = now;
        }
        let min_rtt_expired = now > min_rtt.at + self.config.min_rtt_filter_len;
        if min_rtt.recent < min_rtt.rtt || min_rtt_expired {
            min_rtt.rtt = min_rtt.recent;
            min_rtt.at = min_rtt.recent_at;
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        if self.state != State::ProbeRtt && self.min_rtt.is_expired && !self.idle_restart {
            self.save_cwnd(window);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(window);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(window);
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, window: &mut Window) {
        // Samples of data sent now do not show the bandwidth.
        window.self_limited = true;
        if self.probe_rtt_until.is_none() {
            if window.inflight <= self.probe_rtt_cwnd() {
                self.probe_rtt_until = Some(window.now + self.config.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.start_round(window);
            }
            return;
        }
        self.probe_rtt_round_done |= self.rounds.is_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(window);
        }
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(Gain::of(self.config.probe_rtt_cwnd_gain))
            .max(self.config.min_pipe_cwnd)
    }

    /// `CheckProbeRTTDone`.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| window.now <= until) {
            return;
        }
        self.min_rtt.recent_at = window.now;
        self.restore_cwnd(window);
        self.bounds.reset_short_term();
        if self.full.reached {
            // The segments in flight are already below the BDP.
            self.start_down(window);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
