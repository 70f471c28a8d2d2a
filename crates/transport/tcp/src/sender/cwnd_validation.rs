//! Congestion window validation: use of the window, and its reduction when it is not used (RFC 2861, RFC 7661
//! like in Linux's `tcp_cwnd_validate` and `tcp_cwnd_restart`).

use units::Instant;

use super::Sender;
use cca::{CaState, Event, SendLimit};

/// Use of the window over the last round trip.
#[derive(Clone, Debug)]
pub(super) struct WindowValidation {
    limited: bool,
    max_packets_out: u32,
    /// The observation lasts until this is acknowledged.
    until: u64,
    used: u32,
    stamp: Instant,
}

impl WindowValidation {
    pub(super) fn new(first: u64) -> Self {
        Self {
            limited: false,
            max_packets_out: 0,
            until: first,
            used: 0,
            stamp: Instant::ZERO,
        }
    }

    /// Sets what was observed: whether the window was the limit, and the most segments outstanding.
    #[cfg(test)]
    pub(super) fn observe(&mut self, limited: bool, max_packets_out: u32) {
        (self.limited, self.max_packets_out) = (limited, max_packets_out);
    }

    /// Restarts the time of validity at `now`, because the window was set for a reason.
    pub(super) fn touch(&mut self, now: Instant) {
        self.stamp = now;
    }
}

impl Sender {
    /// Returns whether the window limits the connection; in slow start it may grow to twice what was used.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let w = &self.congestion.window;
        self.usage.limited
            || (w.in_slow_start() && w.cwnd < self.usage.max_packets_out.saturating_mul(2))
    }

    /// Notes after a transmission whether the window was the limit.
    pub(super) fn validate_window(&mut self, now: Instant, limited: bool) {
        let out = self.board.packets_out();
        let usage = &mut self.usage;
        if self.seq.snd_una >= usage.until
            || limited
            || (!usage.limited && out > usage.max_packets_out)
        {
            usage.limited = limited;
            usage.max_packets_out = out;
            usage.until = self.seq.snd_nxt;
        }
        if self.is_cwnd_limited() {
            self.usage.used = 0;
            self.usage.stamp = now;
            return;
        }
        self.usage.used = self.usage.used.max(out);
        let unused_for = now.saturating_since(self.usage.stamp);
        if self.buffer.waits && !self.seq.has_unsent() {
            self.chronograph.start(now, SendLimit::SendBuffer);
        }
        // An application that waits for room in the send buffer does not limit the connection.
        if self.buffer.waits {
            if unused_for >= self.rto() {
                self.usage.stamp = now;
            }
        } else if self.config.settings.slow_start_after_idle
            && unused_for >= self.rto()
            && !self.congestion.owns_window()
        {
            self.cwnd_application_limited(now);
        }
    }

    /// Returns the window after idle time: the initial one, unless the current one is smaller (RFC 5681 section 4.1).
    fn restart_window(&self) -> u32 {
        let initial = self.config.settings.initial_window;
        initial.min(self.congestion.window.cwnd)
    }

    /// Reduces the window halfway to what was used, because the application used less of it for an RTO.
    fn cwnd_application_limited(&mut self, now: Instant) {
        let used = self.usage.used.max(self.restart_window());
        let w = &mut self.congestion.window;
        if w.state == CaState::Open {
            if used < w.cwnd {
                w.ssthresh = w.current_ssthresh();
                w.cwnd = (w.cwnd + used) >> 1;
            }
            self.usage.used = 0;
        }
        self.usage.stamp = now;
    }

    /// Halves the window for every RTO of a pause before the next transmission, down to the initial window.
    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        if self.board.packets_out() > 0 {
            return;
        }
        let rto = self.rto();
        let mut idle = now.saturating_since(self.output.lsndtime);
        if self.config.settings.slow_start_after_idle
            && idle > rto
            && !self.congestion.owns_window()
        {
            let floor = self.restart_window();
            self.congestion.cwnd_event(Event::CwndRestart);
            let w = &mut self.congestion.window;
            w.ssthresh = w.current_ssthresh();
            while idle > rto && w.cwnd > floor {
                w.cwnd >>= 1;
                idle = idle.saturating_sub(rto);
            }
            w.cwnd = w.cwnd.max(floor);
            self.usage.stamp = now;
            self.usage.used = 0;
        }
    }
}
