//! ProbeBW: the cycle of DOWN, CRUISE, REFILL and UP (draft-ietf-ccwg-bbr-06 §5.3.3).

use units::{Duration, Instant};

use super::Bbr3;
use super::state::State;
use crate::bandwidth::Gain;
use crate::{Ack, Window};

/// Phase of the probe that the current ACKs respond to (§2.14).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum AckPhase {
    /// No probe.
    #[default]
    Init,
    /// The path is being filled at the estimated bandwidth.
    Refilling,
    /// The probe has begun; its ACKs have not arrived yet.
    ProbeStarting,
    /// The ACKs are for segments sent while probing.
    ProbeFeedback,
    /// The probe has ended; its ACKs are still arriving.
    ProbeStopping,
}

/// Start of the current cycle, and the time until the clock triggers the next probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    start: Instant,
    wait: Duration,
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, window: &mut Window) {
        self.reset_congestion_signals();
        self.pick_probe_wait(window);
        self.cycle.start = window.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(window);
        self.state = State::Down;
        self.set_threshold(window);
    }

    /// `StartProbeBW_CRUISE`.
    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, window: &Window) {
        self.bounds.reset_short_term();
        self.probe_up_ramp.rounds = 0;
        self.probe_up_ramp.acked = 0;
        self.probe_was_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round(window);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, window: &Window) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(window);
        self.full.search_from(self.sample);
        self.state = State::Up;
        self.raise_longterm_slope(window);
    }

    /// `PickProbeWait`: both the clock and the round count are random, so that flows do not probe together.
    fn pick_probe_wait(&mut self, window: &mut Window) {
        self.rounds_since_up = window.random.uniform_u64(2);
        let max_random = self.config.probe_wait_random.as_micros().max(1);
        let random = Duration::from_micros(window.random.uniform_u64(max_random));
        self.cycle.wait = self.config.probe_wait_base + random;
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, window: &mut Window, ack: &Ack) {
        if !self.full.reached || self.adapt_long_term(window, ack) {
            return;
        }
        let state = self.state;
        match state {
            State::Down => {
                if self.is_time_to_probe(window) {
                    self.start_refill(window);
                } else if self.is_time_to_cruise(window) {
                    self.start_cruise();
                }
            }
            State::Cruise if self.is_time_to_probe(window) => self.start_refill(window),
            State::Refill if self.rounds.is_start => {
                self.is_probe_sample = true;
                self.start_up(window);
            }
            State::Up if self.is_time_to_go_down(window) => {
                self.probe_was_too_high = false;
                self.start_down(window);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`: by the clock, or as often as Reno would reach the limit.
    fn is_time_to_probe(&self, window: &Window) -> bool {
        let rounds = self
            .target_inflight(window)
            .min(self.config.probe_max_rounds);
        window.now > self.cycle.start + self.cycle.wait || self.rounds_since_up >= u64::from(rounds)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, window: &Window) -> bool {
        let bandwidth = self.max_bandwidth.get();
        window.inflight <= self.with_headroom()
            && window.inflight <= self.inflight_at(window, bandwidth, Gain::ONE)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, window: &Window) -> bool {
        let longterm = self.bounds.longterm;
        if self.probe_was_too_high && window.inflight >= longterm {
            // §5.3.3.6: back at the amount that was too much the last time.
            self.probe_was_precautionary = true;
            return true;
        }
        if window.cwnd_limited && window.cwnd >= longterm {
            // The bound, not the path, limits the rate.
            self.full.search_from(self.sample);
            return false;
        }
        self.full.reached_now
    }
}
