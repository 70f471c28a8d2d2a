//! Congestion window validation: reduction of a window that is not used (RFC 2861, RFC 7661; the kernel's
//! `tcp_cwnd_validate` and `tcp_cwnd_restart`).

use units::Instant;

use super::Sender;
use cca::{CaState, Event, SendLimit};

/// Use of the window over the last round trip.
#[derive(Clone, Debug)]
pub(super) struct WindowValidation {
    /// Whether the window was the limit, and the most segments outstanding (`max_packets_out`).
    pub(super) is_cwnd_limited: bool,
    pub(super) max_packets_out: u32,
    /// Number whose acknowledgement ends the observation (`cwnd_usage_seq`).
    usage_seq: u64,
    /// Most segments outstanding since the window was last the limit (`snd_cwnd_used`).
    cwnd_used: u32,
    /// Time since which the window is not used (`snd_cwnd_stamp`).
    cwnd_stamp: Instant,
}

impl WindowValidation {
    pub(super) fn new(first: u64) -> Self {
        Self {
            is_cwnd_limited: false,
            max_packets_out: 0,
            usage_seq: first,
            cwnd_used: 0,
            cwnd_stamp: Instant::ZERO,
        }
    }

    /// Makes the window valid from `now` on.
    pub(super) fn touch(&mut self, now: Instant) {
        self.cwnd_stamp = now;
    }
}

impl Sender {
    /// Returns whether the window limits the connection; in slow start, also if more than half of it is used (the kernel's
    /// `tcp_is_cwnd_limited`).
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let w = &self.congestion.window;
        self.cwnd_usage.is_cwnd_limited
            || (w.in_slow_start() && w.cwnd < self.cwnd_usage.max_packets_out.saturating_mul(2))
    }

    /// Validates the window after a transmission; `is_limit` if the window ended it (the kernel's `tcp_cwnd_validate`).
    pub(super) fn validate_window(&mut self, now: Instant, is_limit: bool) {
        let out = self.board.packets_out();
        let usage = &mut self.cwnd_usage;
        if self.seq.snd_una >= usage.usage_seq
            || is_limit
            || (!usage.is_cwnd_limited && out > usage.max_packets_out)
        {
            usage.is_cwnd_limited = is_limit;
            usage.max_packets_out = out;
            usage.usage_seq = self.seq.snd_nxt;
        }
        if self.is_cwnd_limited() {
            self.cwnd_usage.cwnd_used = 0;
            self.cwnd_usage.cwnd_stamp = now;
            return;
        }
        self.cwnd_usage.cwnd_used = self.cwnd_usage.cwnd_used.max(out);
        let unused_time = now.saturating_since(self.cwnd_usage.cwnd_stamp);
        if self.buffer.nospace && !self.seq.has_unsent() {
            self.chronograph.start(now, SendLimit::SendBuffer);
        }
        // An application that waits for room in the send buffer does not limit the connection.
        if self.buffer.nospace {
            if unused_time >= self.rto() {
                self.cwnd_usage.cwnd_stamp = now;
            }
        } else if self.config.settings.slow_start_after_idle
            && unused_time >= self.rto()
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

    /// Reduces the window halfway to its used part, because the application has not filled it for an RTO (the kernel's
    /// `tcp_cwnd_application_limited`).
    fn cwnd_application_limited(&mut self, now: Instant) {
        let used = self.cwnd_usage.cwnd_used.max(self.restart_window());
        let w = &mut self.congestion.window;
        if w.state == CaState::Open {
            if used < w.cwnd {
                w.ssthresh = w.current_ssthresh();
                w.cwnd = (w.cwnd + used) >> 1;
            }
            self.cwnd_usage.cwnd_used = 0;
        }
        self.cwnd_usage.cwnd_stamp = now;
    }

    /// Halves the window for every RTO of an idle time, down to the initial window (the kernel's `tcp_cwnd_restart`).
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
            self.cwnd_usage.cwnd_stamp = now;
            self.cwnd_usage.cwnd_used = 0;
        }
    }
}
