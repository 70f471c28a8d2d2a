//! Timing of ACKs: at once, delayed, or merged while there are holes.

use units::{Duration, Instant};

use super::Receiver;

/// Most successive ACKs for single segments after the start or a disturbance (`TCP_MAX_QUICKACKS`).
pub(super) const MAX_QUICK_ACKS: u32 = 16;
/// Duplicate ACKs that are never delayed, so that fast retransmit is not late.
const DUPLICATE_THRESHOLD: u32 = 3;
/// ACKs that may be merged while there are holes (`tcp_comp_sack_nr`).
const COMPRESSED_ACKS: u32 = 44;
/// Longest delay of merged ACKs (`tcp_comp_sack_delay_ns`), and the share of the RTT that replaces it if that
/// is shorter, percent (`tcp_comp_sack_rtt_percent`).
const COMPRESSION_DELAY: Duration = Duration::from_millis(1);
const COMPRESSION_PERCENT: u64 = 33;
/// Slack of the timer of merged ACKs (`tcp_comp_sack_slack_ns`).
const COMPRESSION_SLACK: Duration = Duration::from_micros(10);
/// Longest delay of an ACK (`TCP_DELACK_MAX`).
const MAX_DELAY: Duration = Duration::from_millis(200);

impl Receiver {
    /// Returns the time at which a delayed ACK is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.delayed_at.min(self.compressed_at)
    }

    /// Returns whether an ACK must be sent now.
    pub(crate) fn ack_due(&mut self, now: Instant) -> bool {
        if self.delayed_at <= now {
            // Nothing arrived in time: the next ACK may be delayed longer. If it waited for data of our own, it is not
            // to wait again (`tcp_delack_timer_handler`).
            self.delayed_at = Instant::NEVER;
            self.ack_timeout = if self.pingpong {
                self.delayed_ack_timeout
            } else {
                (self.ack_timeout * 2).min(self.rto).min(MAX_DELAY)
            };
            self.pingpong = false;
            self.ack_now = true;
        }
        self.ack_now || self.compressed_at <= now
    }

    /// Requests an ACK at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Decides whether an ACK leaves now, later, or merged with others (the kernel's `__tcp_ack_snd_check`).
    pub(super) fn decide_on_ack(&mut self, now: Instant) {
        if self.read_to.is_some() && self.is_late() && self.window.is_scarce(self.held()) {
            // The window would shrink (the kernel's `__tcp_select_window`).
            self.quick_acks = 0;
        }
        // Not while unread data would shrink the window: then the reader sends the ACK.
        if (self.quick_acks > 0 && !self.pingpong)
            || !self.delayed_ack
            || (self.is_late() && self.window.keeps(self.held()))
        {
            self.ack_now = true;
        }
        if self.ack_now {
            return;
        }
        if !self.out_of_order.is_empty() {
            self.send_dup_ack(now);
        } else {
            self.delay_ack(now);
        }
    }

    /// Delays the ACK of the current segment; one that was about to leave leaves now (the kernel's
    /// `tcp_send_delayed_ack`).
    pub(super) fn delay_ack(&mut self, now: Instant) {
        let delay = self.ack_delay();
        if self.delayed_at == Instant::NEVER {
            self.delayed_at = self.timers.end(now, delay);
        } else if self.delayed_at <= self.timers.end(now, delay / 4) {
            self.ack_now = true;
        } else {
            self.delayed_at = self.delayed_at.min(self.timers.end(now, delay));
        }
    }

    /// Returns whether more than a full segment is not acknowledged.
    pub(super) fn is_late(&self) -> bool {
        self.rcv_nxt - self.acked > self.window.mss
    }

    /// Returns the delay of an ACK, at most an RTT if that is known.
    pub(super) fn ack_delay(&self) -> Duration {
        if !self.started {
            // There was no data yet that the delay could be adapted to.
            return Duration::ZERO;
        }
        let mut delay = self.ack_timeout.min(MAX_DELAY);
        if delay > self.delayed_ack_timeout && !self.srtt.is_zero() {
            delay = delay.min(self.srtt.max(self.delayed_ack_timeout));
        }
        delay
    }

    /// Acknowledges data beyond a hole: the first duplicate ACKs leave at once, later ones may be merged for
    /// a fraction of the RTT (Linux's SACK compression).
    fn send_dup_ack(&mut self, now: Instant) {
        if !self.sack || self.compressed >= COMPRESSED_ACKS {
            self.ack_now = true;
            return;
        }
        if self.duplicates_for != self.rcv_nxt {
            self.duplicates_for = self.rcv_nxt;
            self.duplicates_sent = 0;
        }
        if self.duplicates_sent < DUPLICATE_THRESHOLD {
            self.duplicates_sent += 1;
            self.ack_now = true;
            return;
        }
        self.compressed += 1;
        if self.compressed_at == Instant::NEVER {
            let mut rtt = self.window.rtt;
            if !self.srtt.is_zero() {
                rtt = rtt.min(self.srtt);
            }
            let share = rtt.scaled(COMPRESSION_PERCENT, 100);
            self.compressed_at = now + COMPRESSION_DELAY.min(share) + COMPRESSION_SLACK;
        }
    }

    pub(super) fn expect_quick_acks(&mut self, max: u32) {
        let quick_acks = match self.window.window / (2 * self.window.mss) {
            0 => 2,
            segments => segments as u32,
        };
        self.quick_acks = self.quick_acks.max(quick_acks.min(max));
    }

    /// Acknowledges each segment at once for a while, and what an ACK is still due for.
    pub(crate) fn enter_quickack(&mut self) {
        self.enter_quick_ack_mode(MAX_QUICK_ACKS);
        self.ack_now |= self.delayed_at != Instant::NEVER;
    }

    pub(super) fn enter_quick_ack_mode(&mut self, max: u32) {
        self.expect_quick_acks(max);
        self.pingpong = false;
        self.ack_timeout = self.delayed_ack_timeout;
    }

    /// Notes that data leaves. If it follows data of the peer soon, it probably answers that (the kernel's
    /// `tcp_event_data_sent`).
    pub(crate) fn note_data_sent(&mut self, now: Instant) {
        self.pingpong |= self.started && self.ticks_since_arrival(now) < self.ack_timeout;
    }

    /// Returns the time since the latest arrival of data, in ticks of a millisecond.
    fn ticks_since_arrival(&self, now: Instant) -> Duration {
        let tick = |at: Instant| at.since_start().as_millis();
        Duration::from_millis(tick(now) - tick(self.last_arrival))
    }

    /// Adapts the delay of ACKs to the spacing of arrivals (the kernel's `tcp_event_data_recv`).
    pub(super) fn adapt_ack_timeout(&mut self, now: Instant) {
        if !self.started {
            self.started = true;
            self.enter_quick_ack_mode(MAX_QUICK_ACKS);
        } else {
            let gap = self.ticks_since_arrival(now);
            let min_timeout = self.delayed_ack_timeout;
            if gap <= min_timeout / 2 {
                self.ack_timeout = self.ack_timeout / 2 + min_timeout / 2;
            } else if gap < self.ack_timeout {
                let longer = self.ack_timeout / 2 + gap;
                self.ack_timeout = longer.min(self.rto).min(MAX_DELAY);
            } else if gap > self.rto {
                // The sender has probably restarted its window and needs ACKs quickly.
                self.expect_quick_acks(MAX_QUICK_ACKS);
            }
        }
        self.last_arrival = now;
    }
}
