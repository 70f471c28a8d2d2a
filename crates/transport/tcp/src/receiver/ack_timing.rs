//! Timing of ACKs: at once, delayed, or merged while there are holes.

use units::{Duration, Instant};

use super::Receiver;

/// Maximum of successive ACKs for single segments after the start or a disturbance (`TCP_MAX_QUICKACKS`).
pub(super) const MAX_QUICK_ACKS: u32 = 16;
/// Duplicate ACKs that are never delayed, so that fast retransmit is not late.
const IMMEDIATE_DUP_ACKS: u32 = 3;
/// ACKs that may be merged while there are holes (`tcp_comp_sack_nr`).
const COMPRESSED_ACKS: u32 = 44;
/// Longest delay of merged ACKs (`tcp_comp_sack_delay_ns`), and the percentage of the RTT that replaces it if
/// shorter (`tcp_comp_sack_rtt_percent`).
const COMPRESSION_DELAY: Duration = Duration::from_millis(1);
const COMPRESSION_PERCENT: u64 = 33;
/// Slack of the timer of merged ACKs (`tcp_comp_sack_slack_ns`).
const COMPRESSION_SLACK: Duration = Duration::from_micros(10);
/// Longest delay of an ACK (`TCP_DELACK_MAX`).
const MAX_DELAY: Duration = Duration::from_millis(200);
/// Time between two ticks of the kernel.
const TICK: Duration = Duration::from_millis(1);

impl Receiver {
    /// Returns the time at which a delayed or merged ACK is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.delayed_ack_at.min(self.compressed_ack_at)
    }

    /// Returns whether an ACK must be sent now, and adapts the delay if a delayed one is due.
    pub(crate) fn ack_due(&mut self, now: Instant) -> bool {
        if self.delayed_ack_at <= now {
            // Nothing arrived in time: the next ACK may be delayed longer. One that waited for our own data does not wait
            // again (`tcp_delack_timer_handler`).
            self.delayed_ack_at = Instant::NEVER;
            self.ack_timeout = if self.pingpong {
                self.delayed_ack_timeout
            } else {
                (self.ack_timeout * 2).min(self.rto).min(MAX_DELAY)
            };
            self.pingpong = false;
            self.ack_now = true;
        }
        self.ack_now || self.compressed_ack_at <= now
    }

    /// Requests an ACK at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Decides whether an ACK leaves now, later, or merged with others (the kernel's `__tcp_ack_snd_check`).
    pub(super) fn decide_on_ack(&mut self, now: Instant) {
        if self.copied_seq.is_some()
            && self.full_segment_unacked()
            && self.window.is_scarce(self.rmem_alloc())
        {
            // The window would shrink (the kernel's `__tcp_select_window`).
            self.quick_acks = 0;
        }
        // While unread data would shrink the window, the reader sends the ACK.
        if (self.quick_acks > 0 && !self.pingpong)
            || !self.delays_acks
            || (self.full_segment_unacked() && self.window.keeps_window(self.rmem_alloc()))
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

    /// Delays the ACK of the current segment. An ACK due within a quarter of the delay leaves now (the kernel's
    /// `tcp_send_delayed_ack`).
    pub(super) fn delay_ack(&mut self, now: Instant) {
        let delay = self.ack_delay();
        if self.delayed_ack_at == Instant::NEVER {
            self.delayed_ack_at = self.timers.expiry(now, delay);
        } else if self.delayed_ack_at <= self.timers.expiry(now, delay / 4) {
            self.ack_now = true;
        } else {
            self.delayed_ack_at = self.delayed_ack_at.min(self.timers.expiry(now, delay));
        }
    }

    /// Returns whether more than a full segment is unacknowledged.
    pub(super) fn full_segment_unacked(&self) -> bool {
        self.rcv_nxt - self.rcv_wup > self.window.rcv_mss
    }

    /// Returns the delay of an ACK, at most an RTT if that is known, and below a lowered minimum RTO of the host: its
    /// peer may have the same one (`tcp_delack_max`).
    pub(super) fn ack_delay(&self) -> Duration {
        if !self.has_received_data {
            return Duration::ZERO;
        }
        let mut delay = self.ack_timeout.min(MAX_DELAY);
        if delay > self.delayed_ack_timeout && !self.handshake_rtt.is_zero() {
            delay = delay.min(self.handshake_rtt.max(self.delayed_ack_timeout));
        }
        if self.min_rto < MAX_DELAY {
            delay = delay.min(self.min_rto.max(TICK * 2) - TICK);
        }
        delay
    }

    /// Acknowledges data beyond a hole: the first duplicate ACKs leave at once, later ones may be merged for
    /// a fraction of the RTT (Linux's SACK compression).
    fn send_dup_ack(&mut self, now: Instant) {
        if !self.uses_sack || self.compressed_acks >= COMPRESSED_ACKS {
            self.ack_now = true;
            return;
        }
        if self.dup_acks_rcv_nxt != self.rcv_nxt {
            self.dup_acks_rcv_nxt = self.rcv_nxt;
            self.dup_acks_sent = 0;
        }
        if self.dup_acks_sent < IMMEDIATE_DUP_ACKS {
            self.dup_acks_sent += 1;
            self.ack_now = true;
            return;
        }
        self.compressed_acks += 1;
        if self.compressed_ack_at == Instant::NEVER {
            let mut rtt = self.window.rcv_rtt;
            if !self.handshake_rtt.is_zero() {
                rtt = rtt.min(self.handshake_rtt);
            }
            let delay = COMPRESSION_DELAY.min(rtt.scaled(COMPRESSION_PERCENT, 100));
            self.compressed_ack_at = now + delay + COMPRESSION_SLACK;
        }
    }

    /// Acknowledges half a window of segments at once, at most `max` (the kernel's `tcp_incr_quickack`).
    pub(super) fn incr_quickack(&mut self, max: u32) {
        let quick_acks = match self.window.rcv_wnd / (2 * self.window.rcv_mss) {
            0 => 2,
            segments => segments as u32,
        };
        self.quick_acks = self.quick_acks.max(quick_acks.min(max));
    }

    /// Acknowledges each segment at once for a while, and now if an ACK is delayed (`TCP_QUICKACK`).
    pub(crate) fn set_quickack(&mut self) {
        self.enter_quickack_mode(MAX_QUICK_ACKS);
        self.ack_now |= self.delayed_ack_at != Instant::NEVER;
    }

    /// Acknowledges at most `max` segments at once, and resets the delay of ACKs.
    pub(super) fn enter_quickack_mode(&mut self, max: u32) {
        self.incr_quickack(max);
        self.pingpong = false;
        self.ack_timeout = self.delayed_ack_timeout;
    }

    /// Notes that data leaves. If it follows data of the peer soon, it probably answers that (the kernel's
    /// `tcp_event_data_sent`).
    pub(crate) fn note_data_sent(&mut self, now: Instant) {
        self.pingpong |= self.has_received_data && self.ticks_since_arrival(now) < self.ack_timeout;
    }

    /// Returns the ticks since the latest arrival of data, of a millisecond each.
    fn ticks_since_arrival(&self, now: Instant) -> Duration {
        let tick = |at: Instant| at.since_start().as_millis();
        Duration::from_millis(tick(now) - tick(self.last_arrival))
    }

    /// Adapts the delay of ACKs to the spacing of arrivals (the kernel's `tcp_event_data_recv`).
    pub(super) fn adapt_ack_timeout(&mut self, now: Instant) {
        if !self.has_received_data {
            self.has_received_data = true;
            self.enter_quickack_mode(MAX_QUICK_ACKS);
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
                self.incr_quickack(MAX_QUICK_ACKS);
            }
        }
        self.last_arrival = now;
    }
}
