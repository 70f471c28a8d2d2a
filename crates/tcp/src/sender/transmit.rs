//! What may be sent now: windows, pacing, bursts as Linux sizes them, retransmissions first.

use units::{Bytes, Duration, Instant};

use super::{Outgoing, Sender};
use crate::cca::CaState;

/// Largest burst handed to a device (`sk_gso_max_size`), bytes.
const GSO_MAX_SIZE: u64 = 65_536;
/// A burst holds what the pacing rate sends in about a millisecond (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;
/// Shorter RTTs allow larger bursts: one doubling per 512 µs (`tcp_tso_rtt_log`).
const TSO_RTT_LOG: u32 = 9;
/// A third of the window is worth sending at once (`tcp_tso_win_divisor`).
const TSO_WIN_DIVISOR: u64 = 3;

/// When the next burst may leave (Linux's internal pacing).
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    next: Instant,
    waiting: bool,
    last_burst: Instant,
}

impl Default for Pacer {
    fn default() -> Self {
        Self {
            next: Instant::ZERO,
            waiting: false,
            last_burst: Instant::ZERO,
        }
    }
}

impl Pacer {
    pub(super) fn deadline(&self) -> Instant {
        if self.waiting {
            self.next
        } else {
            Instant::NEVER
        }
    }

    /// When the next burst may leave.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    pub(super) fn released(&mut self) {
        self.waiting = false;
    }
}

impl Sender {
    /// Whether the application has written more than was sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.write_end
    }

    /// Whether the other side's window has room for a byte.
    pub(super) fn send_window_open(&self) -> bool {
        self.snd_nxt < self.snd_una + self.snd_wnd
    }

    /// Sends new data as far as windows, pacing and burst sizes allow (the kernel's
    /// `tcp_write_xmit`).
    pub(crate) fn transmit(&mut self, now: Instant) {
        self.set_now(now);
        let mut limited = false;
        let mut sent_any = false;
        if self.has_unsent() && self.board.packets_out() == 0 {
            self.restart_after_idle(now);
        }
        while self.has_unsent() {
            if self.is_held_by_pacing(now) {
                break;
            }
            let in_flight = self.board.in_flight();
            let cwnd = self.congestion.window.cwnd;
            if in_flight >= cwnd {
                limited = true;
                break;
            }
            if !self.send_window_open() {
                break;
            }
            let burst = self.burst_segments();
            let quota = (cwnd - in_flight).min((cwnd / 2).max(1));
            let segments = burst.min(quota);
            if self.should_defer(now, burst, quota) {
                limited |= self.deferred_for_cwnd(quota);
                break;
            }
            if !self.send_burst(now, segments) {
                break;
            }
            sent_any = true;
        }
        if sent_any {
            limited |= self.board.in_flight() >= self.congestion.window.cwnd;
            self.validate_window(now, limited);
            if !self.waits_for_reordering() {
                self.schedule_loss_probe(now);
            }
        }
        self.note_app_limit();
        self.ensure_zero_window_probe(now);
    }

    /// Sends up to `segments` full segments back to back; answers whether anything was sent.
    fn send_burst(&mut self, now: Instant, segments: u32) -> bool {
        let mss = u64::from(self.config.mss);
        let window_end = self.snd_una + self.snd_wnd;
        let mut sent = 0;
        for _ in 0..segments {
            let end = (self.snd_nxt + mss).min(self.write_end);
            if end <= self.snd_nxt {
                break;
            }
            // Silly-window avoidance: a segment is not split for a window that has little room
            // while something is in flight (RFC 9293 §3.8.6.2.1).
            let fits = end <= window_end;
            let end = if fits { end } else { end.min(window_end) };
            if end <= self.snd_nxt || (!fits && self.board.packets_out() > 0) {
                break;
            }
            sent += end - self.snd_nxt;
            self.send_new(now, end);
        }
        if sent > 0 {
            self.pace(now, sent);
        }
        sent > 0
    }

    /// One new segment, whatever the congestion window says (tail loss probe).
    pub(super) fn send_one_beyond_window(&mut self, now: Instant) {
        let end = (self.snd_nxt + u64::from(self.config.mss)).min(self.write_end);
        if end <= self.snd_una + self.snd_wnd {
            self.send_new(now, end);
        }
    }

    fn send_new(&mut self, now: Instant, end: u64) {
        let idle = self.board.packets_out() == 0;
        let fin = self.fin_queued && end == self.write_end;
        let stamp = self.rate.stamp(self.snd_nxt, end, fin, idle, now);
        let seq = self.snd_nxt;
        self.board.push(stamp);
        self.snd_nxt = end;
        let len = (end - seq) as u32 - u32::from(fin);
        self.out.push_back(Outgoing {
            seq,
            len,
            fin,
            push: end == self.write_end,
        });
        self.counts.segments += 1;
        if matches!(
            self.congestion.window.state,
            CaState::Recovery | CaState::Cwr
        ) {
            self.prr.out += 1;
        }
        self.last_sent = now;
        self.ensure_retransmission(now);
    }

    /// Retransmits what is deemed lost as far as the window allows (the kernel's
    /// `tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, now: Instant) {
        while let Some(ordinal) = self.board.next_to_retransmit() {
            if self.is_held_by_pacing(now) {
                break;
            }
            if self.board.in_flight() >= self.congestion.window.cwnd {
                break;
            }
            self.retransmit(now, ordinal);
            if matches!(
                self.congestion.window.state,
                CaState::Recovery | CaState::Cwr
            ) {
                self.prr.out += 1;
            }
            if ordinal == self.board.ordinals().start && !self.waits_for_reordering() {
                self.rearm_retransmission(now, Duration::ZERO);
            }
        }
    }

    /// Sends one segment again.
    pub(super) fn retransmit(&mut self, now: Instant, ordinal: u64) {
        let sent = *self.board.get(ordinal);
        let stamp = self.rate.stamp(sent.seq, sent.end, sent.fin, false, now);
        self.board.mark_retransmitted(ordinal, stamp);
        self.undo.retransmitted();
        self.retransmission_stamp
            .get_or_insert(now.as_nanos() / 1_000_000);
        let len = (sent.end - sent.seq) as u32 - u32::from(sent.fin);
        let push = sent.end == self.write_end;
        self.out.push_back(Outgoing {
            seq: sent.seq,
            len,
            fin: sent.fin,
            push,
        });
        self.counts.segments += 1;
        self.counts.retransmissions += 1;
        self.last_sent = now;
        self.pace(now, u64::from(len));
    }

    /// An empty segment just below the window (RFC 9293 §3.8.6.1).
    pub(super) fn push_probe_of_window(&mut self) {
        self.out.push_back(Outgoing {
            seq: self.snd_una - 1,
            len: 0,
            fin: false,
            push: false,
        });
        self.counts.segments += 1;
    }

    fn is_held_by_pacing(&mut self, now: Instant) -> bool {
        let paced = self.config.pacing || self.congestion.window.paced;
        if paced && self.pacer.next > now {
            self.pacer.waiting = true;
            return true;
        }
        false
    }

    /// Notes a burst of `bytes` of payload: the next may leave when the pacing rate has sent it. What
    /// the sender fell behind is made up for, by half a burst at most.
    fn pace(&mut self, now: Instant, bytes: u64) {
        self.pacer.last_burst = now;
        let rate = self
            .congestion
            .window
            .pacing_rate
            .min(self.config.max_pacing_rate);
        if rate.bits_per_second() == 0 || !(self.config.pacing || self.congestion.window.paced) {
            self.pacer.next = now;
            return;
        }
        let length = rate.time_to_send(Bytes::new(bytes));
        let credit = now.saturating_since(self.pacer.next).min(length / 2);
        self.pacer.next = now.max(self.pacer.next) + length.saturating_sub(credit);
    }

    /// Segments in a burst: what the pacing rate sends in a millisecond, more if the RTT is short
    /// (the kernel's `tcp_tso_autosize`).
    fn burst_segments(&self) -> u32 {
        if let Some(segments) = self.config.burst_segments {
            return segments.max(1);
        }
        let mut bytes = (self.congestion.window.pacing_rate.bits_per_second() / 8) >> PACING_SHIFT;
        let shift = if self.rtt.minimum() == Duration::MAX {
            u64::MAX
        } else {
            self.rtt.minimum().as_micros() >> TSO_RTT_LOG
        };
        if shift < 32 {
            bytes += GSO_MAX_SIZE >> shift;
        }
        let segments = (bytes.min(GSO_MAX_SIZE) / u64::from(self.config.mss)) as u32;
        segments.max(self.congestion.min_tso_segs()).max(1)
    }

    /// Whether to wait for the next ACK so that the burst becomes larger (the kernel's
    /// `tcp_tso_should_defer`).
    fn should_defer(&self, now: Instant, burst: u32, quota: u32) -> bool {
        let w = &self.congestion.window;
        if burst <= 1 || matches!(w.state, CaState::Recovery | CaState::Loss) {
            return false;
        }
        if now.saturating_since(self.pacer.last_burst) > Duration::from_millis(1) {
            return false;
        }
        let mss = u64::from(self.config.mss);
        let available = self.write_end - self.snd_nxt;
        let send_window = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        let limit = send_window.min(u64::from(quota) * mss);
        let whole = u64::from(burst) * mss;
        if limit >= whole || limit >= available {
            return false;
        }
        let share = self.snd_wnd.min(u64::from(w.cwnd) * mss) / TSO_WIN_DIVISOR;
        if limit >= share {
            return false;
        }
        // The next ACK must be near: the oldest segment out was sent at least half an RTT ago.
        match self.board.head() {
            Some(head) => now.saturating_since(head.sent_at) >= self.rtt.srtt() / 2,
            None => false,
        }
    }

    fn deferred_for_cwnd(&self, quota: u32) -> bool {
        let send_window = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        u64::from(quota) * u64::from(self.config.mss) < send_window
    }

    /// Marks the flow as limited by the application if nothing else keeps it from sending
    /// (draft-cheng-iccrg-delivery-rate-estimation-02 §4.1.2.4).
    fn note_app_limit(&mut self) {
        let unsent = self.write_end - self.snd_nxt;
        if unsent < u64::from(self.config.mss)
            && self.board.in_flight() < self.congestion.window.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            self.rate.mark_app_limited(self.board.in_flight());
        }
    }
}
