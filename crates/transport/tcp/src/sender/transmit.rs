//! Transmission within the windows, pacing and burst sizes; retransmissions go first.

use units::Instant;

use super::pacing::{Burst, BurstLimit};
use super::scoreboard::Transmission;
use super::timers::TimerKind;
use super::{Outgoing, Sender};
use cca::{CaState, Event, SendLimit};

/// Reason of a transmission, which decides what may leave (the kernel's `push_one` and `nonagle`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Whatever may leave, by Nagle's algorithm.
    Pending,
    /// Also short segments: more data cannot join them for now.
    All,
    /// Whatever the device takes while the application writes.
    Full,
    /// One burst while the application writes.
    One,
}

impl Push {
    /// Returns whether short segments may wait (Nagle's algorithm).
    pub(super) fn may_hold(self) -> bool {
        matches!(self, Self::Pending)
    }

    /// Returns whether the application goes on to write.
    fn is_within_write(self) -> bool {
        matches!(self, Self::Full | Self::One)
    }
}

impl Sender {
    /// Returns whether the next segment fits into the peer's window (`tcp_snd_wnd_test`).
    pub(super) fn next_fits(&self) -> bool {
        self.seq.next_end(self.config.mss) <= self.seq.wnd_end()
    }

    fn in_reduction(&self) -> bool {
        matches!(
            self.congestion.window.state,
            CaState::Recovery | CaState::Cwr
        )
    }

    /// Sends new data as far as windows, pacing and burst sizes allow (the kernel's `tcp_write_xmit`).
    pub(crate) fn transmit(&mut self, now: Instant) {
        self.transmit_as(now, Push::Pending);
    }

    /// Sends new data like [`Sender::transmit`], for the reason `push`.
    pub(super) fn transmit_as(&mut self, now: Instant, push: Push) {
        self.set_now(now);
        if self.seq.has_unsent() && !self.signals.is_suspended() {
            self.send_new_data(now, push);
        }
        self.note_limit(now);
        self.ensure_zero_window_probe(now);
    }

    fn send_new_data(&mut self, now: Instant, push: Push) {
        let (mut limited, mut closed) = (false, false);
        let sent_before = self.seq.snd_nxt;
        self.restart_after_idle(now);
        let largest = self.burst_segments();
        while self.seq.has_unsent() && !self.is_held_by_pacing(now) {
            let in_flight = self.board.in_flight();
            let room = self.congestion.window.cwnd.saturating_sub(in_flight);
            if room == 0 {
                break;
            }
            let burst = self.next_burst(room, largest);
            if push != Push::One
                && let Some(why) = self.should_defer(now, burst, room, largest)
            {
                limited |= why == BurstLimit::ByCongestionWindow;
                closed = why == BurstLimit::ByOfferedWindow;
                break;
            }
            let Some(end) = self.end_of_burst(burst, push) else {
                closed = !self.first_fits(burst);
                break;
            };
            let within_write = push.is_within_write();
            if self.small_queue_check(now, end - self.seq.snd_nxt, within_write) {
                self.tso_fragment(end);
                if self.device_holds() {
                    self.device.throttle();
                }
                break;
            }
            self.send_burst(now, burst, end);
            if push == Push::One {
                break;
            }
        }
        if closed {
            self.chronograph.start(now, SendLimit::ReceiveWindow);
        } else {
            self.stop_limit(now, SendLimit::ReceiveWindow);
        }
        limited |= self.board.in_flight() >= self.congestion.window.cwnd;
        let sent = self.seq.snd_nxt > sent_before;
        if sent || limited {
            self.validate_window(now, limited);
        }
        if sent {
            self.schedule_loss_probe(now, false);
        }
    }

    /// Returns the end of the data that leaves in a burst, if any may leave (the kernel's `tcp_snd_wnd_test` and
    /// `tcp_mss_split_point`). The last segment may be short for want of data or window, unless another short one
    /// is outstanding (Nagle's algorithm with Minshall's modification).
    fn end_of_burst(&self, burst: Burst, push: Push) -> Option<u64> {
        let mss = u64::from(self.config.mss);
        let window = self.seq.window_room();
        let len = burst.end - self.seq.snd_nxt;
        let fin = u64::from(self.seq.fin_queued && burst.last);
        let short = self.nagle_check(push);
        if !self.first_fits(burst) {
            // Silly-window avoidance (RFC 9293 §3.8.6.2.1): only a probe splits the first segment, unless no window
            // has ever had room for one.
            let splits = window > 0 && self.seq.max_window < mss && self.board.packets_out() == 0;
            return splits.then_some(self.seq.snd_nxt + window);
        }
        if len <= mss {
            let waits = len < mss && burst.last && fin == 0 && short;
            return (!waits).then_some(burst.end);
        }
        let max = u64::from(burst.segments) * mss;
        let takes = if max <= window && !burst.last {
            max.min(len)
        } else {
            let needed = len.min(window);
            let partial = needed % mss;
            if max <= needed {
                max
            } else if short {
                needed - partial
            } else {
                needed
            }
        };
        Some(self.seq.snd_nxt + takes)
    }

    /// Returns whether the peer's window has room for the first segment of a burst (the kernel's
    /// `tcp_snd_wnd_test`).
    fn first_fits(&self, burst: Burst) -> bool {
        let mss = u64::from(self.config.mss);
        let fin = u64::from(self.seq.fin_queued && burst.last);
        let len = burst.end - self.seq.snd_nxt;
        let first = if len > mss { mss } else { len + fin };
        self.seq.snd_nxt + first <= self.seq.wnd_end()
    }

    /// Returns whether a segment that was not full is not acknowledged (the kernel's `tcp_minshall_check`).
    pub(super) fn minshall_check(&self) -> bool {
        self.board.packets_out() > 0 && self.seq.has_short_outstanding()
    }

    /// Sends the data up to `end` back to back, and the FIN if it follows.
    fn send_burst(&mut self, now: Instant, burst: Burst, end: u64) {
        let mss = u64::from(self.config.mss);
        let from = self.seq.snd_nxt;
        let fin = self.seq.fin_queued && end + 1 == self.seq.write_seq;
        let before = self.output.len();
        loop {
            let to = (self.seq.snd_nxt + mss).min(end);
            self.send_new(now, to + u64::from(fin && to == end));
            if to == end {
                break;
            }
        }
        // A burst of several segments has the push flag, so that aggregation on the way ends with it (the kernel's
        // `__tcp_transmit_skb`).
        self.output.join_burst(before);
        let marked = burst.push && end == burst.end;
        self.output.set_push(end - from > mss || marked);
        self.end_burst(now, end - from, marked);
    }

    /// Notes the end of a burst of `bytes`, and whether the application has marked it to be pushed.
    fn end_burst(&mut self, now: Instant, bytes: u64, marked: bool) {
        if !bytes.is_multiple_of(u64::from(self.config.mss)) {
            self.seq.minshall_update();
        }
        self.board.end_burst(marked);
        self.tsq_enqueue(now, self.departure(now), bytes);
        self.pace(now, bytes);
        self.check_space(now);
    }

    /// Sends the part of the next segment that the peer's window has room for.
    pub(super) fn send_part(&mut self, now: Instant) {
        let end = self.seq.wnd_end();
        let len = end - self.seq.snd_nxt;
        self.send_new(now, end);
        self.end_burst(now, len, end == self.seq.write_seq);
    }

    /// Sends the short segment that Nagle's algorithm or a cork delays.
    pub(super) fn send_held(&mut self, now: Instant) {
        self.transmit_as(now, Push::All);
        self.output.set_push(true);
    }

    /// Sends one new segment regardless of the congestion window (tail loss probe). Returns whether pacing
    /// and the peer's window let it leave.
    pub(super) fn send_one_beyond_window(&mut self, now: Instant) -> bool {
        let end = self.seq.next_end(self.config.mss);
        if self.is_held_by_pacing(now) || end > self.seq.wnd_end() {
            return false;
        }
        let len = end - self.seq.snd_nxt;
        self.send_new(now, end);
        self.end_burst(now, len, end == self.seq.write_seq);
        true
    }

    /// Sends the data up to `end` as one segment.
    fn send_new(&mut self, now: Instant, end: u64) {
        let idle = self.board.packets_out() == 0;
        self.note_start_of_transmission();
        let fin = self.seq.fin_queued && end == self.seq.write_seq;
        let seq = self.seq.snd_nxt;
        let tx = self.stamp(now, idle);
        self.board.push(seq, end, fin, tx);
        self.seq.snd_nxt = end;
        let len = (end - seq) as u32 - u32::from(fin);
        let piece = Outgoing {
            seq,
            len,
            fin,
            push: end == self.seq.write_seq,
            is_retransmission: false,
            more_in_burst: false,
            departure: tx.sent_at,
        };
        self.output.push(now, piece);
        self.counts.segments += u64::from(len > 0);
        if self.in_reduction() {
            self.prr.out += 1;
        }
        self.buffer.sent(end);
        if idle || self.timer.kind == TimerKind::Probe {
            self.rearm_retransmission(now);
        }
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
        if self.signals.is_suspended() {
            return;
        }
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
            let bytes = u64::from(segments) * u64::from(self.config.mss);
            if self.is_full_for_retransmission(now, bytes) || self.still_in_host_queue(now, ordinal)
            {
                self.device.throttle();
                break;
            }
            let segments = self.fit_retransmission(ordinal, segments);
            if segments == 0 {
                // Linux leaves the timer as it is, too (`tcp_xmit_retransmit_queue`).
                return;
            }
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

    /// Returns how many of `segments` from `first` on fit into the receive window; one that fits in part is split.
    /// Beyond the window only the head is retransmitted, as a window probe (the kernel's `__tcp_retransmit_skb`).
    pub(super) fn fit_retransmission(&mut self, first: u64, segments: u32) -> u32 {
        let mss = u64::from(self.config.mss);
        let sent = *self.board.get(first);
        let room = match self.seq.wnd_end().checked_sub(sent.seq) {
            Some(room) if room > 0 => room,
            _ if sent.seq == self.seq.snd_una => mss,
            _ => return 0,
        };
        if room >= mss {
            return segments.min((room / mss).min(u64::from(u32::MAX)) as u32);
        }
        if sent.end - u64::from(sent.fin) > sent.seq + room {
            self.board.split(first, sent.seq + room);
        }
        1
    }

    /// Retransmits consecutive segments.
    pub(super) fn retransmit(&mut self, now: Instant, first: u64, segments: u32) {
        let mut bytes = 0;
        let mut before = self.output.len();
        let last = first + u64::from(segments) - 1;
        for ordinal in first..=last {
            let tx = self.retransmit_one(now, ordinal);
            bytes += u64::from(self.board.get(ordinal).payload());
            self.board.mark_retransmitted(ordinal, tx);
            self.undo.retransmitted();
            self.recovery.stamp_retransmission(now);
            // The contents of a buffer leave together, as they did before.
            if ordinal == last || self.board.get(ordinal).ends_burst {
                self.output.join_burst(before);
                if self.output.len() - before > 1 {
                    // Like every burst (the kernel's `__tcp_transmit_skb`).
                    self.output.set_push(true);
                }
                before = self.output.len();
            }
        }
        if self.device_holds() {
            self.tsq_enqueue(now, self.departure(now), bytes);
        }
        self.pace(now, bytes);
    }

    /// Retransmits a segment as a tail loss probe, up to the receive window. Returns false if none of it fits.
    pub(super) fn retransmit_as_tlp(&mut self, now: Instant, ordinal: u64) -> bool {
        if self.fit_retransmission(ordinal, 1) == 0 {
            return false;
        }
        let tx = self.retransmit_one(now, ordinal);
        self.board.mark_repeated(ordinal, tx);
        self.pace(now, self.board.get(ordinal).payload().into());
        true
    }

    /// Puts a segment out again, and returns the stamps of its transmission.
    fn retransmit_one(&mut self, now: Instant, ordinal: u64) -> Transmission {
        self.note_start_of_transmission();
        let sent = *self.board.get(ordinal);
        let len = sent.payload();
        let tx = self.stamp(now, false);
        let piece = Outgoing {
            seq: sent.seq,
            len,
            fin: sent.fin,
            push: sent.push,
            is_retransmission: true,
            more_in_burst: false,
            departure: tx.sent_at,
        };
        self.output.push(now, piece);
        self.counts.segments += u64::from(len > 0);
        self.counts.retransmissions += 1;
        tx
    }

    /// Returns the stamps of a transmission that is handed over now; `idle` if nothing else is in flight.
    fn stamp(&mut self, now: Instant, idle: bool) -> Transmission {
        let tx_in_flight = self.board.in_flight() + 1;
        let lost = self.congestion.window.lost;
        let sent_at = self.departure(now);
        self.rate.stamp(idle, sent_at, tx_in_flight, lost)
    }

    /// Sends an empty segment just below the window (RFC 9293 §3.8.6.1).
    pub(super) fn push_probe_of_window(&mut self, now: Instant) {
        self.output.queue.push_back(Outgoing {
            seq: self.seq.snd_una - 1,
            len: 0,
            fin: false,
            push: false,
            is_retransmission: true,
            more_in_burst: false,
            departure: self.departure(now),
        });
    }

    /// Marks the connection as limited by the application before a write that comes late, if nothing else
    /// keeps the sender from sending (draft-cheng-iccrg-delivery-rate-estimation-02 §4.1.2.4).
    pub(super) fn note_app_limit(&mut self) {
        if self.seq.unsent() < u64::from(self.config.mss)
            && self.board.in_flight() < self.congestion.window.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            self.rate.mark_app_limited(self.board.in_flight());
        }
    }
}
