//! Transmission within the windows, pacing and burst sizes; retransmissions go first.

use units::Instant;

use super::pacing::{Burst, Deferred};
use super::scoreboard::{Load, Span};
use super::{Outgoing, Sender};
use cca::{CaState, Event};

impl Sender {
    /// Returns whether the application has written more than was sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.write_end
    }

    /// Returns whether the other end's window has room for a byte.
    pub(super) fn send_window_open(&self) -> bool {
        self.snd_nxt < self.snd_una + self.snd_wnd
    }

    /// Returns whether the next segment fits into the other end's window (`tcp_snd_wnd_test`).
    pub(super) fn next_fits(&self) -> bool {
        let end = (self.snd_nxt + u64::from(self.config.mss)).min(self.write_end);
        end <= self.snd_una + self.snd_wnd
    }

    fn in_reduction(&self) -> bool {
        matches!(
            self.congestion.window.state,
            CaState::Recovery | CaState::Cwr
        )
    }

    /// Sends new data as far as windows, pacing and burst sizes allow (the kernel's `tcp_write_xmit`).
    pub(crate) fn transmit(&mut self, now: Instant) {
        self.set_now(now);
        if self.has_unsent() {
            self.send_new_data(now);
        }
        self.ensure_zero_window_probe(now);
    }

    fn send_new_data(&mut self, now: Instant) {
        let mut limited = false;
        let sent_before = self.snd_nxt;
        self.restart_after_idle(now);
        let largest = self.burst_segments();
        while self.has_unsent() && !self.is_held_by_pacing(now) {
            let in_flight = self.board.in_flight();
            let room = self.congestion.window.cwnd.saturating_sub(in_flight);
            if room == 0 || !self.send_window_open() {
                break;
            }
            let burst = self.next_burst(room, largest);
            if let Some(why) = self.should_defer(now, burst, room, largest) {
                limited |= why == Deferred::ByCongestionWindow;
                break;
            }
            if !self.send_burst(now, burst) {
                break;
            }
        }
        limited |= self.board.in_flight() >= self.congestion.window.cwnd;
        let sent = self.snd_nxt > sent_before;
        if sent || limited {
            self.validate_window(now, limited);
        }
        if sent {
            self.schedule_loss_probe(now, false);
        }
    }

    /// Sends a burst back to back; returns whether anything was sent.
    fn send_burst(&mut self, now: Instant, burst: Burst) -> bool {
        let mss = u64::from(self.config.mss);
        let window_end = self.snd_una + self.snd_wnd;
        let mut sent = 0;
        for _ in 0..burst.segments {
            let end = (self.snd_nxt + mss).min(burst.end);
            if end <= self.snd_nxt {
                break;
            }
            // Silly-window avoidance (RFC 9293 §3.8.6.2.1): only a probe splits a segment for a window with little
            // room, unless no window has ever had room for a segment.
            let fits = end <= window_end;
            let end = if fits { end } else { end.min(window_end) };
            let splits = self.max_wnd < mss && self.board.packets_out() == 0;
            if end <= self.snd_nxt || !(fits || splits) {
                break;
            }
            sent += end - self.snd_nxt;
            self.send_new(now, end);
        }
        if sent > 0 {
            // A burst of several segments has the push flag, so that aggregation on the way ends with it (the
            // kernel's `__tcp_transmit_skb`).
            if let Some(last) = self.out.back_mut() {
                last.push |= sent > mss || self.snd_nxt == burst.end;
            }
            self.board.end_burst();
            self.pace(now, sent);
        }
        sent > 0
    }

    /// Sends the part of the next segment that the other end's window has room for.
    pub(super) fn send_part(&mut self, now: Instant) {
        let end = self.snd_una + self.snd_wnd;
        let len = end - self.snd_nxt;
        self.send_new(now, end);
        self.board.end_burst();
        self.pace(now, len);
    }

    /// Sends one new segment regardless of the congestion window (tail loss probe). Returns whether pacing
    /// and the other end's window let it leave.
    pub(super) fn send_one_beyond_window(&mut self, now: Instant) -> bool {
        let end = (self.snd_nxt + u64::from(self.config.mss)).min(self.write_end);
        if self.is_held_by_pacing(now) || end > self.snd_una + self.snd_wnd {
            return false;
        }
        let len = end - self.snd_nxt;
        self.send_new(now, end);
        self.board.end_burst();
        self.pace(now, len);
        true
    }

    /// Sends the data up to `end` as one segment.
    fn send_new(&mut self, now: Instant, end: u64) {
        let idle = self.board.packets_out() == 0;
        self.note_start_of_transmission();
        let fin = self.fin_queued && end == self.write_end;
        let seq = self.snd_nxt;
        let load = self.load_with_one_more();
        let stamp = self.rate.stamp(Span { seq, end, fin }, idle, now, load);
        self.board.push(stamp);
        self.snd_nxt = end;
        let len = (end - seq) as u32 - u32::from(fin);
        self.out.push_back(Outgoing {
            seq,
            len,
            fin,
            push: end == self.write_end,
            again: false,
        });
        self.counts.segments += 1;
        if self.in_reduction() {
            self.prr.out += 1;
        }
        if end == self.write_end {
            self.send_queue.drained(end);
        }
        self.last_sent = now;
        self.rearm_after_sending(now, idle);
    }

    /// Notifies the congestion control of a transmission if nothing else is in the network.
    fn note_start_of_transmission(&mut self) {
        if self.board.in_flight() == 0 {
            self.refresh_window();
            self.congestion.cwnd_event(Event::TxStart);
        }
    }

    /// Retransmits lost segments as far as the window allows (the kernel's `tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, now: Instant) {
        let largest = self.burst_segments();
        let start = self.board.ordinals().start;
        let mut head = false;
        while let Some(ordinal) = self.board.next_to_retransmit() {
            if self.is_held_by_pacing(now) {
                break;
            }
            let in_flight = self.board.in_flight();
            let room = self.congestion.window.cwnd.saturating_sub(in_flight);
            if room == 0 {
                break;
            }
            let segments = self.board.lost_together(ordinal, room.min(largest));
            self.retransmit(now, ordinal, segments);
            if self.in_reduction() {
                self.prr.out += u64::from(segments);
            }
            head |= ordinal == start && !self.waits_for_reordering();
        }
        if head {
            self.restart_retransmission(now);
        }
    }

    /// Retransmits consecutive segments.
    pub(super) fn retransmit(&mut self, now: Instant, first: u64, segments: u32) {
        let mut bytes = 0;
        for ordinal in first..first + u64::from(segments) {
            let stamp = self.repeat(now, ordinal);
            bytes += stamp.end - stamp.seq - u64::from(stamp.fin);
            self.board.mark_retransmitted(ordinal, stamp);
            self.undo.retransmitted();
            self.retransmission_stamp
                .get_or_insert(now.as_nanos() / 1_000_000);
        }
        self.pace(now, bytes);
    }

    /// Repeats a segment as a tail loss probe.
    pub(super) fn repeat_as_probe(&mut self, now: Instant, ordinal: u64) {
        let stamp = self.repeat(now, ordinal);
        self.board.mark_repeated(ordinal, stamp);
        self.pace(now, stamp.end - stamp.seq - u64::from(stamp.fin));
    }

    fn repeat(&mut self, now: Instant, ordinal: u64) -> super::scoreboard::NewlySent {
        self.note_start_of_transmission();
        let sent = *self.board.get(ordinal);
        self.out.push_back(Outgoing {
            seq: sent.seq,
            len: (sent.end - sent.seq) as u32 - u32::from(sent.fin),
            fin: sent.fin,
            push: sent.end == self.write_end,
            again: true,
        });
        self.counts.segments += 1;
        self.counts.retransmissions += 1;
        self.last_sent = now;
        let what = Span {
            seq: sent.seq,
            end: sent.end,
            fin: sent.fin,
        };
        let load = self.load_with_one_more();
        self.rate.stamp(what, false, now, load)
    }

    /// Returns the load of the path with one more segment.
    fn load_with_one_more(&self) -> Load {
        Load {
            in_flight: self.board.in_flight() + 1,
            lost: self.congestion.window.lost,
        }
    }

    /// Sends an empty segment just below the window (RFC 9293 §3.8.6.1).
    pub(super) fn push_probe_of_window(&mut self) {
        self.out.push_back(Outgoing {
            seq: self.snd_una - 1,
            len: 0,
            fin: false,
            push: false,
            again: true,
        });
        self.counts.segments += 1;
    }

    /// Marks the connection as limited by the application before a write that comes late, if nothing else
    /// keeps the sender from sending (draft-cheng-iccrg-delivery-rate-estimation-02 §4.1.2.4).
    pub(super) fn note_app_limit(&mut self) {
        let unsent = self.write_end - self.snd_nxt;
        if unsent < u64::from(self.config.mss)
            && self.board.in_flight() < self.congestion.window.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            self.rate.mark_app_limited(self.board.in_flight());
        }
    }
}
