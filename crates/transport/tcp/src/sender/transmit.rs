//! Transmission within the windows, pacing and burst sizes; retransmissions go first.

use units::Instant;

use super::pacing::{Burst, BurstLimit};
use super::scoreboard::Transmission;
use super::timers::TimerKind;
use super::{Outgoing, Sender};
use cca::{CaState, Event, SendLimit};

/// Reason of a transmission, which decides on short segments and the number of bursts (the kernel's `push_one` and
/// `nonagle`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// New data or an ACK: short segments wait by Nagle's algorithm.
    Pending,
    /// Short segments leave, too, because no more data can join them for now.
    All,
    /// As much as the device takes, while the application writes.
    Full,
    /// One burst, while the application writes.
    One,
}

impl Push {
    /// Returns whether short segments may wait (Nagle's algorithm).
    pub(super) fn may_hold(self) -> bool {
        matches!(self, Self::Pending)
    }

    /// Returns whether the application is writing.
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

    /// Sends new data until a limit stops it, and notes the limit.
    fn send_new_data(&mut self, now: Instant, push: Push) {
        let (mut is_cwnd_limited, mut is_window_closed) = (false, false);
        let prior_snd_nxt = self.seq.snd_nxt;
        self.restart_after_idle(now);
        let max_segments = self.burst_segments();
        while self.seq.has_unsent() && !self.is_held_by_pacing(now) {
            let in_flight = self.board.in_flight();
            let cwnd_room = self.congestion.window.cwnd.saturating_sub(in_flight);
            if cwnd_room == 0 {
                break;
            }
            let burst = self.next_burst(cwnd_room, max_segments);
            if push != Push::One
                && let Some(limit) = self.defer_limit(now, burst, cwnd_room, max_segments)
            {
                is_cwnd_limited |= limit == BurstLimit::CongestionWindow;
                is_window_closed = limit == BurstLimit::OfferedWindow;
                break;
            }
            let Some(end) = self.burst_end(burst, push) else {
                is_window_closed = !self.first_fits(burst);
                break;
            };
            let within_write = push.is_within_write();
            if self.small_queue_check(now, end - self.seq.snd_nxt, within_write) {
                self.buffer.tso_fragment(end);
                if self.device_holds() {
                    self.small_queue.throttle();
                }
                break;
            }
            self.send_burst(now, burst, end);
            if push == Push::One {
                break;
            }
        }
        if is_window_closed {
            self.chronograph.start(now, SendLimit::ReceiveWindow);
        } else {
            self.stop_limit(now, SendLimit::ReceiveWindow);
        }
        is_cwnd_limited |= self.board.in_flight() >= self.congestion.window.cwnd;
        let has_sent = self.seq.snd_nxt > prior_snd_nxt;
        if has_sent || is_cwnd_limited {
            self.validate_window(now, is_cwnd_limited);
        }
        if has_sent {
            self.schedule_loss_probe(now, false);
        }
    }

    /// Returns the end of the data of a burst that may leave, if any may (the kernel's `tcp_snd_wnd_test` and
    /// `tcp_mss_split_point`). The last segment may be short, unless Nagle's algorithm delays it.
    fn burst_end(&self, burst: Burst, push: Push) -> Option<u64> {
        let mss = u64::from(self.config.mss);
        let window = self.seq.window_room();
        let len = burst.end - self.seq.snd_nxt;
        let fin = u64::from(self.seq.fin_queued && burst.is_last);
        let delays_short = self.nagle_check(push);
        if !self.first_fits(burst) {
            // Silly-window avoidance (RFC 9293 §3.8.6.2.1): only a probe splits the first segment, unless no window
            // has ever had room for one.
            let can_split =
                window > 0 && self.seq.max_window < mss && self.board.packets_out() == 0;
            return can_split.then_some(self.seq.snd_nxt + window);
        }
        if len <= mss {
            let has_to_wait = len < mss && burst.is_last && fin == 0 && delays_short;
            return (!has_to_wait).then_some(burst.end);
        }
        let max = u64::from(burst.segments) * mss;
        let sendable = if max <= window && !burst.is_last {
            max.min(len)
        } else {
            let needed = len.min(window);
            if max <= needed {
                max
            } else if delays_short {
                needed - needed % mss
            } else {
                needed
            }
        };
        Some(self.seq.snd_nxt + sendable)
    }

    /// Returns whether the peer's window has room for the first segment of a burst (the kernel's
    /// `tcp_snd_wnd_test`).
    fn first_fits(&self, burst: Burst) -> bool {
        let mss = u64::from(self.config.mss);
        let fin = u64::from(self.seq.fin_queued && burst.is_last);
        let len = burst.end - self.seq.snd_nxt;
        let first = if len > mss { mss } else { len + fin };
        self.seq.snd_nxt + first <= self.seq.wnd_end()
    }

    /// Returns whether a short segment is unacknowledged (the kernel's `tcp_minshall_check`).
    pub(super) fn minshall_check(&self) -> bool {
        self.board.packets_out() > 0 && self.seq.has_short_outstanding()
    }

    /// Sends the data up to `end` back to back, and the FIN if it follows.
    fn send_burst(&mut self, now: Instant, burst: Burst, end: u64) {
        let mss = u64::from(self.config.mss);
        let start = self.seq.snd_nxt;
        let fin = self.seq.fin_queued && end + 1 == self.seq.write_seq;
        let burst_start = self.output.queue.len();
        loop {
            let to = (self.seq.snd_nxt + mss).min(end);
            self.send_new(now, to + u64::from(fin && to == end));
            if to == end {
                break;
            }
        }
        // A burst of several segments has the push flag, so that aggregation at the receiver ends with it (the kernel's
        // `__tcp_transmit_skb`).
        self.output.mark_burst(burst_start);
        let push = burst.push && end == burst.end;
        self.output.set_push(end - start > mss || push);
        self.end_burst(now, end - start, push);
    }

    /// Notes the end of a burst of `bytes`, and its push flag.
    fn end_burst(&mut self, now: Instant, bytes: u64, push: bool) {
        if !bytes.is_multiple_of(u64::from(self.config.mss)) {
            self.seq.minshall_update();
        }
        self.board.end_burst(push);
        self.tsq_enqueue(now, self.departure(now), bytes);
        self.pace(now, bytes);
        self.check_space(now);
    }

    /// Sends the part of the next segment that the peer's window has room for.
    pub(super) fn send_window_part(&mut self, now: Instant) {
        let end = self.seq.wnd_end();
        let len = end - self.seq.snd_nxt;
        self.send_new(now, end);
        self.end_burst(now, len, end == self.seq.write_seq);
    }

    /// Sends the short segment that Nagle's algorithm or `TCP_CORK` delays.
    pub(super) fn send_delayed_short(&mut self, now: Instant) {
        self.transmit_as(now, Push::All);
        self.output.set_push(true);
    }

    /// Sends one new segment beyond the congestion window (tail loss probe). Returns false if pacing or the peer's window
    /// does not allow it.
    pub(super) fn send_one_beyond_cwnd(&mut self, now: Instant) -> bool {
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
        let is_idle = self.board.packets_out() == 0;
        self.note_tx_start();
        let fin = self.seq.fin_queued && end == self.seq.write_seq;
        let seq = self.seq.snd_nxt;
        let tx = self.stamp(now, is_idle);
        self.board.push(seq, end, fin, tx);
        self.seq.snd_nxt = end;
        let len = (end - seq) as u32 - u32::from(fin);
        let outgoing = Outgoing {
            seq,
            len,
            fin,
            push: end == self.seq.write_seq,
            is_retransmission: false,
            more_in_burst: false,
            departure: tx.sent_at,
        };
        self.output.push(now, outgoing);
        self.counts.segments += u64::from(len > 0);
        if self.in_reduction() {
            self.prr.out += 1;
        }
        self.buffer.remove_sent(end);
        if is_idle || self.timer.kind == TimerKind::Probe {
            self.rearm_retransmission(now);
        }
    }

    /// Notifies the CCA of a transmission while nothing is in flight.
    fn note_tx_start(&mut self) {
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
        let max_segments = self.burst_segments();
        let start = self.board.ordinals().start;
        let mut has_sent_head = false;
        while let Some(ordinal) = self.board.next_to_retransmit() {
            if self.is_held_by_pacing(now) {
                break;
            }
            let in_flight = self.board.in_flight();
            let cwnd_room = self.congestion.window.cwnd.saturating_sub(in_flight);
            if cwnd_room == 0 {
                break;
            }
            let segments = self
                .board
                .lost_together(ordinal, cwnd_room.min(max_segments));
            let bytes = u64::from(segments) * u64::from(self.config.mss);
            if self.rexmit_queue_check(now, bytes) || self.still_in_host_queue(now, ordinal) {
                self.small_queue.throttle();
                break;
            }
            let segments = self.fit_retransmission(ordinal, segments);
            if segments == 0 {
                // As in Linux, the timer stays as it is (`tcp_xmit_retransmit_queue`).
                return;
            }
            self.retransmit(now, ordinal, segments);
            if self.in_reduction() {
                self.prr.out += u64::from(segments);
            }
            has_sent_head |= ordinal == start && !self.waits_for_reordering();
        }
        if has_sent_head {
            self.restart_retransmission(now);
        }
    }

    /// Returns how many of `segments` from ordinal `first` on fit into the peer's window; a segment that fits in part is
    /// split. Beyond the window only the head is retransmitted, as a window probe (the kernel's `__tcp_retransmit_skb`).
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

    /// Retransmits `segments` from ordinal `first` on.
    pub(super) fn retransmit(&mut self, now: Instant, first: u64, segments: u32) {
        let mut bytes = 0;
        let mut burst_start = self.output.queue.len();
        let last = first + u64::from(segments) - 1;
        for ordinal in first..=last {
            let tx = self.retransmit_one(now, ordinal);
            bytes += u64::from(self.board.get(ordinal).payload());
            self.board.mark_retransmitted(ordinal, tx);
            self.undo.count_retransmission();
            self.recovery.stamp_retransmission(now);
            // The contents of an skb leave as one burst.
            if ordinal == last || self.board.get(ordinal).ends_burst {
                self.output.mark_burst(burst_start);
                if self.output.queue.len() - burst_start > 1 {
                    // Like every burst (the kernel's `__tcp_transmit_skb`).
                    self.output.set_push(true);
                }
                burst_start = self.output.queue.len();
            }
        }
        if self.device_holds() {
            self.tsq_enqueue(now, self.departure(now), bytes);
        }
        self.pace(now, bytes);
    }

    /// Retransmits a segment as a tail loss probe, as far as it fits into the peer's window. Returns false if none of it
    /// fits.
    pub(super) fn retransmit_as_tlp(&mut self, now: Instant, ordinal: u64) -> bool {
        if self.fit_retransmission(ordinal, 1) == 0 {
            return false;
        }
        let tx = self.retransmit_one(now, ordinal);
        self.board.mark_tlp(ordinal, tx);
        self.pace(now, self.board.get(ordinal).payload().into());
        true
    }

    /// Puts a segment into the output queue again; returns its transmission.
    fn retransmit_one(&mut self, now: Instant, ordinal: u64) -> Transmission {
        self.note_tx_start();
        let sent = *self.board.get(ordinal);
        let len = sent.payload();
        let tx = self.stamp(now, false);
        let outgoing = Outgoing {
            seq: sent.seq,
            len,
            fin: sent.fin,
            push: sent.push,
            is_retransmission: true,
            more_in_burst: false,
            departure: tx.sent_at,
        };
        self.output.push(now, outgoing);
        self.counts.segments += u64::from(len > 0);
        self.counts.retransmissions += 1;
        tx
    }

    /// Returns a transmission that begins now; `is_idle` if nothing else is outstanding.
    fn stamp(&mut self, now: Instant, is_idle: bool) -> Transmission {
        let tx_in_flight = self.board.in_flight() + 1;
        let lost = self.congestion.window.lost;
        let sent_at = self.departure(now);
        self.rate.stamp(is_idle, sent_at, tx_in_flight, lost)
    }

    /// Sends an empty segment just below the window (RFC 9293 §3.8.6.1).
    pub(super) fn push_window_probe(&mut self, now: Instant) {
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

    /// Marks the connection as application-limited before a write, if nothing else limited it since the last data
    /// (draft-cheng-iccrg-delivery-rate-estimation-02 §4.1.2.4).
    pub(super) fn check_app_limited(&mut self) {
        if self.seq.unsent() < u64::from(self.config.mss)
            && self.board.in_flight() < self.congestion.window.cwnd
            && self.board.lost_out <= self.board.retrans_out
        {
            self.rate.mark_app_limited(self.board.in_flight());
        }
    }
}
