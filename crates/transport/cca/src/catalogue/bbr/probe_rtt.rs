//! Lowest RTT, and PROBE_RTT: an almost empty path for a new sample when the lowest RTT has expired (§4.3.5).

use super::Bbr;
use super::mode::Mode;
use crate::{Ack, Window};

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let now = window.now;
        let expired = now > self.min_rtt_at + self.config.min_rtt_win;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || (expired && !ack.delayed))
        {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
        let is_enabled = !self.config.probe_rtt_mode.is_zero();
        if is_enabled && expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(window);
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, window: &mut Window) {
        // Samples of a path that is emptied on purpose do not show the bandwidth.
        window.self_limited = true;
        match self.probe_rtt_until {
            None if window.inflight <= self.config.cwnd_min_target => {
                self.probe_rtt_until = Some(window.now + self.config.probe_rtt_mode);
                self.probe_rtt_round_done = false;
                self.next_round = window.delivered;
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(window);
                }
            }
        }
    }

    /// Ends the probe if it has lasted long enough.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| window.now <= until) {
            return;
        }
        self.min_rtt_at = window.now;
        window.cwnd = window.cwnd.max(self.saved_cwnd);
        if self.full.reached {
            self.enter_probe_bandwidth(window);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
